//! The Lambda of [`get_invoice`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_invoice::ROUTE, get_invoice::handle)
}
