//! The record of an order, with its lines, invoice, payments, credits and returns.
//!
//! The record has what cannot be computed. Sums, credited amounts and the states of gift cards follow from it by the
//! functions of the key schema that the shop itself uses.

use std::collections::BTreeMap;

use key_schema::entity::{
    Address, CancellationCause, ChosenMethod, Dispute, LineTax, NewAddress, OrderStatus, PastAddress, Progress,
    ReturnStatus,
};
use key_schema::value::{
    Attributes, CustomerId, DiscountCode, GiftCardCode, IntentId, InvoiceId, InvoiceNumber, Money, Name, OrderId,
    ProductId, Quantity, RequestHash, ReturnId, ShipmentId, Timestamp, WebPage,
};
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use super::record::{ImageRecord, given, given_if_any};

/// An order.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OrderRecord {
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub status: OrderStatus,
    pub placed_at: Timestamp,
    /// The time of the last change. If absent: the latest time in the record.
    pub changed_at: Option<Timestamp>,
    /// The number of times the order was written.
    #[serde(default = "one")]
    pub version: u64,
    /// 1 to 200 lines of an order that is `DELIVERED` or `CANCELLED`, 1 to 40 of another one. The lines of one product
    /// become one line.
    #[schema(min_items = 1, max_items = 200)]
    pub lines: Vec<LineRecord>,
    /// The amount that the discount codes took off. If absent: nothing.
    pub discount: Option<Money>,
    /// The discount codes, in the order in which they applied. Their amounts add up to at most the discount. At most 3.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 3)]
    pub codes: Vec<CodeRecord>,
    /// The price of shipping. If absent: nothing.
    pub shipping: Option<Money>,
    /// The method by which the order was shipped.
    pub shipping_method: Option<ChosenMethod>,
    /// The tax of shipping. If absent: none.
    pub shipping_tax: Option<LineTax>,
    /// The sum of the lines less the discount, plus the shipping, with the taxes that come on top. The payments must add up
    /// to it.
    pub total: Money,
    /// The address to which the order was shipped.
    #[serde(default, deserialize_with = "given_if_any::<PastAddress, _, _>")]
    #[schema(value_type = Option<NewAddress>)]
    pub ship_to: Option<Address>,
    /// The gift cards that paid, in this order. At most 4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 4)]
    pub gift_cards: Vec<GiftCardUse>,
    /// The payment of the rest, by card or by bank transfer.
    pub card: Option<CardRecord>,
    /// If absent: `inv-` and the order's id.
    pub invoice_id: Option<InvoiceId>,
    /// The number of the invoice, which it keeps. If absent: none, and Till gives it none.
    pub invoice_number: Option<InvoiceNumber>,
    /// The time of the invoice. If absent: `placedAt`.
    pub issued_at: Option<Timestamp>,
    /// Whether the order may stay unpaid for days.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pay_later: bool,
    /// Exactly if the status is `CANCELLED`.
    pub cancellation: Option<CancellationRecord>,
    /// Only if the status is `DELIVERED`.
    pub delivered_at: Option<Timestamp>,
    /// The units that were cancelled or returned while the rest of the order went on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<UnitsRecord>,
    /// The money that was given back without units, the oldest first. At most 20, and one for shipping.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 21)]
    pub allowances: Vec<AllowanceRecord>,
    /// The returns of a delivered order. At most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub returns: Vec<ReturnRecord>,
    /// The shipments. At most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub shipments: Vec<ShipmentRecord>,
    pub flag: Option<FlagRecord>,
    /// Whether the customer was erased, so that the order takes no texts any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// The time since which the shop has to act on the payment, or since which the payment lapsed. If absent: `changedAt`.
    pub due_since: Option<Timestamp>,
    /// The hash of the request that placed the order in another table of Till, by which a repeated request is recognised.
    pub request_hash: Option<String>,
}

/// A line, at the price of the day.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct LineRecord {
    pub product_id: ProductId,
    /// The product's name when it was ordered.
    #[serde(deserialize_with = "given::<Name, _, _>")]
    #[schema(value_type = Name)]
    pub name: String,
    pub quantity: Quantity,
    pub unit_price: Money,
    /// What the discount codes took off the line. If absent from all lines, the discount was spread evenly over them.
    pub discount: Option<Money>,
    /// The tax of the line. If absent: none.
    pub tax: Option<LineTax>,
    /// The first image of the product when it was ordered.
    pub image: Option<ImageRecord>,
    /// The attributes of the product when it was ordered.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "given::<Attributes, _, _>")]
    #[schema(value_type = Attributes)]
    pub attributes: BTreeMap<String, String>,
}

/// A discount code, with what it took off the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CodeRecord {
    pub code: DiscountCode,
    pub amount: Money,
}

