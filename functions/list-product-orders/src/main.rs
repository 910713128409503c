//! The Lambda of [`list_product_orders`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_product_orders::ROUTE, list_product_orders::handle)
}
