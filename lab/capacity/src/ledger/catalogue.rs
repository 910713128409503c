//! Products, discount codes and gift cards.

use key_schema::layout::Consistency::Strong;

use super::Request::{Batch, Cancelled, Failed, Transaction, Write as Alone};
use super::Write::{New, Over, Update};
use super::{Operation, Request, Several, Write, of, one};
use sample_items::Kind::{Absent, Discount, GiftCard, KeptAdjustment, KeptProduct, Product, Stock, ViewShard};
use sample_items::Revision::{Changed, First, Moved};

/// A product and its stock, which a change of either reads first.
const PRODUCT: Several<Request> = one(Batch(Strong, &[one(Product(First)), one(Stock(First))]));

const NEW_PRODUCT: Several<Write> = one(New(Product(First)));
const NEW_STOCK: Several<Write> = one(New(Stock(First)));

/// A product that already exists, and its stock.
const PRODUCT_AGAIN: Several<Write> = one(Over(Product(First), Product(First)));
const STOCK_AGAIN: Several<Write> = one(Over(Stock(First), Stock(First)));

const PRODUCT_CHANGES: Several<Write> = one(Update(Product(First), Product(Changed)));
const STOCK_CHANGES: Several<Write> = one(Update(Stock(First), Stock(Changed)));
const PRODUCT_AND_STOCK: Several<Request> = one(Transaction(&[PRODUCT_CHANGES, STOCK_CHANGES]));

pub(super) const OPERATIONS: &[Operation] = &[
    of("adjust-stock", "adjusted", &[PRODUCT, PRODUCT_AND_STOCK]),
    of(
        "adjust-stock",
        "adjusted, under an idempotency key",
        &[PRODUCT, one(Transaction(&[PRODUCT_CHANGES, STOCK_CHANGES, one(New(KeptAdjustment))]))],
    ),
    of(
        "adjust-stock",
        "adjusted before, under an idempotency key",
        &[PRODUCT, one(Cancelled(&[PRODUCT_CHANGES, STOCK_CHANGES, one(Over(KeptAdjustment, KeptAdjustment))]))],
    ),
    of("create-discount", "made", &[one(Alone(New(Discount(First))))]),
    of("create-discount", "made before", &[one(Failed(Over(Discount(First), Discount(First))))]),
    of("create-gift-card", "made", &[one(Alone(New(GiftCard(First))))]),
    of("create-gift-card", "made before", &[one(Failed(Over(GiftCard(First), GiftCard(First))))]),
    of("create-product", "made", &[one(Transaction(&[NEW_PRODUCT, NEW_STOCK]))]),
    of("create-product", "made before", &[one(Cancelled(&[PRODUCT_AGAIN, STOCK_AGAIN]))]),
    of(
        "create-product",
        "made, under an idempotency key",
        &[one(Transaction(&[NEW_PRODUCT, NEW_STOCK, one(New(KeptProduct))]))],
    ),
    of(
        "create-product",
        "made before, under an idempotency key",
        &[one(Cancelled(&[PRODUCT_AGAIN, STOCK_AGAIN, one(Over(KeptProduct, KeptProduct))]))],
    ),
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
