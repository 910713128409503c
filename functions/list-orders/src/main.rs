//! The Lambda of [`list_orders`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_orders::ROUTE, list_orders::handle)
}
