//! End-to-end tests: HTTP requests against the local stack, one stack and one database for each test.
//!
//! A fault proxy between the functions and the engine records every call and injects faults. When a [`shop::Shop`] is
//! dropped, it checks that no call scanned the table, and that no role refused a call of its function.
#![allow(unreachable_pub, reason = "a test binary has no outside")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod access;
mod alarms;
mod audit;
mod aws_json;
mod capacity_ledger;
mod carts;
mod cells;
mod changes;
mod claims;
mod client;
mod completeness;
mod contract;
mod counts;
mod counts_cost;
mod customer_view;
mod deployment;
mod drain;
mod engine;
mod every_fault;
mod expiry;
mod faults;
mod generated;
mod idempotency;
mod invariants;
mod laptop;
mod layouts;
mod lifecycle;
mod listings;
mod newer_release;
mod openapi;
mod order_events;
mod outcomes;
mod paging;
mod patterns;
mod placing;
mod pointers;
mod poison;
mod problems;
mod product_shards;
mod queue;
mod ranges;
mod reconcile;
mod reconcile_cost;
mod repeating;
mod roles;
mod routes;
mod runbooks;
mod sample_events;
mod shop;
mod shop_bus;
mod shop_queue;
mod shop_reconcile;
mod shop_roles;
mod shop_stream;
mod tour;
mod validation;
mod views;
mod wrong_bodies;
