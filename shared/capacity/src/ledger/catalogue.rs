//! Products, discount codes and gift cards.

use key_schema::layout::Consistency::Strong;

use super::Request::{Batch, Cancelled, Failed, Transaction, Write as Alone};
use super::Write::{New, Over, Update};
use super::{Operation, Request, Several, Write, of, one};
use crate::sample::Edition::{Changed, First, Moved};
use crate::sample::Kind::{Absent, Discount, GiftCard, Product, Stock, ViewShard};

/// A product and its stock, on which a change of either is decided.
const PRODUCT: Several<Request> = one(Batch(Strong, &[one(Product(First)), one(Stock(First))]));

const NEW_PRODUCT: &[Several<Write>] = &[one(New(Product(First))), one(New(Stock(First)))];

/// A product that is there already, with its stock.
const PRODUCT_AGAIN: &[Several<Write>] =
    &[one(Over(Product(First), Product(First))), one(Over(Stock(First), Stock(First)))];

const PRODUCT_AND_STOCK: Several<Request> =
    one(Transaction(&[one(Update(Product(First), Product(Changed))), one(Update(Stock(First), Stock(Changed)))]));

pub(super) const OPERATIONS: &[Operation] = &[
    of("adjust-stock", "adjusted", &[PRODUCT, PRODUCT_AND_STOCK]),
    of("create-discount", "made", &[one(Alone(New(Discount(First))))]),
    of("create-discount", "made before", &[one(Failed(Over(Discount(First), Discount(First))))]),
    of("create-gift-card", "made", &[one(Alone(New(GiftCard(First))))]),
    of("create-gift-card", "made before", &[one(Failed(Over(GiftCard(First), GiftCard(First))))]),
    of("create-product", "made", &[one(Transaction(NEW_PRODUCT))]),
    of("create-product", "made before", &[one(Cancelled(PRODUCT_AGAIN))]),
    of("record-view", "counted", &[one(Alone(Update(ViewShard(First), ViewShard(Changed))))]),
    of(
        "record-view",
        "the first of its part",
        &[
            one(Failed(Update(Absent, Absent))),
            one(Batch(Strong, &[one(Product(First))])),
            one(Alone(New(ViewShard(First)))),
        ],
    ),
    of("record-view", "no such product", &[one(Failed(Update(Absent, Absent))), one(Batch(Strong, &[one(Absent)]))]),
    of("update-product", "another name", &[PRODUCT, one(Alone(Update(Product(First), Product(Changed))))]),
    of("update-product", "another price", &[PRODUCT, PRODUCT_AND_STOCK]),
    of("update-product", "another category", &[PRODUCT, one(Alone(Update(Product(First), Product(Moved))))]),
    of("update-product", "nothing new", &[PRODUCT]),
];
