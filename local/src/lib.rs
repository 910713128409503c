//! Till on a laptop: the real handlers on the [`devstack`], a demo shop, and the commands of `cargo local`.
//!
//! The stack takes its routes, scopes, queues and table from `template.yaml` alone, so the deployed template is the one
//! that runs here.

pub mod audit;
pub mod demo;
pub mod functions;
