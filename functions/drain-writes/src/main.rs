//! The Lambda of [`drain_writes`].

fn main() -> Result<(), lambda::Error> {
    lambda::consume(drain_writes::handle)
}
