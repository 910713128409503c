//! Lambda's program for what answers a route and only reads.

fn main() -> Result<(), lambda::Error> {
    functions::Program::READS.run()
}
