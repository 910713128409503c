//! The Lambda of [`find_customer`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&find_customer::ROUTE, find_customer::handle)
}
