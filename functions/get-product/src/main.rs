//! The Lambda of [`get_product`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_product::ROUTE, get_product::handle)
}
