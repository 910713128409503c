//! The Lambda of [`create_discount`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&create_discount::ROUTE, create_discount::handle)
}
