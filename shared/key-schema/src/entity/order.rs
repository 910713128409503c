//! Orders, their lines and their flags.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::value::{
    CustomerId, DiscountCode, LinePosition, Money, OrderId, ProductId, Quantity, RequestHash, Timestamp,
};

use super::credit::{net_amounts, shares};
use super::{
    Allowance, ChosenMethod, CodeUse, Credit, LineTax, LineUnits, OrderStatus, ProductImage, RateTax, ReturnStatus,
    ShipmentStatus, tax,
};

#[cfg(test)]
pub(super) mod tests;

/// An order's header. `total` is `subtotal` less `discount`, plus `shipping`, and `tax` more if the prices do not include it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Order {
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub status: OrderStatus,
    pub placed_at: Timestamp,
    /// The time at which the order was placed, or its status or credits were last written. Its counts have not changed since.
    pub changed_at: Timestamp,
    /// The number of times the header was written.
    pub version: u64,
    /// The sum of the lines.
    pub subtotal: Money,
    /// The amount that the discount codes take off.
    pub discount: Money,
    /// The discount codes, in the order in which they apply. If there are any, their amounts add up to the discount, or to
    /// a part of that of an imported order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub codes: Vec<CodeUse>,
    /// The tax of the lines and of shipping that comes on top of the prices. Absent if the prices include the tax, or if there is none.
    pub tax: Option<Money>,
    /// The price of shipping. Absent if the order has no address, or the shop had no shipping rates. Credits never contain
    /// it: a cancellation of the whole order gives it back, or an allowance.
    pub shipping: Option<Money>,
    /// The method by which the order is shipped. Absent without a price of shipping.
    pub shipping_method: Option<ChosenMethod>,
    /// The tax of shipping. Absent if there is none.
    pub shipping_tax: Option<LineTax>,
    /// The amount to pay.
    pub total: Money,
    /// The hash of the request, which distinguishes a repeated request from a different one with the same key.
    pub request_hash: RequestHash,
    /// The number of lines, which detects a read that saw only a part of the transaction that placed the order.
    pub line_count: u8,
    /// The number of units of all lines together.
    pub units: u32,
    /// Whether the order may stay unpaid for days instead of minutes: its customer pays by bank transfer, for example.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pay_later: bool,
    /// Whether the order has an [address](super::OrderAddress), which detects a read that saw only a part of the
    /// transaction that placed the order. Whoever deletes the address removes this attribute in the same transaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_address: bool,
    /// The order's shard in the list of its status. It is stored so that a change of the number of shards moves no
    /// order.
    pub shard: u8,
    /// The cancellation, if the order is cancelled.
    pub cancellation: Option<Cancellation>,
    /// The units that were cancelled or returned while the rest of the order goes on, with the money for them. At most
    /// one entry for each line, sorted like the lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credits: Vec<Credit>,
    /// The money that was given back without units, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowances: Vec<Allowance>,
    /// The units in open returns. At most one entry for each line. Together with the credited units, they never exceed
    /// the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub returning: Vec<LineUnits>,
    /// The statuses of the returns, the oldest return first. They detect a read that saw only a part of the transaction that
    /// requested or closed one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub return_statuses: Vec<ReturnStatus>,
    /// The units in shipments. At most one entry for each line. Together with the cancelled units, they never exceed the
    /// line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shipped: Vec<LineUnits>,
    /// The statuses of the shipments, the oldest shipment first. They detect a read that saw only a part of the transaction
    /// that made or delivered one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shipment_statuses: Vec<ShipmentStatus>,
    /// The time at which the order was delivered. Absent before that.
    pub delivered_at: Option<Timestamp>,
    /// The time at which `cargo local import` wrote the order, if it was placed in another shop or table. Such an order
    /// is counted, and has no event of its placing.
    pub imported_at: Option<Timestamp>,
    /// Whether the order's customer was erased. From then on no text that somebody wrote about the order is stored:
    /// [`text`](Self::text).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
    /// The request that placed the order or changed it last, by the gateway's id, or the invocation that did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Order {
    /// The most returns of one order, open or closed.
    pub const MOST_RETURNS: usize = 20;

    /// The most allowances of one order, without that of shipping.
    pub const MOST_ALLOWANCES: usize = 20;

    /// The most shipments of one order.
    pub const MOST_SHIPMENTS: usize = 20;

    /// An order of one unit that was just placed at this price. It waits for its payment, and nothing is taken off or comes
    /// on top. Of a new field, this says what an order without it has.
    pub fn new(order_id: OrderId, customer_id: CustomerId, placed_at: Timestamp, total: Money) -> Self {
        Self {
            order_id,
            customer_id,
            status: OrderStatus::Pending,
            placed_at,
            changed_at: placed_at,
            version: 1,
            subtotal: total,
            discount: Money::zero(total.currency()),
            codes: Vec::new(),
            tax: None,
            shipping: None,
            shipping_method: None,
            shipping_tax: None,
            total,
            request_hash: RequestHash::of(b""),
            line_count: 1,
            units: 1,
            pay_later: false,
            has_address: false,
            shard: 0,
            cancellation: None,
            credits: Vec::new(),
            allowances: Vec::new(),
            returning: Vec::new(),
            return_statuses: Vec::new(),
            shipped: Vec::new(),
            shipment_statuses: Vec::new(),
            delivered_at: None,
            imported_at: None,
            erased: false,
            request_id: None,
        }
    }

    /// What an item of the order stores of a text of a request: nothing if the order is [erased](Self::erased). Every step
    /// that stores or compares a text takes it from here. It writes the header on condition of its version, so no text
    /// comes after the erasure.
    pub fn text(&self, text: Option<&str>) -> Option<String> {
        text.filter(|_| !self.erased).map(str::to_owned)
    }

    /// Whether its units and its uses of codes count among those that unpaid guests hold: `heldByGuests`.
    pub fn is_held_by_guest(&self) -> bool {
        self.status == OrderStatus::Pending && self.customer_id.is_guest() && self.imported_at.is_none()
    }

    /// The units of this line of the order that guests hold unpaid.
    pub fn held_units(&self, line: &OrderLine) -> u32 {
        let left = line.quantity.get().saturating_sub(self.credited_units(&line.product_id));
        if self.is_held_by_guest() { left } else { 0 }
    }

    /// The discount codes of which this order counts as a use.
    pub fn counted_codes(&self) -> impl Iterator<Item = &DiscountCode> {
        self.codes.iter().filter(|used| used.counted).map(|used| &used.code)
    }

    /// The time at which the order came into this table: it was placed or imported. It was not counted before.
    pub fn entry(&self) -> Timestamp {
        self.imported_at.unwrap_or(self.placed_at)
    }

    /// The credited units of a product.
    pub fn credited_units(&self, product: &ProductId) -> u32 {
        self.credits.iter().find(|credit| credit.product_id == *product).map_or(0, |credit| credit.units)
    }

    /// The units of a product in open returns.
    pub fn returning_units(&self, product: &ProductId) -> u32 {
        self.returning.iter().find(|line| line.product_id == *product).map_or(0, |line| line.quantity.get())
    }

    /// The taxes of the order, which has these lines: a rate each, the lowest first.
    pub fn taxes(&self, lines: &[OrderLine]) -> Vec<RateTax> {
        tax::by_rate(lines, self.discount, self.shipping.zip(self.shipping_tax))
    }

    /// The amount of each of its lines less the line's share of the discount, in minor units.
    pub fn net_amounts(&self, lines: &[OrderLine]) -> Vec<i64> {
        net_amounts(lines, self.discount)
    }

    /// The units of a product in shipments.
    pub fn shipped_units(&self, product: &ProductId) -> u32 {
        self.shipped.iter().find(|line| line.product_id == *product).map_or(0, |line| line.quantity.get())
    }

    /// The sum of all credits and allowances, in minor units. It never falls, and is at most the total.
    pub fn credited(&self) -> i64 {
        self.of_units() + self.allowed()
    }

    fn of_units(&self) -> i64 {
        self.credits.iter().map(|credit| credit.amount).sum()
    }

    /// What the allowances give back, in minor units: their sum, or what the credited units leave of the total. So the
    /// customer has no more than the total, also if units are returned after an allowance.
    pub fn allowed(&self) -> i64 {
        let sum: i64 = self.allowances.iter().map(|allowance| allowance.amount).sum();
        sum.min(self.total.amount() - self.of_units()).max(0)
    }

    /// The price of shipping with the tax on top of it, in minor units, if it was not given back.
    pub fn shipping_left(&self) -> Option<i64> {
        let price = self.shipping?.amount() + self.shipping_tax.map_or(0, LineTax::on_top);
        let is_left = price > 0 && self.allowances.iter().all(|allowance| allowance.key.is_some());
        is_left.then_some(price)
    }

    /// The taxes in what is credited of the order, which has these lines: a rate each, the lowest first. Units have the
    /// rates of their lines, and allowances are spread over what is left of all rates.
    pub fn credited_taxes(&self, lines: &[OrderLine]) -> Vec<RateTax> {
        let rates = self.taxes(lines);
        let of_rate = |rate| {
            let of_rate = |credit: &&Credit| {
                lines
                    .iter()
                    .any(|line| line.product_id == credit.product_id && line.tax.is_some_and(|tax| tax.rate == rate))
            };
            self.credits.iter().filter(of_rate).map(|credit| credit.amount).sum::<i64>()
        };
        let units: Vec<i64> = rates.iter().map(|it| of_rate(it.rate)).collect();
        let paid = rates.iter().map(|it| it.net.amount() + it.tax.amount());
        let left: Vec<i64> = paid.zip(&units).map(|(paid, units)| paid - units).collect();
        let allowed = shares(Money::nearest(self.allowed(), self.total.currency()), &left);
        let credited =
            rates.iter().zip(units.iter().zip(allowed)).map(|(it, (units, allowed))| it.part(units + allowed));
        credited.filter(|it| !it.net.is_zero() || !it.tax.is_zero()).collect()
    }

    /// The amount that the customer pays for the units that are left, in minor units.
    pub fn net_total(&self) -> i64 {
        self.total.amount() - self.credited()
    }
}

