//! The Lambda of [`put_cart`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&put_cart::ROUTE, put_cart::handle)
}
