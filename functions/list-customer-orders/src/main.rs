//! The Lambda of [`list_customer_orders`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_customer_orders::ROUTE, list_customer_orders::handle)
}
