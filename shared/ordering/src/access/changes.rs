//! What each change of an order asks of the table, in any state: written by `cargo renew`.

use key_schema::access::Access;
use key_schema::entity::{Discount, GiftCard, GiftCardEntry, Invoice, Order, PaymentDue, Return, Shipment, Stock};
use key_schema::layout::ORDER_BY_ID;

/// [`Transition::Advance`](crate::steps::Transition::Advance).
pub const ADVANCE: &[Access] = &[
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>(),
    Access::update::<Shipment>().in_transactions(),
];

/// [`Transition::Allow`](crate::steps::Transition::Allow).
pub const ALLOW: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>().in_transactions(),
];

/// [`Transition::Cancel`](crate::steps::Transition::Cancel).
pub const CANCEL: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Discount>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
];

/// [`Transition::CancelUnits`](crate::steps::Transition::CancelUnits).
pub const CANCEL_UNITS: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Discount>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
];

/// [`Transition::Capture`](crate::steps::Transition::Capture).
pub const CAPTURE: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Discount>().in_transactions(),
    Access::update::<Invoice>(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
];

/// [`Transition::ConfirmRefund`](crate::steps::Transition::ConfirmRefund).
pub const CONFIRM_REFUND: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Invoice>().in_transactions(),
];

/// [`Transition::DeliverShipment`](crate::steps::Transition::DeliverShipment).
pub const DELIVER_SHIPMENT: &[Access] = &[
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Shipment>().in_transactions(),
];

/// [`Transition::Expire`](crate::steps::Transition::Expire).
pub const EXPIRE: &[Access] = &[
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::update::<Discount>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
];

/// [`Transition::ExpireLapsed`](crate::steps::Transition::ExpireLapsed).
pub const EXPIRE_LAPSED: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::update::<Discount>().in_transactions(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
];

/// [`Transition::FailCommand`](crate::steps::Transition::FailCommand).
pub const FAIL_COMMAND: &[Access] = &[
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Invoice>().in_transactions(),
];

/// [`Transition::ObservePayment`](crate::steps::Transition::ObservePayment).
pub const OBSERVE_PAYMENT: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Discount>().in_transactions(),
    Access::update::<Invoice>(),
    Access::update::<Order>(),
    Access::update::<Stock>().in_transactions(),
];

/// [`Transition::ReceiveReturn`](crate::steps::Transition::ReceiveReturn).
pub const RECEIVE_RETURN: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<GiftCard>().in_transactions(),
    Access::update::<GiftCardEntry>().in_transactions(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>().in_transactions(),
    Access::update::<Return>().in_transactions(),
    Access::update::<Stock>().in_transactions(),
];

/// [`Transition::RequestCapture`](crate::steps::Transition::RequestCapture).
pub const REQUEST_CAPTURE: &[Access] = &[
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Invoice>().in_transactions(),
];

/// [`Transition::RequestReturn`](crate::steps::Transition::RequestReturn).
pub const REQUEST_RETURN: &[Access] = &[
    Access::put::<Return>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Order>().in_transactions(),
];

/// [`Transition::ShipItems`](crate::steps::Transition::ShipItems).
pub const SHIP_ITEMS: &[Access] = &[
    Access::put::<PaymentDue>().in_transactions(),
    Access::put::<Shipment>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Invoice>().in_transactions(),
    Access::update::<Order>().in_transactions(),
];

/// [`Transition::StartPayment`](crate::steps::Transition::StartPayment).
pub const START_PAYMENT: &[Access] = &[
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Invoice>(),
];

/// [`Transition::WriteOff`](crate::steps::Transition::WriteOff).
pub const WRITE_OFF: &[Access] = &[
    Access::delete::<PaymentDue>().in_transactions(),
    Access::put::<PaymentDue>().in_transactions(),
    Access::query(ORDER_BY_ID),
    Access::transact_get::<Invoice>(),
    Access::transact_get::<Order>(),
    Access::update::<Invoice>().in_transactions(),
];
