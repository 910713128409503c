//! The Lambda of [`get_product_stats`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_product_stats::ROUTE, get_product_stats::handle)
}
