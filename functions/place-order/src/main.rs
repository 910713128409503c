//! The Lambda of [`place_order`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&place_order::ROUTE, place_order::handle)
}
