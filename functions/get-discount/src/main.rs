//! The Lambda of [`get_discount`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_discount::ROUTE, get_discount::handle)
}
