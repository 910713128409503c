//! The Lambda of [`get_gift_card`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_gift_card::ROUTE, get_gift_card::handle)
}
