//! The Lambda of [`reconcile_counts`].

fn main() -> Result<(), lambda::Error> {
    lambda::consume(reconcile_counts::handle)
}
