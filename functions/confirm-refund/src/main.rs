//! The Lambda of [`confirm_refund`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&confirm_refund::ROUTE, confirm_refund::handle)
}
