//! The DynamoDB table: its client, and the few ways in which the functions read and write it.
//!
//! - [`Reader`] runs access patterns. [`Writer`] runs conditional writes and transactions. A function holds only those
//!   that it needs, and its role in `stacks/roles.yaml` grants no more.
//! - [`Meter`] and [`ReadMeter`] add up the capacity that they consume. [`TokenBucket`] paces it, without I/O.
//! - [`Pairs`] reads and writes both tables of a migration from one table to another. Only the functions that copy hold
//!   it.
//! - [`WholeTable`] reads every item, for the operator who audits or exports a table.
//!
//! **Invariant: every read is an access pattern of the key schema, or a batch of keys that the key schema spelled.** The
//! only Scan is that of [`Pairs`], which lists what there is to copy, and of [`WholeTable`].

#![warn(missing_docs)]

mod ask;
mod beside;
mod bucket;
mod cancellation;
mod claimed;
mod commit;
mod condition;
mod difference;
mod error;
mod expression;
mod first_lines;
mod headers;
mod home;
mod idempotency;
mod in_step;
mod item;
mod lockstep;
mod merge;
mod meter;
mod migration;
mod order;
mod pair;
mod raw;
mod read;
mod request;
mod scan;
mod shards;
mod sweep;
mod throttle;
mod transact_get;
mod warm_up;
mod write;
mod writer;

use std::sync::Arc;

use aws_sdk_dynamodb::config;
use headers::StripSdkHeaders;
use home::Home;
use key_schema::layout::Layout;
use lambda::{Client, CountWrites, Environment, FromEnvironment, Misconfigured, Service};
use migration::{Homes, Migration};

pub use ask::Answered;
pub use aws_sdk_dynamodb::types::AttributeValue;
pub use bucket::TokenBucket;
pub use claimed::MAY_ACCESS;
pub use commit::{Cause, Commit};
pub use condition::Condition;
pub use error::Error;
pub use first_lines::FIRST_LINES;
pub use idempotency::stored_answer;
pub use item::{Item, read as read_item, write as write_item};
pub use lambda::Budget;
pub use meter::{Meter, ReadMeter, WriteUnits};
pub use order::INVOICE;
pub use pair::{Pair, Pairs};
pub use read::Reader;
pub use request::{Rendered, WriteKind};
pub use scan::{Description, Scanned, Segment, WholeTable};
pub use shards::{Every, ProductShards, StatusShards, ViewShards};
pub use sweep::{Sweep, Swept};
pub use throttle::Throttle;
pub use write::Write;
pub use writer::{Put, Writer, Written};

/// The table and the client. A clone is cheap and shares the connection.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    client: Client<aws_sdk_dynamodb::Client>,
    home: Home,
    /// The migration to another table. Without one, nothing is read or checked for migrations.
    migration: Option<Migration>,
}

impl FromEnvironment for Table {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let client = environment.client(Service::DynamoDb, |config| {
            let http_client = config.http_client().map(raw::splitting);
            let mut config = config::Builder::from(config).interceptor(StripSdkHeaders).interceptor(CountWrites);
            config.set_http_client(http_client);
            aws_sdk_dynamodb::Client::from_conf(config.build())
        })?;
        let name: Arc<str> = environment.required("TABLE_NAME")?.into();
        let connections = environment.shared(warm_up::Connections::default);
        environment.warm_up(Service::DynamoDb, warm_up::prewarm(client.clone(), Arc::clone(&name), connections));
        let home = Home { name, layout: layout(environment, "TABLE_LAYOUT")? };
        Ok(Self { client, home, migration: Migration::from_environment(environment)? })
    }
}

impl Table {
    /// The tables that one request uses now.
    async fn homes(&self) -> Result<Homes<'_>, Error> {
        match &self.migration {
            None => Ok(Homes::alone(&self.home)),
            Some(migration) => migration.homes(self).await,
        }
    }
}

/// The layout that this variable names; the canonical one if it is not set.
fn layout(environment: &Environment, variable: &str) -> Result<Layout, Misconfigured> {
    let invalid = |error| Misconfigured::Invalid(format!("{variable}: {error}"));
    environment.optional(variable).map_or(Ok(Layout::default()), |name| name.parse().map_err(invalid))
}
