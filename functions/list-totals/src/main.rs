//! The Lambda of [`list_totals`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_totals::ROUTE, list_totals::handle)
}
