//! `cargo local`: Till on a laptop.

mod cli;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Arguments;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Failed conditions are normal here, and the engine warns about each of them. The functions log each request, as
    // the gateway does already.
    let default = if arguments.serve.quiet { "warn,dynoxide=error" } else { "info,dynoxide=error,http_api=warn" };
    local::log_to_stderr(default);
    match cli::run(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A cause often repeats what its error says.
            let mut causes: Vec<_> = error.chain().map(ToString::to_string).collect();
            causes.dedup_by(|cause, error| error.contains(cause.as_str()));
            eprintln!("error: {}", causes.join(": "));
            ExitCode::FAILURE
        }
    }
}
