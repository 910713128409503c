//! The Lambda of [`change_order_status`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&change_order_status::ROUTE, change_order_status::handle)
}
