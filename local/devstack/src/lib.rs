//! Runs a SAM template on a laptop: an HTTP gateway, a DynamoDB, an SQS and an EventBridge in one process, around the
//! real handlers.
//!
//! The stack takes its routes, scopes, queues and tables from the template alone, so the deployed template is the one
//! that runs here. It listens on loopback addresses only: no function in this crate takes an address to bind, only a
//! port. A test starts a [`Stack`] of its own, with a [`FaultProxy`] between the functions and each service. [`iam`]
//! refuses every call that the caller's role does not allow.
//!
//! # What it supports
//!
//! - **Functions**: `Handler` and `Role`; `Timeout` and `Environment`, also in `Globals`. Each function needs a `Handler`
//!   of its own, because the stack finds its code by that name. A function whose `ReservedConcurrentExecutions` are 0 is
//!   not invoked: its routes answer 503. Any other number is passed over.
//! - **Roles**: inline and managed policies of the template, with `Condition`. A call of a service is checked against the
//!   role of the function that makes it, which the service knows by the call's access key. So give each function's AWS
//!   clients the URLs of [`Endpoints`], the Region us-east-1 and the access key that [`environments`] gives it
//!   (`GetNote-1`), or the function's logical id (`GetNote`). A call under any other key is not checked.
//! - **Events**: `HttpApi` (payload 2.0, JWT scopes, CORS), `SQS` (batches, partial failures, concurrency), `DynamoDB`
//!   streams (batches, filters, windows, retries, bisecting, destinations), also as `AWS::Lambda::EventSourceMapping`.
//! - **Schedules**: rates, which [`Stack::run_schedules`] keeps. `POST /_local/scheduled/HANDLER` also invokes a function
//!   that has one, unless its `State` is `DISABLED`.
//! - **Resources**: DynamoDB tables with their indexes, streams and times to live; standard SQS queues with their
//!   dead-letter queues; EventBridge buses with rules that send to queues, and the newest events (`GET /_local/events`); S3
//!   buckets, whose objects are files: `PutObject`, `GetObject`, `HeadObject`, `DeleteObject` and `ListObjectsV2`, also by
//!   presigned URLs, with the secret access key `local`. Of a bucket's policy, only that everybody may read objects is
//!   followed. Versions, life cycles and notifications are passed over.
//! - **Intrinsic functions**: `Ref`, `GetAtt`, `Sub`, `Join`, `Split`, `If`, and in conditions `Equals`, `Not`, `And` and
//!   `Or`. A resource whose `Condition` is false does not exist. Parameters have their defaults, or the values of the
//!   [`Deployment`].
//! - **[Stories](stories)**: what each of the newest requests did, and what followed (`GET /_local/requests`).
//! - **Tokens**: the stack's own (`POST /_local/token`), or those of an OpenID Connect [`Issuer`].
//!
//! # What it does not support
//!
//! [`Template::parse`] refuses these, and its error names the resource and the property:
//!
//! | in the template | error |
//! |---|---|
//! | no table | `Resources has no AWS::DynamoDB::Table` |
//! | `Path: /{proxy+}` | `Path: /{proxy+} is greedy, which the laptop gateway does not know` |
//! | `Method: ANY` | `Method: ANY is not one of GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS` |
//! | a route without `Auth` | `Auth is missing: name AuthorizationScopes, or Authorizer: NONE` |
//! | a function without `Role`, such as one with SAM's policy templates | `Role is missing` |
//! | two functions with one `Handler` | `Handler: get-note is already the handler of GetNote` |
//! | an event of another type, such as `S3`, `SNS` or `EventBridgeRule` | `Events.Import: Type: SNS is not one of HttpApi, SQS, DynamoDB, Schedule, ScheduleV2` |
//! | another intrinsic function | `!ImportValue is not known to the laptop stack` |
//! | a parameter without a value | `parameter P has no Default to use on a laptop` |
//! | `ParallelizationFactor: 2` | `ParallelizationFactor: 2 is not 1, the only one that the laptop stack knows` |
//!
//! Other resources are passed over without an error. Throttling limits of the API, local secondary indexes and `FifoQueue`
//! are passed over, too. A managed policy of AWS, such as
//! `AWSLambdaBasicExecutionRole`, and a role outside the template are refused.
//!
//! An option that cannot be used on this machine, such as a port that is in use, is an [`OptionError`].

mod aws_json;
mod browser_guard;
mod bus;
mod cors;
mod deployment;
mod endpoint;
mod engine;
mod environments;
mod event;
pub mod fault_proxy;
mod forward;
mod functions;
pub mod gateway;
pub mod iam;
pub mod intrinsic;
mod invoke;
mod item_failures;
mod listen;
mod openid;
mod option_error;
mod options;
mod pages;
mod private_file;
mod problem;
mod queue;
mod queue_source;
pub mod redrive;
mod requests;
mod resource;
mod s3;
mod sandbox;
mod sandboxes;
mod scheduled;
mod scratch;
mod secrets;
mod signatures;
mod sources;
mod sqs;
pub mod stack;
pub mod stories;
mod stream;
mod stream_source;
pub mod template;
#[cfg(test)]
mod test_stack;
pub mod token;
pub mod wait;

pub use self::functions::{Endpoints, Functions};
pub use aws_json::{Refusal, Service};
pub use browser_guard::refuse_other_hosts;
pub use bus::{Bus, Entry};
pub use deployment::Deployment;
pub use environments::{environments, pooled};
pub use fault_proxy::FaultProxy;
pub use forward::forward;
pub use option_error::OptionError;
pub use options::Options;
pub use sandbox::StartConsumer;
pub use scratch::Scratch;
pub use stack::Stack;
pub use template::Template;
pub use token::Issuer;
