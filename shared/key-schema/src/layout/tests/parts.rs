//! The parts of which entities are made, and one entity of each kind made from them.

mod entities;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::strategies::{
    any_cart_line, any_currency, any_email, any_id, any_money, any_order_id, any_payment, any_payment_status,
    any_shard, any_status, any_sums, any_time,
};
use crate::entity::{Address, CartLine, LineUnits, OrderStatus, Payment, PaymentStatus, Rejection, Sums};
use crate::value::{
    Category, Cells, Currency, CustomerId, DiscountCode, EmailAddress, GiftCardCode, InvoiceId, Money, OrderId,
    Percent, ProductId, Quantity, ReturnId, SequenceNumber, ShardId, ShipmentId, TimeRange, Timestamp, Username,
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
    pub(super) shipment_id: ShipmentId,
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
    fn units(&self) -> LineUnits {
        LineUnits { product_id: self.product.clone(), quantity: self.quantity }
    }

    fn address(&self) -> Address {
        let (text, some) = (|| self.text.clone(), |text: String| self.until.map(|_| text));
        let country = "DE".parse().expect("a country");
        let [name, line1, city] = [text(), text(), text()];
        Address { name, line1, line2: some(text()), city, postal_code: some(text()), region: some(text()), country }
    }

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
            shipment_id: either(order, other.shipment_id, self.shipment_id),
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
            let rejection = match why % 15 {
                0 => Rejection::UnknownCustomer,
                1 => Rejection::UnknownProduct { line: why.into(), product: ProductId::clone(&product) },
                2 => Rejection::MixedCurrencies { line: why.into() },
                3 => Rejection::TooExpensive,
                4 => Rejection::OutOfStock { line: why.into(), product: product.clone(), available: number },
                5 => Rejection::PriceChanged { total, card: until.map(|_| total) },
                6 => Rejection::DiscountInvalid { code: DiscountCode::clone(&discount) },
                7 => Rejection::DiscountExhausted { code: discount.clone() },
                8 => Rejection::GiftCardInvalid { code: GiftCardCode::clone(&gift_card) },
                10 => Rejection::UnknownAddress { address: product.to_string().parse().expect("an id") },
                13 => Rejection::CartChanged { cart: quantity.try_into().expect("a version") },
                11 => Rejection::NotShipped {
                    country: "DE".parse().expect("a country"),
                    method: until.map(|_| "express".parse().expect("an id")),
                },
                9 => Rejection::GiftCardBalance { code: gift_card.clone() },
                12 => Rejection::Recalled { products: vec![product.clone(), product.clone()] },
                _ => Rejection::KeyReused,
            };
            Parts {
                rejection,
                invoice: InvoiceId::of(&order),
                return_id: return_of(&order),
                shipment_id: shipment_of(&order),
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
        shipment_id: "shp-first".parse().expect("an id"),
        shard: 3,
        shards: 4,
        until: Some(parts.moment()),
        ..parts
    }
}

/// A shipment of an order, whose id may be of any length.
fn shipment_of(order: &OrderId) -> ShipmentId {
    let id: String = format!("shp-{order}").chars().take(64).collect();
    id.parse().expect("an id")
}

/// A return of an order, whose id may be of any length.
fn return_of(order: &OrderId) -> ReturnId {
    let id: String = format!("ret-{order}").chars().take(64).collect();
    id.parse().expect("an id")
}
