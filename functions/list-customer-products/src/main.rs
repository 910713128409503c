//! The Lambda of [`list_customer_products`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_customer_products::ROUTE, list_customer_products::handle)
}
