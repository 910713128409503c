//! Lambda's program for the functions that answer a route and write.

fn main() -> Result<(), lambda::Error> {
    writes::PROGRAM.run()
}
