//! Lambda's program for the functions that consume events.

fn main() -> Result<(), lambda::Error> {
    consumers::PROGRAM.run()
}
