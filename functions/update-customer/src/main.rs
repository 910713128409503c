//! The Lambda of [`update_customer`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&update_customer::ROUTE, update_customer::handle)
}
