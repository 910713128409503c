//! The Lambda of [`get_customer_overview`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_customer_overview::ROUTE, get_customer_overview::handle)
}
