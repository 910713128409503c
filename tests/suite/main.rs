//! End-to-end tests: HTTP requests against the local stack, one stack and one database for each test.
//!
//! The crate `shop` has the stack, its clients and its faults.
#![allow(unreachable_pub, reason = "a test binary has no outside")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod access;
mod accesses;
mod alarms;
mod audit;
mod batches;
mod buckets;
mod caching;
mod card_numbers;
mod carts;
mod cells;
mod changes;
mod claims;
mod completeness;
mod contract;
mod counts;
mod counts_cost;
mod dashboards;
mod deployment;
mod drain;
mod every_fault;
mod expiry;
mod faults;
mod generated;
mod history;
mod idempotency;
mod invariants;
mod laptop;
mod layouts;
mod lifecycle;
mod listings;
mod moving;
mod new_route;
mod newer_release;
mod open_units;
mod order_events;
mod outcomes;
mod paging;
mod patterns;
mod payments;
mod placing;
mod pointers;
mod poison;
mod problems;
mod product_shards;
mod queue;
mod ranges;
mod reconcile;
mod repeating;
mod returns;
mod roles;
mod rollback;
mod rooms;
mod routes;
mod runbooks;
mod sample_events;
mod tour;
mod two_tables;
mod validation;
mod views;
mod workbench;
mod wrong_bodies;
mod wrong_types;
