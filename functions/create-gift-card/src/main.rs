//! The Lambda of [`create_gift_card`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&create_gift_card::ROUTE, create_gift_card::handle)
}
