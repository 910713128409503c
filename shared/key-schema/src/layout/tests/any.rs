//! Any entity, any question.

use std::ops::Range;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index as Pick, select};
use serde_dynamo::{AttributeValue, Item};

use crate::entity::{
    Customer, CustomerStats, Discount, EmailClaim, Entity as _, GiftCard, GiftCardEntry, Invoice, Order, OrderFlag,
    OrderItem, OrderLine, OrderStatus, Payment, PaymentStatus, Product, ProductStats, Stock, UsernameClaim,
};
use crate::layout::{ENTITY_TYPE, InCustomer, InGiftCard, InOrder, InProduct, Key, PlaceText, Stored};
use crate::value::{
    Category, Currency, CustomerId, DiscountCode, EmailAddress, GiftCardCode, InvoiceId, Money, OrderId, Percent,
    ProductId, Quantity, RequestHash, Timestamp, Username,
};

/// The milliseconds that a [`Timestamp`] holds.
pub(super) const TIMES: Range<i64> = -62_167_219_200_000..253_402_207_200_000;

macro_rules! any_entity {
    ($($kind:ident)+) => {
        /// One entity of any kind.
        #[derive(Clone, Debug, PartialEq)]
        pub(super) enum AnyEntity {
            $($kind($kind)),+
        }

        impl AnyEntity {
            pub(super) fn kind(&self) -> &'static str {
                match self { $(Self::$kind(_) => $kind::TYPE),+ }
            }

            pub(super) fn places(&self) -> &'static [PlaceText] {
                match self { $(Self::$kind(_) => $kind::PLACES),+ }
            }

            /// The key in the table, then those in the indexes.
            pub(super) fn keys(&self) -> Vec<Key> {
                match self { $(Self::$kind(entity) => [vec![entity.key()], entity.index_keys()].concat()),+ }
            }

            /// The item, as it lies in the table.
            pub(super) fn item(&self) -> Item {
                let mut item: Item = match self {
                    $(Self::$kind(entity) => serde_dynamo::to_item(entity).expect("an item")),+
                };
                let text = |text: &str| AttributeValue::S(text.to_owned());
                item.inner_mut().insert(ENTITY_TYPE.to_owned(), text(self.kind()));
                for key in self.keys() {
                    let (partition, sort) = key.index.attributes();
                    item.inner_mut().insert(partition.to_owned(), text(&key.partition));
                    item.inner_mut().insert(sort.to_owned(), text(&key.sort));
                }
                item
            }

            /// What an item is read as, by whoever expects an entity of the same kind as `self`.
            pub(super) fn read_alike(&self, item: Item) -> Self {
                match self { $(Self::$kind(_) => Self::$kind(serde_dynamo::from_item(item).expect("an entity"))),+ }
            }
        }
    };
}

any_entity! {
    Customer CustomerStats EmailClaim UsernameClaim
    Product Stock ProductStats
    Order OrderItem Invoice OrderFlag
    Discount GiftCard GiftCardEntry
}

macro_rules! read_from_collection {
    ($($collection:ident: $($kind:ident)+;)+) => {$(
        impl From<$collection> for Option<AnyEntity> {
            fn from(item: $collection) -> Self {
                match item {
                    $($collection::$kind(entity) => Some(AnyEntity::$kind(entity)),)+
                    $collection::Unknown => None,
                }
            }
        }
    )+};
}

read_from_collection! {
    InCustomer: Customer CustomerStats;
    InProduct: Product Stock ProductStats;
    InOrder: Order OrderItem Invoice OrderFlag;
    InGiftCard: GiftCard GiftCardEntry;
}

/// What entities are made of. [`entities`](Self::entities) makes one of each kind, which then belong together.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    pub(super) customer: CustomerId,
    pub(super) product: ProductId,
    pub(super) order: OrderId,
    pub(super) invoice: InvoiceId,
    pub(super) category: Category,
    pub(super) discount: DiscountCode,
    pub(super) gift_card: GiftCardCode,
    pub(super) email: EmailAddress,
    pub(super) username: Username,
    /// Milliseconds since 1970.
    pub(super) at: i64,
    pub(super) status: OrderStatus,
    pub(super) shard: u8,
    pub(super) text: String,
    pub(super) number: u64,
    pub(super) quantity: Quantity,
    pub(super) percent: Percent,
    pub(super) money: [Money; 3],
    pub(super) moneys: Vec<Money>,
    pub(super) payments: Vec<Payment>,
    pub(super) until: Option<Timestamp>,
}

impl Parts {
    pub(super) fn moment(&self) -> Timestamp {
        moment(self.at)
    }

