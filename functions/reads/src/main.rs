//! Lambda's program for the functions that answer a route and only read.

fn main() -> Result<(), lambda::Error> {
    reads::PROGRAM.run()
}
