//! The Lambda of [`create_customer`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&create_customer::ROUTE, create_customer::handle)
}
