//! The Lambda of [`get_order_invoice`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_order_invoice::ROUTE, get_order_invoice::handle)
}