/// Some units of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UnitsRecord {
    pub product_id: ProductId,
    pub quantity: Quantity,
}

/// Money that was given back without units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct AllowanceRecord {
    /// The hash of the idempotency key: any SHA-256 in base64url. Absent if the money is the price of shipping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, value_type = Option<String>)]
    pub key: Option<RequestHash>,
    /// In minor units.
    #[schema(minimum = 1)]
    pub amount: i64,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "given_if_any::<Name, _, _>")]
    #[schema(value_type = Option<Name>)]
    pub reason: Option<String>,
    pub at: Timestamp,
}

/// The amount that an order took from a gift card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GiftCardUse {
    pub code: GiftCardCode,
    pub amount: Money,
}

/// A payment by card or by bank transfer.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CardRecord {
    pub amount: Money,
    /// The payment that came without the provider: by bank transfer, or in another shop.
    pub transfer: Option<TransferRecord>,
    /// The payment at the provider, if it was made there.
    pub provider: Option<ProviderRecord>,
    /// Whether the order was cancelled because it was not paid in time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
    /// The amount that staff decided to go without, in minor units.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(minimum = 0)]
    pub written_off: i64,
    /// The refunds that staff made without the provider, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refunds: Vec<TransferRecord>,
}

/// Money that came or went without the provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TransferRecord {
    /// The bank's reference.
    #[serde(deserialize_with = "given::<Name, _, _>")]
    #[schema(value_type = Name)]
    pub reference: String,
    /// The amount, in minor units.
    #[schema(minimum = 0)]
    pub amount: i64,
}

/// A payment at the provider, and what the provider held of it. Amounts are in minor units.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProviderRecord {
    pub intent: IntentId,
    #[schema(minimum = 1)]
    pub attempt: u32,
    /// The amount of the intent, if it is not the whole payment.
    #[schema(minimum = 0)]
    pub amount: Option<i64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub capture_requested: bool,
    /// Whether the goods are shipped and the capture is left to staff.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_capture: bool,
    /// The number of refunds that the provider was asked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(minimum = 0)]
    pub refund: u32,
    /// The amount of the refund that is under way.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(minimum = 0)]
    pub refunding: i64,
    /// The provider's code for why it refuses to refund.
    pub refused: Option<String>,
    pub progress: Progress,
    #[serde(default)]
    #[schema(minimum = 0)]
    pub captured: i64,
    #[serde(default)]
    #[schema(minimum = 0)]
    pub refunded: i64,
    /// The sum of the refunds that failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(minimum = 0)]
    pub failed: i64,
    /// The amount that the customer's bank took back.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[schema(minimum = 0)]
    pub disputed: i64,
    pub dispute: Option<Dispute>,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

/// The cancellation of an order.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CancellationRecord {
    pub at: Timestamp,
    #[serde(default, deserialize_with = "given_if_any::<Name, _, _>")]
    #[schema(value_type = Option<Name>)]
    pub reason: Option<String>,
    pub cause: Option<CancellationCause>,
}

/// A return.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ReturnRecord {
    /// `ret-`, the order's id, `-`, and anything.
    pub return_id: ReturnId,
    pub lines: Vec<UnitsRecord>,
    #[serde(default, deserialize_with = "given_if_any::<Name, _, _>")]
    #[schema(value_type = Option<Name>)]
    pub reason: Option<String>,
    pub requested_at: Timestamp,
    pub status: ReturnStatus,
    /// Exactly if the return is not `requested` any more.
    pub closed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restocked: bool,
    /// The amount credited, exactly if the return is `received`.
    pub amount: Option<Money>,
    #[serde(default, deserialize_with = "given_if_any::<Name, _, _>")]
    #[schema(value_type = Option<Name>)]
    pub refusal: Option<String>,
}

/// A shipment.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ShipmentRecord {
    /// `shp-`, the order's id, `-`, and anything.
    pub shipment_id: ShipmentId,
    pub lines: Vec<UnitsRecord>,
    #[serde(deserialize_with = "given::<Name, _, _>")]
    #[schema(value_type = Name)]
    pub carrier: String,
    #[serde(default, deserialize_with = "given_if_any::<Name, _, _>")]
    #[schema(value_type = Option<Name>)]
    pub tracking_number: Option<String>,
    #[serde(default, deserialize_with = "given_if_any::<WebPage, _, _>")]
    #[schema(value_type = Option<WebPage>)]
    pub tracking_url: Option<String>,
    pub shipped_at: Timestamp,
    pub delivered_at: Option<Timestamp>,
}

/// A flag by which staff look at the order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FlagRecord {
    #[serde(deserialize_with = "given::<Name, _, _>")]
    #[schema(value_type = Name)]
    pub reason: String,
    pub flagged_at: Timestamp,
}

fn one() -> u64 {
    1
}
