//! The Lambda of [`expire_orders`].

fn main() -> Result<(), lambda::Error> {
    lambda::consume(expire_orders::handle)
}
