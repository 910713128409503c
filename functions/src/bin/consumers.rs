//! Lambda's program for what consumes events.

fn main() -> Result<(), lambda::Error> {
    functions::Program::CONSUMERS.run()
}
