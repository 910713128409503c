//! The Lambda of [`list_order_products`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_order_products::ROUTE, list_order_products::handle)
}