/// The cancellation of an order.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancellation {
    /// The time of the cancellation.
    pub at: Timestamp,
    /// The reason in words, if one was given.
    pub reason: Option<String>,
    /// The person or process that cancelled the order. Absent if another shop cancelled it, before it was imported.
    #[schema(nullable = false)]
    pub cause: Option<CancellationCause>,
}

/// The person or process that cancelled an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum CancellationCause {
    /// The customer.
    Customer,
    /// The shop's staff.
    Staff,
    /// The shop itself, because the order was not paid in time.
    Unpaid,
}

/// One line of an order: a snapshot of the product when it was ordered. Later changes of the product do not affect it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderLine {
    /// The product.
    pub product_id: ProductId,
    /// The product's name when it was ordered.
    pub name: String,
    /// The number of units.
    pub quantity: Quantity,
    /// The product's price when it was ordered.
    pub unit_price: Money,
    /// `quantity` times `unitPrice`.
    pub amount: Money,
    /// What the discount codes take off the line, if the order has several codes or one of a category. Otherwise, the
    /// discount is spread evenly over the lines.
    #[schema(nullable = false)]
    pub discount: Option<Money>,
    /// The tax of the line. Absent if the shop has no tax rates for the country.
    #[schema(nullable = false)]
    pub tax: Option<LineTax>,
    /// The first image of the product when it was ordered. If staff have removed it since, its object is gone.
    #[schema(ignore)]
    pub image: Option<ProductImage>,
    /// The attributes of the product when it was ordered: texts by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(ignore)]
    pub attributes: BTreeMap<String, String>,
}

