//! The parts of which entities are made, and one entity of each kind made from them.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::any::AnyEntity;
use super::strategies::{
    any_cart_line, any_currency, any_email, any_id, any_money, any_order_id, any_payment, any_payment_status,
    any_shard, any_status, any_sums, any_time,
};
use crate::entity::{
    Cancellation, CancellationCause, Cart, CartLine, CategoryCount, CopyProgress, CopyTask, Credit, Customer,
    CustomerStats, DayTotals, Discount, EmailClaim, FoldLease, GiftCard, GiftCardEntry, IdempotencyRecord, Invoice,
    ItemKey, LineUnits, Move, Order, OrderFlag, OrderItem, OrderLine, OrderStatus, PairOfSums, ParkedCounts, Payment,
    PaymentDue, PaymentStatus, Phase, Product, ProductStats, QueuedOrder, Reconciliation, Refusal, Rejection, Repair,
    Return, ReturnStatus, Side, Stock, StockCell, StreamCheckpoint, Sums, UsernameClaim, ViewMark, ViewShard,
};
use crate::value::{
    Category, Cells, Currency, CustomerId, DiscountCode, EmailAddress, GiftCardCode, IdempotencyRecordId, InvoiceId,
    Money, OrderId, Percent, ProductId, Quantity, RequestHash, ReturnId, SequenceNumber, ShardId, TimeRange, Timestamp,
    Username,
};

/// Values for the fields of all entities. [`entities`](Self::entities) makes one entity of each kind from them, all of
/// which belong together.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) customer: CustomerId,
    pub(super) product: ProductId,
    pub(super) order: OrderId,
    pub(super) invoice: InvoiceId,
    pub(super) return_id: ReturnId,
    pub(super) category: Category,
    pub(super) discount: DiscountCode,
    pub(super) gift_card: GiftCardCode,
    pub(super) email: EmailAddress,
    pub(super) username: Username,
    /// Milliseconds since 1970.
    pub(super) at: i64,
    pub(super) status: OrderStatus,
    /// The shard of an order and of a view, and the number of a stock's cell.
    pub(super) shard: u8,
    /// The number of shards in which views are counted. It determines the number of a stock's cells as well.
    pub(super) shards: u8,
    pub(super) text: String,
    pub(super) number: u64,
    pub(super) quantity: Quantity,
    pub(super) percent: Percent,
    pub(super) money: [Money; 3],
    pub(super) sums: Sums<Currency>,
    pub(super) statuses: Sums<OrderStatus>,
    pub(super) stream_shard: ShardId,
    pub(super) mark: SequenceNumber,
    pub(super) payments: Vec<Payment>,
    pub(super) paid: PaymentStatus,
    pub(super) wanted: Vec<CartLine>,
    pub(super) until: Option<Timestamp>,
    pub(super) rejection: Rejection,
}

impl Parts {
    /// What the customer's browser calls itself.
    pub(super) fn visitor(&self) -> String {
        self.customer.to_string().repeat(16).chars().take(64).collect()
    }

    pub(super) fn moment(&self) -> Timestamp {
        moment(self.at)
    }

    pub(super) fn cells(&self) -> Cells {
        (i64::from(self.shards % 32) + 1).try_into().expect("a number of cells")
    }

    fn units(&self) -> LineUnits {
        LineUnits { product_id: self.product.clone(), quantity: self.quantity }
    }

    fn credit(&self) -> Credit {
        let [some, more, _] = self.money;
        let (gross, amount) = (some.amount(), more.amount());
        Credit { product_id: self.product.clone(), units: self.quantity.get(), gross, amount }
    }

