//! The Lambda of [`get_order`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_order::ROUTE, get_order::handle)
}
