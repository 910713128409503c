//! The Lambda of [`publish_order_events`].

fn main() -> Result<(), lambda::Error> {
    lambda::consume(publish_order_events::handle)
}
