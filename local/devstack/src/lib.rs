//! Runs a SAM template on a laptop: an HTTP gateway, a DynamoDB, an SQS and an EventBridge in one process, around the
//! real handlers.
//!
//! The stack takes its routes, scopes, queues and table from `template.yaml` alone, so the deployed template is the one
//! that runs here. The stack listens on loopback addresses only: no function in this crate takes an address to bind,
//! only a port. Each test starts a [`Stack`] of its own, with a [`FaultProxy`] between the functions and the database.
//! [`iam`] refuses every call that the caller's role does not allow.

mod aws_json;
mod browser_guard;
mod bus;
mod cors;
mod deployment;
mod endpoint;
mod engine;
mod event;
pub mod fault_proxy;
mod functions;
pub mod gateway;
pub mod iam;
pub mod intrinsic;
mod item_failures;
mod listen;
mod openid;
mod pages;
mod private_file;
mod problem;
mod queue;
mod queue_source;
pub mod redrive;
mod resource;
mod sandbox;
mod sandboxes;
mod scheduled;
mod signatures;
mod sources;
mod sqs;
pub mod stack;
mod stream;
mod stream_source;
pub mod template;
#[cfg(test)]
mod test_stack;
pub mod token;

pub use self::functions::{Endpoints, Functions};
pub use bus::{Bus, Entry};
pub use deployment::Deployment;
pub use fault_proxy::FaultProxy;
pub use problem::{GatewayError, ProblemType};
pub use sandbox::StartConsumer;
pub use stack::{Options, Stack};
pub use template::Template;
pub use token::Issuer;
