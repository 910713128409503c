//! Everything that only reads.

use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::PaymentStatus::Authorized;
use key_schema::layout::{AccessPattern as _, OrderById, ProductById};

use super::Many::Lines;
use super::Request::Query;
use super::{Operation, each, one};
use crate::sample::Edition::First;
use crate::sample::Kind::{Invoice, Order, OrderItem, Product, ProductStats, Stock};

pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        function: "get-order",
        course: "found",
        requests: &[Query(
            OrderById::DECLARED,
            &[one(Order(Pending)), one(Invoice(Authorized)), each(Lines, OrderItem)],
        )],
    },
    Operation {
        function: "get-product",
        course: "found",
        requests: &[Query(ProductById::DECLARED, &[one(Product(First)), one(Stock(First)), one(ProductStats(First))])],
    },
];
