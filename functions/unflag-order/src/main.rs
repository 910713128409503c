//! The Lambda of [`unflag_order`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&unflag_order::ROUTE, unflag_order::handle)
}
