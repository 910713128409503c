//! capacity