    /// One entity of each kind.
    #[allow(clippy::too_many_lines, reason = "one entity of each kind")]
    pub(super) fn entities(&self) -> Vec<AnyEntity> {
        let Self { customer, product, order, invoice, gift_card, email, username, text, number, money, .. } =
            self.clone();
        let [some, more, most] = money;
        let (customer_id, product_id, order_id, at) =
            (|| customer.clone(), || product.clone(), || order.clone(), self.moment());
        let line = OrderLine {
            product_id: product_id(),
            name: text.clone(),
            quantity: self.quantity,
            unit_price: some,
            amount: more,
        };
        vec![
            AnyEntity::Customer(Customer {
                customer_id: customer_id(),
                username: username.clone(),
                email: email.clone(),
                name: text.clone(),
                created_at: at,
                version: number,
            }),
            AnyEntity::CustomerStats(CustomerStats {
                customer_id: customer_id(),
                orders: number.cast_signed(),
                open_units: number.cast_signed() / 2,
                spent: self.sums.clone(),
            }),
            AnyEntity::Cart(Cart {
                customer_id: customer_id(),
                lines: self.wanted.clone(),
                updated_at: at,
                version: self.until.map(|_| number),
                expires_at: at.as_second(),
            }),
            AnyEntity::EmailClaim(EmailClaim { email, customer_id: customer_id() }),
            AnyEntity::UsernameClaim(UsernameClaim { username, customer_id: customer_id() }),
            AnyEntity::Product(Product {
                product_id: product_id(),
                name: text.clone(),
                description: text.clone(),
                category: self.category.clone(),
                price: some,
                images: vec![self.order.as_str().parse().expect("an id")],
                initial_stock: self.quantity.get(),
                version: number,
                counted_in: self.until.map(|_| self.category.clone()),
            }),
            AnyEntity::Stock(Stock {
                product_id: product_id(),
                available: number,
                price: some,
                cells: self.cells(),
                price_version: number / 2,
                put_backs: number / 3,
                moved: -number.cast_signed(),
            }),
            AnyEntity::StockCell(StockCell {
                product_id: product_id(),
                cell: self.shard,
                available: number,
                price: some,
                price_version: number / 2,
                put_backs: number / 3,
                moved: number.cast_signed(),
            }),
            AnyEntity::ProductStats(ProductStats {
                product_id: product_id(),
                orders: number.cast_signed(),
                units: number.cast_signed() / 2,
                revenue: self.sums.clone(),
            }),
            AnyEntity::ViewShard(ViewShard { product_id: product_id(), shard: self.shard, views: number }),
            AnyEntity::ViewMark(ViewMark {
                expires_at: at.as_second(),
                ..ViewMark::of(&self.product, &self.visitor().try_into().expect("a visitor"), at)
            }),
            AnyEntity::CategoryCount(CategoryCount { category: self.category.clone(), products: number.cast_signed() }),
            AnyEntity::Order(Order {
                order_id: order_id(),
                customer_id: customer_id(),
                status: self.status,
                placed_at: at,
                changed_at: self.until,
                version: number,
                subtotal: some,
                discount: more,
                discount_code: self.until.map(|_| self.discount.clone()),
                uncounted_code: self.until.is_none().then(|| self.discount.clone()),
                total: most,
                request_hash: RequestHash::of(text.as_bytes()),
                line_count: self.shard,
                units: self.quantity.get(),
                pay_later: false,
                shard: self.shard,
                cancellation: self.until.map(|at| Cancellation {
                    at,
                    reason: Some(text.clone()).filter(|_| number % 2 == 0),
                    cause: Some(CancellationCause::Unpaid).filter(|_| number % 3 == 0),
                }),
                credits: self.until.iter().map(|_| self.credit()).collect(),
                returning: self.until.iter().map(|_| self.units()).collect(),
                return_count: self.shard,
                delivered_at: self.until,
                imported_at: self.until,
            }),
            AnyEntity::OrderItem(OrderItem {
                order_id: order_id(),
                customer_id: customer_id(),
                placed_at: at,
                shard: self.shard,
                imported_at: self.until,
                uncounted: number % 2 == 0,
                line,
            }),
            AnyEntity::Invoice(Invoice {
                invoice_id: invoice,
                order_id: order_id(),
                customer_id: customer_id(),
                issued_at: at,
                amount: some,
                payments: self.payments.clone(),
            }),
            AnyEntity::PaymentDue(PaymentDue {
                order_id: order_id(),
                shard: self.shard,
                since: at,
                lapsed: self.shard % 2 == 1,
            }),
            AnyEntity::OrderFlag(OrderFlag { order_id: order_id(), reason: text.clone(), flagged_at: at }),
            // Only an open return has an entry in the index.
            AnyEntity::Return(Return {
                return_id: self.return_id.clone(),
                order_id: order_id(),
                customer_id: customer_id(),
                shard: self.shard,
                lines: vec![self.units()],
                reason: self.until.map(|_| text.clone()),
                requested_at: at,
                status: ReturnStatus::Requested,
                closed_at: self.until,
                restocked: number % 2 == 0,
                amount: self.until.map(|_| some),
                refusal: self.until.map(|_| text.clone()),
            }),
            AnyEntity::QueuedOrder(QueuedOrder {
                order_id: order_id(),
                customer_id: customer_id(),
                request_hash: RequestHash::of(text.as_bytes()),
                queued_at: at,
                max_total: self.until.map(|_| some),
                dead_since: self.until,
                refusal: self.until.map(|at| Refusal { at, rejection: self.rejection.clone() }),
                expires_at: at.as_second(),
            }),
            AnyEntity::Discount(Discount {
                code: self.discount.clone(),
                percent: self.percent,
                from: self.until.map(|_| at),
                to: self.until,
                max_uses: self.until.map(|_| u32::MAX),
                uses: self.quantity.get(),
                created_at: at,
            }),
            AnyEntity::GiftCard(GiftCard { code: gift_card.clone(), balance: some, initial: more, created_at: at }),
            AnyEntity::GiftCardEntry(GiftCardEntry {
                code: gift_card,
                order_id: order_id(),
                amount: most,
                at,
                status: self.paid,
                returned: i64::from(self.shard),
            }),
            AnyEntity::DayTotals(DayTotals {
                date: at.day(),
                orders: number.cast_signed(),
                units: number.cast_signed() / 2,
                revenue: self.sums.clone(),
                statuses: self.statuses.clone(),
            }),
            AnyEntity::StreamCheckpoint(StreamCheckpoint {
                shard_id: self.stream_shard.clone(),
                mark: self.mark.clone(),
                updated_at: at,
                expires_at: at.as_second(),
            }),
            AnyEntity::ParkedCounts(ParkedCounts {
                group: self.shard,
                list: self.shards,
                parked_at: at,
                shard_id: self.stream_shard.clone(),
                mark: self.mark.clone(),
                layout: ParkedCounts::LAYOUT,
                customers: vec![CustomerStats {
                    customer_id: customer_id(),
                    orders: 1,
                    open_units: -1,
                    spent: self.sums.clone(),
                }],
                products: Vec::new(),
                days: vec![DayTotals {
                    date: at.day(),
                    orders: 0,
                    units: 1,
                    revenue: self.sums.clone(),
                    statuses: self.statuses.clone(),
                }],
            }),
            AnyEntity::FoldLease(FoldLease {
                group: self.shard,
                holder: self.product.to_string().parse().expect("an id"),
                expires_at: at.as_second(),
            }),
            AnyEntity::Reconciliation(Reconciliation {
                to: at.day(),
                resume: self.until.map(|_| text.clone()),
                updated_at: at,
            }),
            AnyEntity::IdempotencyRecord(IdempotencyRecord {
                record_id: IdempotencyRecordId::of(&self.customer, &"a key".parse().expect("a key")),
                request_hash: RequestHash::of(text.as_bytes()),
                status: 200,
                location: self.until.map(|_| text.clone()),
                version: self.until.map(|_| number),
                body: text.clone(),
                expires_at: at.as_second(),
            }),
            AnyEntity::Move(Move { phase: Phase::Compare, version: number, since: at }),
            AnyEntity::Repair(Repair {
                repair_id: self.product.to_string().parse().expect("an id"),
                shard: self.shard,
                since: at,
                keys: vec![ItemKey { partition: text.clone(), sort: text.clone() }],
            }),
            AnyEntity::CopyProgress(CopyProgress {
                segment: self.shard,
                segments: self.shards,
                run: number,
                task: CopyTask::Compare,
                move_version: number,
                leader: Side::Next,
                scanned: Side::First,
                last: self.until.map(|_| ItemKey { partition: text.clone(), sort: text.clone() }),
                pages: number,
                is_done: self.until.is_none(),
                items: number,
                copied: number / 2,
                differences: number,
                differing: vec![ItemKey { partition: text.clone(), sort: text.clone() }],
                sums: BTreeMap::from([(text.clone(), PairOfSums::default())]),
                started_at: at,
                updated_at: at,
            }),
        ]
    }

