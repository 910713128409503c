//! The Lambda of [`capture_payment`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&capture_payment::ROUTE, capture_payment::handle)
}
