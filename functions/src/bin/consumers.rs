//! Lambda's program for the functions that consume events.

fn main() -> Result<(), lambda::Error> {
    functions::Program::CONSUMERS.run()
}
