//! The Lambda of [`record_view`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&record_view::ROUTE, record_view::handle)
}