    /// These parts, with those that `take` selects replaced by the other's.
    pub(super) fn mixed_with(self, other: Self, take: Take) -> Self {
        fn either<T>(take: bool, theirs: T, ours: T) -> T {
            if take { theirs } else { ours }
        }
        let [
            customer,
            product,
            order,
            invoice,
            category,
            discount,
            gift_card,
            email,
            username,
            at,
            status,
            shard,
            shards,
            stream_shard,
        ] = take;
        Self {
            customer: either(customer, other.customer, self.customer),
            product: either(product, other.product, self.product),
            order: either(order, other.order, self.order),
            // An order has several returns, but a return only one order.
            return_id: either(order, other.return_id, self.return_id),
            invoice: either(invoice, other.invoice, self.invoice),
            category: either(category, other.category, self.category),
            discount: either(discount, other.discount, self.discount),
            gift_card: either(gift_card, other.gift_card, self.gift_card),
            email: either(email, other.email, self.email),
            username: either(username, other.username, self.username),
            at: either(at, other.at, self.at),
            status: either(status, other.status, self.status),
            shard: either(shard, other.shard, self.shard),
            shards: either(shards, other.shards, self.shards),
            stream_shard: either(stream_shard, other.stream_shard, self.stream_shard),
            ..self
        }
    }
}

