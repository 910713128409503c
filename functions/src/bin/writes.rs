//! Lambda's program for what answers a route and writes.

fn main() -> Result<(), lambda::Error> {
    functions::Program::WRITES.run()
}
