//! The Lambda of [`count_orders`].

fn main() -> Result<(), lambda::Error> {
    lambda::consume(count_orders::handle)
}
