//! The parts that all functions share: environment, AWS clients, log, metrics and time limit.
//!
//! - [`Environment`]: a function's variables, and the configuration of every AWS client. [`FromEnvironment`] makes a
//!   function's dependencies from it.
//! - [`Failure`]: an error, with what the sender of the request can do.
//! - [`Outcome`]: whether a request that failed may have written something.
//! - [`consume`]: runs a handler that an event source invokes. The crate `http-api` runs a handler that HTTP invokes.
//! - [`Program`]: the functions that are built into one program for Lambda. [`Function`]: one function, for a process
//!   that starts several.
//!
//! **Invariant: no other crate reads the process's environment, and every AWS client is configured here.**

mod audit;
mod aws;
mod budget;
mod consume;
mod environment;
mod failure;
mod function;
mod grant;
mod https;
mod log;
mod metrics;
mod outcome;
mod program;
mod run;
mod time;
mod trace;
mod trail;
mod variables;

pub use audit::audit;
pub use aws::Service;
pub use budget::{Budget, Retries, longest_pause};
pub use consume::{ScheduledEvent, consume, start_consumer};
pub use environment::{Client, Environment, FromEnvironment};
pub use failure::{Failure, Remedy};
pub use function::{Function, Invoke, Start};
pub use grant::Grant;
pub use https::{Answered, Https, NoAnswer};
pub use lambda_runtime::{Context, Error, LambdaEvent};
pub use log::{Lines, chain, log_lines};
pub use metrics::{Measure, metrics, metrics_of_shop};
pub use outcome::{CountWrites, Outcome};
pub use program::Program;
pub use run::{run, start};
pub use time::time_left;
pub use trace::trace_id;
pub use trail::{note, note_request, request_id, trail, trail_of_part, trail_of_step};
pub use variables::{Misconfigured, handler};
