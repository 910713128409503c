//! The Lambda of [`get_cart`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&get_cart::ROUTE, get_cart::handle)
}
