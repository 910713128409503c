//! Customers and their carts.

use key_schema::layout::Consistency::{Eventual, Strong};
use key_schema::layout::{AccessPattern as _, CustomerById};

use super::Many::CartLines;
use super::Request::{Batch, Cancelled, Failed, Query, Transaction, Write as Alone};
use super::Write::{Delete, New, Over, Update};
use super::{Operation, Request, Several, Write, each, of, one};
use sample_items::Kind::{Absent, Cart, Customer, CustomerStats, EmailClaim, Stock, UsernameClaim};
use sample_items::Revision::{Changed, First};

/// A customer who has ordered, and whose cart is empty.
const CUSTOMER: Several<Request> =
    one(Query(CustomerById::DECLARED, &[one(Customer(First)), one(CustomerStats(First))]));

const PROFILE: Write = Update(Customer(First), Customer(Changed));

/// The stock of each product in a cart, which proves that the product exists.
const IN_CART: Several<Request> = one(Batch(Eventual, &[each(CartLines, Stock(First))]));

pub(super) const OPERATIONS: &[Operation] = &[
    of(
        "create-customer",
        "signed up",
        &[one(Transaction(&[one(New(Customer(First))), one(New(UsernameClaim)), one(New(EmailClaim))]))],
    ),
    of(
        "create-customer",
        "signed up before",
        &[one(Cancelled(&[
            one(Over(Customer(First), Customer(First))),
            one(Over(UsernameClaim, UsernameClaim)),
            one(Over(EmailClaim, EmailClaim)),
        ]))],
    ),
    of(
        "create-customer",
        "another has the username",
        &[one(Cancelled(&[one(New(Customer(First))), one(Over(UsernameClaim, UsernameClaim)), one(New(EmailClaim))]))],
    ),
    of("delete-cart", "thrown away", &[one(Alone(Delete(Cart(First))))]),
    of("delete-cart", "not the one that was meant", &[one(Failed(Delete(Cart(First))))]),
    of("delete-cart", "there was none", &[one(Alone(Delete(Absent)))]),
    of("put-cart", "the first", &[IN_CART, one(Alone(New(Cart(First))))]),
    of("put-cart", "in place of another", &[IN_CART, one(Alone(Over(Cart(First), Cart(Changed))))]),
    of(
        "put-cart",
        "of a product that is not there",
        &[one(Batch(Eventual, &[one(Absent)])), one(Batch(Strong, &[one(Absent)]))],
    ),
    of("update-customer", "another name", &[CUSTOMER, one(Alone(PROFILE))]),
    of(
        "update-customer",
        "another e-mail address",
        &[CUSTOMER, one(Transaction(&[one(PROFILE), one(New(EmailClaim)), one(Delete(EmailClaim))]))],
    ),
    of(
        "update-customer",
        "another username",
        &[CUSTOMER, one(Transaction(&[one(PROFILE), one(New(UsernameClaim)), one(Delete(UsernameClaim))]))],
    ),
    of("update-customer", "nothing new", &[CUSTOMER]),
];
