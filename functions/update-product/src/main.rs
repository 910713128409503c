//! The Lambda of [`update_product`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&update_product::ROUTE, update_product::handle)
}
