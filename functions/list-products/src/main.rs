//! The Lambda of [`list_products`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_products::ROUTE, list_products::handle)
}
