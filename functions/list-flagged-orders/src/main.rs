//! The Lambda of [`list_flagged_orders`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_flagged_orders::ROUTE, list_flagged_orders::handle)
}
