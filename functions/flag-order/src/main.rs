//! The Lambda of [`flag_order`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&flag_order::ROUTE, flag_order::handle)
}
