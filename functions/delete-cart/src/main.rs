//! The Lambda of [`delete_cart`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&delete_cart::ROUTE, delete_cart::handle)
}
