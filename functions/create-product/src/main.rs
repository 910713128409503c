//! The Lambda of [`create_product`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&create_product::ROUTE, create_product::handle)
}
