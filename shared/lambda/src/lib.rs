//! What every function has in common, whatever invokes it: its environment, the way to AWS, its log, its time.
//!
//! - [`Environment`]: a function's variables, and from them the configuration of every AWS client. What a function
//!   needs is made from it by [`FromEnvironment`].
//! - [`consume`] makes a Lambda of a handler that an event source invokes. One that HTTP invokes is made by the
//!   crate `edge`.
//!
//! **Invariant: no other crate reads the process's environment, and none makes an AWS client of another
//! configuration.**

#![warn(missing_docs)]

mod aws;
mod budget;
mod consume;
mod environment;
mod log;
mod metrics;
mod time;
mod variables;

pub use aws::Service;
pub use budget::Budget;
pub use consume::{consume, invoke};
pub use environment::{Environment, FromEnvironment};
pub use lambda_runtime::Error;
pub use log::chain;
pub use metrics::{Measure, metrics};
pub use time::{context, time_left};
pub use variables::Misconfigured;

/// Starts the log and runs a function's whole life on one thread: one event at a time needs no more, and more would
/// only wake each other.
///
/// # Errors
/// Those of the life itself, and that there is no runtime to be had.
pub fn run(life: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    log::start();
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(life)
}
