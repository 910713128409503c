//! What every function has in common, whatever invokes it: its environment, the way to AWS, its log, its time.
//!
//! - [`Environment`]: a function's variables, and from them the configuration of every AWS client. What a function
//!   needs is made from it by [`FromEnvironment`].
//! - [`Outcome`]: whether a request that failed may have written something.
//! - [`consume`] makes a Lambda of a handler that an event source invokes. One that HTTP invokes is made by the
//!   crate `http-api`.
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
mod outcome;
mod run;
mod time;
mod variables;

pub use aws::Service;
pub use budget::{Budget, Retries, longest_pause};
pub use consume::{consume, invoke};
pub use environment::{Client, Environment, FromEnvironment};
pub use lambda_runtime::{Context, Error, LambdaEvent};
pub use log::chain;
pub use metrics::{Measure, metrics};
pub use outcome::{CountWrites, Outcome};
pub use run::{event, run};
pub use time::{ANSWERING, time_left};
pub use variables::{Misconfigured, handler};