impl OrderLine {
    /// A line at these prices, without discount and tax, of a product that has nothing more than its name. Of a new field,
    /// this says what a line without it has.
    pub fn new(product_id: ProductId, name: String, quantity: Quantity, unit_price: Money, amount: Money) -> Self {
        let (image, attributes) = (None, BTreeMap::new());
        Self { product_id, name, quantity, unit_price, amount, discount: None, tax: None, image, attributes }
    }

    /// The line without what the product looked like, as events have it.
    #[must_use]
    pub fn plain(self) -> Self {
        Self { image: None, attributes: BTreeMap::new(), ..self }
    }
}

/// An order line as an item of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderItem {
    pub order_id: OrderId,
    pub customer_id: CustomerId,
    pub placed_at: Timestamp,
    /// The line's shard in the list of its product. It is stored so that a change of the number of shards moves no
    /// line.
    pub shard: u8,
    /// The line's place in the request.
    pub position: LinePosition,
    /// As in [`Order`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_at: Option<Timestamp>,
    /// Whether the order was cancelled before it was imported, so that its lines do not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    #[serde(flatten)]
    pub line: OrderLine,
}

impl OrderItem {
    /// The lines of an order, in the order of the request.
    pub fn lines(mut items: Vec<Self>) -> Vec<OrderLine> {
        items.sort_by_key(|item| item.position);
        items.into_iter().map(|item| item.line).collect()
    }
}

/// A flag on an order that the shop's staff should look at. The item exists only while the order is flagged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OrderFlag {
    /// The order.
    pub order_id: OrderId,
    /// The reason.
    pub reason: String,
    /// The time at which the order was flagged.
    pub flagged_at: Timestamp,
}
