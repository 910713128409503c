//! Till on a laptop: an HTTP gateway and a DynamoDB in one process, in front of the real handlers.
//!
//! The stack takes its routes, scopes and table from `template.yaml` and nothing else, so what runs here is what is
//! deployed. It listens on loopback addresses only: no function in this crate takes an address to bind, only a port.
//! The tests start the same [`Stack`], one per test, with [`Wire`] between the functions and the database.

pub mod demo;
mod endpoint;
mod engine;
mod event;
pub mod functions;
pub mod gateway;
mod intrinsic;
mod listen;
mod problem;
mod resource;
pub mod stack;
pub mod template;
pub mod token;
pub mod wire;

pub use stack::{Options, Stack};
pub use template::Template;
pub use wire::Wire;
