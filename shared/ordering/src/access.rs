//! What placing and changing orders asks of the table and of the queue.

use key_schema::access::Access;
use key_schema::entity::{
    Cart, Customer, CustomerAddresses, CustomerStats, Discount, GiftCard, GiftCardEntry, Guest, Invoice, Order,
    OrderAddress, OrderItem, PaymentDue, Product, QueuedOrder, Return, Shipment, ShippingRates, Stock, StockCell,
    Taxes,
};
use key_schema::layout::{OrderById, OrdersOfStatus, PaymentsDue};
use lambda::Grant;

/// The mark of a payment that becomes due or lapses, or that does neither any more.
const MARK: [Access; 2] =
    [Access::put::<PaymentDue>().in_transactions(), Access::delete::<PaymentDue>().in_transactions()];

/// A snapshot of the items that a refusal or an answer is built on.
const SNAPSHOT: [Access; 2] = [Access::transact_get::<Order>(), Access::transact_get::<Invoice>()];

/// Placing an order ([`Orders::place`](crate::Orders::place)).
pub const PLACE: &[Access] = &[
    Access::batch_get::<Customer>(),
    Access::batch_get::<CustomerAddresses>(),
    Access::batch_get::<CustomerStats>(),
    Access::batch_get::<Discount>(),
    Access::batch_get::<GiftCard>(),
    Access::batch_get::<Order>(),
    Access::batch_get::<Product>(),
    Access::batch_get::<QueuedOrder>(),
    Access::batch_get::<ShippingRates>(),
    Access::batch_get::<Stock>(),
    Access::batch_get::<StockCell>(),
    Access::batch_get::<Taxes>(),
    Access::query::<OrderById>(),
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

/// Answering what an order would cost ([`Quotes::of`](crate::Quotes::of)).
pub const QUOTE: &[Access] = &[
    Access::batch_get::<Cart>(),
    Access::batch_get::<Customer>(),
    Access::batch_get::<CustomerAddresses>(),
    Access::batch_get::<CustomerStats>(),
    Access::batch_get::<Discount>(),
    Access::batch_get::<GiftCard>(),
    Access::batch_get::<Product>(),
    Access::batch_get::<ShippingRates>(),
    Access::batch_get::<Stock>(),
    Access::batch_get::<StockCell>(),
    Access::batch_get::<Taxes>(),
    Access::transact_get::<Stock>(),
    Access::transact_get::<StockCell>(),
];

/// Placing an order of a customer, besides [`PLACE`].
pub const PLACE_FOR_CUSTOMER: &[Access] =
    &[Access::batch_get::<Cart>(), Access::check::<Customer>(), Access::update::<Cart>().in_transactions()];

/// Placing an order of a guest, besides [`PLACE`].
pub const PLACE_FOR_GUEST: &[Access] =
    &[Access::batch_get::<Guest>(), Access::update::<Guest>().in_transactions(), Access::check::<Guest>()];

/// Placing an order that waited, refusing it, or marking it as delayed ([`Orders::delay`](crate::Orders::delay)). The mark
/// is written outside of a transaction.
pub const PLACE_WAITING: &[Access] =
    &[Access::check::<QueuedOrder>(), Access::check::<Order>(), Access::update::<QueuedOrder>()];

/// Cancelling an order ([`Lifecycle::cancel`](crate::Lifecycle::cancel)).
pub const CANCEL: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::update::<Order>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<Discount>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
    MARK[0],
    MARK[1],
];

/// Starting a payment, and recording what the payment provider reports
/// ([`Lifecycle::start_payment`](crate::Lifecycle::start_payment),
/// [`Lifecycle::report_payment`](crate::Lifecycle::report_payment)).
pub const REPORT_PAYMENT: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::update::<Order>().in_transactions(),
    Access::update::<Invoice>(),
    MARK[0],
    MARK[1],
];

/// Cancelling the orders that were not paid in time ([`Lifecycle::expire`](crate::Lifecycle::expire),
/// [`Lifecycle::expire_lapsed`](crate::Lifecycle::expire_lapsed)). It shows no order to anybody, and so needs no snapshot.
pub const EXPIRE: &[Access] = &[
    Access::query::<OrdersOfStatus>(),
    Access::query::<PaymentsDue>(),
    Access::query::<OrderById>(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<Discount>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
    MARK[0],
    MARK[1],
];

/// Requesting a return ([`Lifecycle::request_return`](crate::Lifecycle::request_return)).
pub const REQUEST_RETURN: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::put::<Return>().in_transactions(),
    Access::update::<Order>().in_transactions(),
];

/// Receiving or refusing a return ([`Lifecycle::receive_return`](crate::Lifecycle::receive_return)).
pub const RECEIVE_RETURN: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::update::<Order>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Return>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
    MARK[0],
];

/// Packing, shipping and delivering an order ([`Lifecycle::advance`](crate::Lifecycle::advance)).
pub const ADVANCE: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::update::<Order>(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Shipment>().in_transactions(),
    MARK[0],
];

/// Shipping units of an order ([`Lifecycle::ship_items`](crate::Lifecycle::ship_items)).
pub const SHIP_ITEMS: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::put::<Shipment>().in_transactions(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    MARK[0],
];

/// Recording that a shipment was delivered ([`Lifecycle::deliver_shipment`](crate::Lifecycle::deliver_shipment)).
pub const DELIVER_SHIPMENT: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::update::<Order>().in_transactions(),
    Access::update::<Shipment>().in_transactions(),
];

/// Recording a payment ([`Lifecycle::capture`](crate::Lifecycle::capture)).
pub const CAPTURE: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::update::<Order>().in_transactions(),
    Access::update::<Invoice>(),
    MARK[0],
];

/// Recording a refund ([`Lifecycle::confirm_refund`](crate::Lifecycle::confirm_refund)).
pub const REFUND: &[Access] = &[
    Access::query::<OrderById>(),
    SNAPSHOT[0],
    SNAPSHOT[1],
    Access::update::<Invoice>().in_transactions(),
    MARK[0],
    MARK[1],
];

/// Sending an order that waits ([`Intake`](crate::Intake)), and asking how many wait
/// ([`WaitingRoom`](crate::WaitingRoom)).
pub const ENQUEUE: Grant = Grant::new(&["sqs:GetQueueAttributes", "sqs:SendMessage"], "WriteQueue");
