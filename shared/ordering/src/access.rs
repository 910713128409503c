//! What placing and changing orders asks of the table and of the queue.

/// Lists of accesses: what a change does alone, and after the semicolon what it does in transactions only. Each change reads
/// the order.
macro_rules! changes {
    ($($change:ident = $list:ident { $($verb:ident($($item:ident)+))* ; $($way:ident($($part:ident)+))* })+) => {$(
        #[doc = concat!("[`Transition::", stringify!($change), "`](crate::steps::Transition::", stringify!($change), ").")]
        pub const $list: &[Access] = &[
            Access::query(ORDER_BY_ID),
            $($(Access::$verb::<$item>(),)+)*
            $($(Access::$way::<$part>().in_transactions(),)+)*
        ];
    )+};
}

mod changes;

use key_schema::access::{Access, GUESTS};
use key_schema::entity::{
    Cart, Customer, CustomerAddresses, CustomerStats, Discount, GiftCard, GiftCardEntry, Guest, Invoice, Order,
    OrderAddress, OrderItem, Product, QueuedOrder, ShippingRates, Stock, StockCell, Taxes,
};
use key_schema::layout::ORDER_BY_ID;
use lambda::Grant;

pub use changes::*;

/// Placing an order ([`Orders::place`](crate::Orders::place)).
pub const PLACE: &[Access] = &[
    Access::batch_get::<Discount>(),
    Access::batch_get::<GiftCard>(),
    Access::batch_get::<Order>(),
    Access::batch_get::<Product>(),
    Access::batch_get::<QueuedOrder>(),
    Access::batch_get::<ShippingRates>(),
    Access::batch_get::<Stock>(),
    Access::batch_get::<StockCell>(),
    Access::batch_get::<Taxes>(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Order>(),
    Access::transact_get::<QueuedOrder>(),
    Access::transact_get::<Stock>(),
    Access::transact_get::<StockCell>(),
    Access::put::<Order>().in_transactions(),
    Access::put::<OrderItem>().in_transactions(),
    Access::put::<OrderAddress>().in_transactions(),
    Access::put::<Invoice>().in_transactions(),
    Access::put::<GiftCardEntry>().in_transactions(),
    Access::update::<Discount>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
    Access::update::<StockCell>().in_transactions(),
];

/// Answering what an order without codes would cost ([`Quotes::for_anybody`](crate::Quotes::for_anybody)).
pub const QUOTE: &[Access] = &[
    Access::batch_get::<Product>(),
    Access::batch_get::<ShippingRates>(),
    Access::batch_get::<Stock>(),
    Access::batch_get::<StockCell>(),
    Access::batch_get::<Taxes>(),
];

/// Answering what an order with discount codes would cost, besides [`QUOTE`].
pub const QUOTE_CODES: &[Access] = &[Access::batch_get::<Discount>()];

/// Answering what an order of a customer would cost ([`Quotes::for_customer`](crate::Quotes::for_customer)), besides
/// [`QUOTE`].
pub const QUOTE_FOR_CUSTOMER: &[Access] = &[
    Access::batch_get::<Cart>(),
    Access::batch_get::<Customer>(),
    Access::batch_get::<CustomerAddresses>(),
    Access::batch_get::<CustomerStats>(),
    Access::batch_get::<GiftCard>(),
    Access::transact_get::<Stock>(),
    Access::transact_get::<StockCell>(),
];

/// Placing an order of a customer, besides [`PLACE`].
pub const PLACE_FOR_CUSTOMER: &[Access] = &[
    Access::batch_get::<Cart>(),
    Access::batch_get::<Customer>(),
    Access::batch_get::<CustomerAddresses>(),
    Access::batch_get::<CustomerStats>(),
    Access::check::<Customer>(),
    Access::update::<Cart>().in_transactions(),
];

/// Placing an order of a guest, besides [`PLACE`]. Nobody proved who the guest is, so it touches nothing of a customer.
pub const PLACE_FOR_GUEST: &[Access] = &[
    Access::batch_get::<CustomerAddresses>().of_partitions(GUESTS),
    Access::batch_get::<CustomerStats>().of_partitions(GUESTS),
    Access::batch_get::<Guest>().of_partitions(GUESTS),
    Access::update::<Guest>().of_partitions(GUESTS).in_transactions(),
    Access::check::<Guest>().of_partitions(GUESTS),
];

/// Placing an order that waited, refusing it, or marking it as delayed ([`Orders::delay`](crate::Orders::delay)). The mark
/// is written outside of a transaction.
pub const PLACE_WAITING: &[Access] =
    &[Access::check::<QueuedOrder>(), Access::check::<Order>(), Access::update::<QueuedOrder>()];

/// Asking how many orders wait ([`WaitingRoom`](crate::WaitingRoom)).
pub const SEE_WAITING_ROOM: Grant = Grant::new(&["sqs:GetQueueAttributes"], "WriteQueue");

/// Sending an order that waits ([`Intake`](crate::Intake)), and asking how many wait
/// ([`WaitingRoom`](crate::WaitingRoom)).
pub const ENQUEUE: Grant = Grant::new(&["sqs:GetQueueAttributes", "sqs:SendMessage"], "WriteQueue");
