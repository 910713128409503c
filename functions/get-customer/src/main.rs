//! The Lambda of [`get_customer`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_customer::ROUTE, get_customer::handle)
}