    /// One entity of each kind.
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
                orders: number,
                spent: self.moneys.clone(),
            }),
            AnyEntity::EmailClaim(EmailClaim { email, customer_id: customer_id() }),
            AnyEntity::UsernameClaim(UsernameClaim { username, customer_id: customer_id() }),
            AnyEntity::Product(Product {
                product_id: product_id(),
                name: text.clone(),
                description: text.clone(),
                category: self.category.clone(),
                price: some,
                initial_stock: self.quantity.get(),
                version: number,
            }),
            AnyEntity::Stock(Stock { product_id: product_id(), available: number, price: some }),
            AnyEntity::ProductStats(ProductStats { product_id: product_id(), orders: number, units: number / 2 }),
            AnyEntity::Order(Order {
                order_id: order_id(),
                customer_id: customer_id(),
                status: self.status,
                placed_at: at,
                version: number,
                subtotal: some,
                discount: more,
                discount_code: self.until.map(|_| self.discount.clone()),
                total: most,
                request_hash: RequestHash::of(text.as_bytes()),
                shard: self.shard,
            }),
            AnyEntity::OrderItem(OrderItem { order_id: order_id(), customer_id: customer_id(), placed_at: at, line }),
            AnyEntity::Invoice(Invoice {
                invoice_id: invoice,
                order_id: order_id(),
                customer_id: customer_id(),
                issued_at: at,
                amount: some,
                payments: self.payments.clone(),
            }),
            AnyEntity::OrderFlag(OrderFlag { order_id: order_id(), reason: text, flagged_at: at }),
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
            AnyEntity::GiftCardEntry(GiftCardEntry { code: gift_card, order_id: order_id(), amount: most, at }),
        ]
    }

    /// These, with the parts that `take` names taken from others.
    pub(super) fn mixed_with(mut self, other: Self, take: [bool; 8]) -> Self {
        let [customer, product, order, invoice, category, discount, gift_card, the_rest] = take;
        if customer {
            self.customer = other.customer;
        }
        if product {
            self.product = other.product;
        }
        if order {
            self.order = other.order;
        }
        if invoice {
            self.invoice = other.invoice;
        }
        if category {
            self.category = other.category;
        }
        if discount {
            self.discount = other.discount;
        }
        if gift_card {
            self.gift_card = other.gift_card;
        }
        if the_rest {
            let Self { email, username, at, status, shard, .. } = other;
            self = Self { email, username, at, status, shard, ..self };
        }
        self
    }
}

pub(super) fn moment(millisecond: i64) -> Timestamp {
    Timestamp::from_millisecond(millisecond).expect("a moment")
}

/// Any moment, in milliseconds: often one of a few neighbours, so that equal and adjacent ones meet.
pub(super) fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![1_795_253_400_000..1_795_253_400_004_i64, TIMES, select(vec![TIMES.start, TIMES.end - 1])]
}

/// Identifiers: often equal, often look like other parts of keys, sometimes as long as can be.
fn any_id<T: std::str::FromStr<Err: std::fmt::Debug> + std::fmt::Debug>() -> impl Strategy<Value = T> {
    let confusing =
        select(vec!["stats", "stock", "flag", "flagged", "cart", "o", "p", "i", "c", "-", "_", "PENDING", "0"]);
    prop_oneof!["[ab]{1,2}", confusing.prop_map(str::to_owned), "[A-Za-z0-9_-]{1,64}", "[A-Za-z0-9_-]{64}"]
        .prop_map(|text| text.parse().expect("an identifier"))
}

fn any_email() -> impl Strategy<Value = EmailAddress> {
    let longest = ("[a-z]{64}", "[a-z]{63}\\.[a-z]{63}\\.[a-z]{63}\\.[a-z]{62}")
        .prop_map(|(name, host)| format!("{name}@{host}"));
    prop_oneof!["[aAbB]{1,2}@[ab]\\.de", "[a-zA-Z0-9~ÄéİȺ]{1,16}@[a-z]{1,8}\\.[a-z]{2,3}", longest]
        .prop_map(|text| text.parse().expect("an address"))
}

fn any_money() -> impl Strategy<Value = Money> {
    (0..1_i64 << 53, "[A-Z]{3}").prop_map(|(amount, currency)| {
        Money::new(amount, Currency::try_from(currency).expect("a currency")).expect("an amount")
    })
}

fn any_payment() -> impl Strategy<Value = Payment> {
    let status = select(vec![PaymentStatus::Authorized, PaymentStatus::Captured, PaymentStatus::Refunded]);
    (option::of(any_id()), any_money(), status).prop_map(|(code, amount, status)| match code {
        Some(code) => Payment::GiftCard { code, amount, status },
        None => Payment::Card { amount, status },
    })
}

fn any_status() -> impl Strategy<Value = OrderStatus> {
    use OrderStatus::{Cancelled, Delivered, Paid, Pending, Shipped};
    select(vec![Pending, Paid, Shipped, Delivered, Cancelled])
}

/// Any parts.
pub(super) fn any_parts() -> impl Strategy<Value = Parts> {
    let ids = (any_id(), any_id(), any_id::<OrderId>(), any_id(), any_id(), any_id());
    let who = (any_email(), prop_oneof!["[aAbB]", "[A-Za-z0-9._-]{1,64}"], any_time(), any_status(), any::<u8>());
    let numbers = ("(?s).{0,12}", any::<u64>(), 1..=10_000_i64, 1..=100_i64, option::of(any_time()));
    let money = ([any_money(), any_money(), any_money()], vec(any_money(), 0..3), vec(any_payment(), 0..3));
    (ids, who, numbers, money).prop_map(|(ids, who, numbers, money)| {
        let (customer, product, order, category, discount, gift_card) = ids;
        let (email, username, at, status, shard) = who;
        let (text, number, quantity, percent, until) = numbers;
        let (money, moneys, payments) = money;
        Parts {
            invoice: InvoiceId::of(&order),
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
            text,
            number,
            money,
            moneys,
            payments,
        }
    })
}

/// Any entity.
pub(super) fn any_entity() -> impl Strategy<Value = AnyEntity> {
    (any_parts(), any::<Pick>()).prop_map(|(parts, pick)| {
        let mut entities = parts.entities();
        entities.swap_remove(pick.index(entities.len()))
    })
}