/// A selection of the parts that keys and access patterns have: those to take from the other parts.
pub(super) type Take = [bool; 14];

pub(super) fn moment(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).expect("a moment")
}

pub(super) fn between(from: Option<i64>, to: Option<i64>) -> TimeRange {
    let [from, to] = [from, to].map(|end| end.map(|millisecond| moment(millisecond).to_string()));
    TimeRange::parse(from.as_deref(), to.as_deref()).expect("a range")
}

/// Any parts.
pub(super) fn any_parts() -> impl Strategy<Value = Parts> {
    let ids = (any_id(), any_id(), any_order_id(), any_id(), any_id(), any_id());
    let who = (any_email(), prop_oneof!["[aAbB]", "[A-Za-z0-9._-]{1,64}"], any_time(), any_status());
    let shards = (any_shard(), any_shard());
    let numbers = ("(?s).{0,12}", any::<u64>(), 1..=10_000_i64, 1..=100_i64, option::of(any_time()));
    let money = ([any_money(), any_money(), any_money()], any_sums(any_currency()), vec(any_payment(), 0..3));
    let stream = (any_sums(any_status()), prop_oneof!["[ab]", "[A-Za-z0-9._-]{1,128}"], "[0-9]{1,40}");
    let more = (any_payment_status(), vec(any_cart_line(), 0..3), any::<u8>());
    (ids, who, shards, numbers, money, stream, more).prop_map(
        |(ids, who, (shard, shards), numbers, money, stream, more)| {
            let (paid, wanted, why) = more;
            let (customer, product, order, category, discount, gift_card) = ids;
            let (email, username, at, status) = who;
            let (text, number, quantity, percent, until) = numbers;
            let (money, sums, payments) = money;
            let (statuses, stream_shard, mark) = stream;
            let [total, ..] = money;
            let rejection = match why % 11 {
                0 => Rejection::UnknownCustomer,
                1 => Rejection::UnknownProduct { line: why.into(), product: ProductId::clone(&product) },
                2 => Rejection::MixedCurrencies { line: why.into() },
                3 => Rejection::TooExpensive,
                4 => Rejection::OutOfStock { line: why.into(), product: product.clone(), available: number },
                5 => Rejection::PriceChanged { total, card: until.map(|_| total) },
                6 => Rejection::DiscountInvalid { code: DiscountCode::clone(&discount) },
                7 => Rejection::DiscountExhausted { code: discount.clone() },
                8 => Rejection::GiftCardInvalid { code: GiftCardCode::clone(&gift_card) },
                9 => Rejection::GiftCardBalance { code: gift_card.clone() },
                _ => Rejection::KeyReused,
            };
            Parts {
                rejection,
                invoice: InvoiceId::of(&order),
                return_id: return_of(&order),
                username: username.parse().expect("a username"),
                quantity: quantity.try_into().expect("a quantity"),
                percent: percent.try_into().expect("a percentage"),
                until: until.map(moment),
                customer,
                product,
                order,
                category,
                discount,
                gift_card,
                email,
                at,
                status,
                shard,
                shards,
                text,
                number,
                money,
                sums,
                statuses,
                stream_shard: stream_shard.parse().expect("a shard id"),
                mark: mark.parse().expect("a sequence number"),
                payments,
                paid,
                wanted,
            }
        },
    )
}

/// Always the same parts, all of them different. `shard` is less than `shards`.
pub(super) fn sample() -> Parts {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let parts = any_parts().new_tree(&mut TestRunner::deterministic()).expect("parts").current();
    Parts {
        customer: "ada".parse().expect("an id"),
        product: "teapot".parse().expect("an id"),
        order: "first".parse().expect("an id"),
        return_id: "ret-first".parse().expect("an id"),
        shard: 3,
        shards: 4,
        ..parts
    }
}

/// A return of an order, whose id may be of any length.
fn return_of(order: &OrderId) -> ReturnId {
    let id: String = format!("ret-{order}").chars().take(64).collect();
    id.parse().expect("an id")
}
