//! Placing orders, and what happens to them after.

use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::PaymentStatus::{Authorized, Captured};
use key_schema::layout::Consistency::Eventual;

use super::Many::{Discounts, GiftCards, Lines};
use super::Request::{Batch, Transaction};
use super::Write::{New, Update};
use super::{Operation, Several, Write, each, one};
use crate::sample::Edition::{Changed, First};
use crate::sample::Kind::{
    self, Absent, Customer, Discount, GiftCard, GiftCardEntry, Invoice, Order, OrderItem, Product, Stock,
};

/// All that an order depends on: itself, whether it waits, its customer, and what it takes from.
const DEPENDS_ON: &[Several<Kind>] = &[
    one(Absent),
    one(Absent),
    one(Customer(First)),
    each(Lines, Product(First)),
    each(Lines, Stock(First)),
    each(Discounts, Discount(First)),
    each(GiftCards, GiftCard(First)),
];

/// All that an order is made of, and what it takes.
const PLACEMENT: &[Several<Write>] = &[
    one(New(Order(Pending))),
    one(New(Invoice(Authorized))),
    each(Lines, New(OrderItem)),
    each(Lines, Update(Stock(First), Stock(Changed))),
    each(Discounts, Update(Discount(First), Discount(Changed))),
    each(GiftCards, Update(GiftCard(First), GiftCard(Changed))),
    each(GiftCards, New(GiftCardEntry(Captured))),
];

pub(super) const OPERATIONS: &[Operation] = &[Operation {
    function: "place-order",
    course: "placed",
    requests: &[Batch(Eventual, DEPENDS_ON), Transaction(PLACEMENT)],
}];
