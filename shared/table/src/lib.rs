//! The table: its client, and the few ways in which the functions read and write it.
//!
//! - [`Environment`]: a function's environment variables, and from them the DynamoDB client.
//! - [`Reader`]: answers access patterns. [`Writer`]: conditional writes and transactions. A function holds the one it needs,
//!   and its role in `template.yaml` grants no more.
//!
//! **Invariant: every read is an access pattern or a batch of keys that the key schema spelled.** There is no Scan here.

#![warn(missing_docs)]

mod client;
mod environment;
mod error;
mod item;
mod read;
mod retry;
mod variables;
mod write;
mod writer;

use std::sync::Arc;

use aws_sdk_dynamodb::Client;

pub use environment::{Environment, FromEnvironment, StatusShards, ViewShards};
pub use error::Error;
pub use item::{Item, read as read_item};
pub use read::{Page, PageRequest, Reader};
pub use retry::Budget;
pub use variables::Misconfigured;
pub use write::{Condition, Write};
pub use writer::{Cause, Put, Writer};

/// The table and the client that talks to it. Cloning it is cheap and shares the connection.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    client: Client,
    name: Arc<str>,
}

impl FromEnvironment for Table {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        Ok(Self { client: environment.dynamodb().clone(), name: environment.required("TABLE_NAME")?.into() })
    }
}
