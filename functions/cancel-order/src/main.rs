//! The Lambda of [`cancel_order`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&cancel_order::ROUTE, cancel_order::handle)
}
