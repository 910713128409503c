//! The Lambda of [`adjust_stock`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&adjust_stock::ROUTE, adjust_stock::handle)
}
