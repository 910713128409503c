use std::collections::BTreeMap;

use key_schema::entity::{
    Address, Allowance, Cancellation, ChosenMethod, Credit, ImageUrls, LineTax, Order, OrderFlag, OrderItem, OrderLine,
    OrderStatus, RateTax, ReturnStatus, ShipmentStatus, WholeOrder,
};
use key_schema::value::{Currency, CustomerId, DiscountCode, Money, OrderId, ProductId, Quantity, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::{CodeUseView, ImageView, InvoiceView, ReturnView, ShipmentView};
use crate::Caller;

/// An order. `total` is `subtotal` less `discount`, plus `shipping` and `tax` if there are any, and the invoice's payments
/// add up to it. In lists, address, invoice, shipments, returns and flag are left out; customers never see the flag.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Order)]
pub struct OrderView {
    order_id: OrderId,
    customer_id: CustomerId,
    status: OrderStatus,
    placed_at: Timestamp,
    version: u64,
    /// The lines, in the order of the request. In the list of a customer's orders, at most the first five; left out in other
    /// lists.
    lines: Option<Vec<OrderLineView>>,
    /// The number of all lines.
    #[schema(minimum = 1, maximum = 200)]
    line_count: u8,
    subtotal: Money,
    discount: Money,
    discount_code: Option<DiscountCode>,
    /// The discount codes of an order with several, in the order in which they apply. Absent with one: see `discountCode`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    discounts: Vec<CodeUseView>,
    /// The price of shipping. Absent if the order has no address, or the shop had no shipping rates.
    #[schema(nullable = false)]
    shipping: Option<Money>,
    /// The method by which the order is shipped. Absent without a price of shipping.
    #[schema(nullable = false)]
    shipping_method: Option<ChosenMethod>,
    /// The tax of lines and shipping that comes on top of the prices. Absent if the prices include the tax.
    #[schema(nullable = false)]
    tax: Option<Money>,
    total: Money,
    /// The address to which the order is shipped, as it was when the order was placed.
    #[schema(nullable = false)]
    ship_to: Option<Address>,
    /// The way in which the order is paid. Gift cards may have paid a part of what a card or a transfer pays.
    #[schema(nullable = false)]
    payment_method: Option<PaymentMethodView>,
    /// Whether the order may stay unpaid for days instead of minutes. Absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pay_later: bool,
    /// The units that were cancelled or returned while the rest of the order goes on. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    credits: Vec<CreditView>,
    /// The money that was given back without units. Absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowances: Vec<AllowanceView>,
    /// The taxes in credits and allowances. Left out in lists.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    credited_taxes: Vec<RateTax>,
    /// The time at which the order was delivered.
    delivered_at: Option<Timestamp>,
    cancellation: Option<Cancellation>,
    invoice: Option<InvoiceView>,
    /// The statuses of the shipments, the oldest shipment first. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shipment_statuses: Vec<ShipmentStatus>,
    /// The statuses of the returns, the oldest return first. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    return_statuses: Vec<ReturnStatus>,
    /// The shipments. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    shipments: Vec<ShipmentView>,
    /// The returns, open and closed. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    returns: Vec<ReturnView>,
    flag: Option<FlagView>,
}

/// The way in which an order is paid.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PaymentMethod)]
pub enum PaymentMethodView {
    /// By bank card.
    Card,
    /// Later, such as by bank transfer.
    PayLater,
    /// By gift cards alone.
    GiftCard,
    /// The order costs nothing.
    None,
}

impl PaymentMethodView {
    fn of(whole: &WholeOrder) -> Self {
        match (whole.invoice.card(), whole.invoice.payments.is_empty()) {
            (Some(_), _) if whole.order.pay_later => Self::PayLater,
            (Some(_), _) => Self::Card,
            (None, false) => Self::GiftCard,
            (None, true) => Self::None,
        }
    }
}

/// The units of a line that were cancelled or returned.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Credit)]
pub struct CreditView {
    product_id: ProductId,
    /// The number of units.
    #[schema(minimum = 1, maximum = 10_000)]
    units: u32,
    /// The amount credited for the units: their price less their share of the discount.
    amount: Money,
}

impl CreditView {
    fn new(credit: Credit, currency: Currency) -> Self {
        let Credit { product_id, units, gross: _, amount } = credit;
        Self { product_id, units, amount: Money::nearest(amount, currency) }
    }
}

/// Money that was given back without units.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Allowance)]
pub struct AllowanceView {
    amount: Money,
    /// The reason. Absent if the money is the price of shipping.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    reason: Option<String>,
    /// Whether the money is the price of shipping, after the last units were returned.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shipping: bool,
    at: Timestamp,
}

impl AllowanceView {
    fn new(allowance: Allowance, currency: Currency) -> Self {
        let Allowance { key, amount, reason, at } = allowance;
        Self { amount: Money::nearest(amount, currency), reason, shipping: key.is_none(), at }
    }
}

/// One line of an order: a snapshot of the product when it was ordered. Later changes of the product do not affect it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LineItem)]
pub struct OrderLineView {
    product_id: ProductId,
    /// The product's name when it was ordered.
    name: String,
    /// The attributes of the product when it was ordered: texts by their names. Absent if there were none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    attributes: BTreeMap<String, String>,
    /// The first image of the product when it was ordered. Absent if there was none, and in quotes. If staff have removed it
    /// since, nothing is at its URL.
    #[schema(nullable = false)]
    image: Option<ImageView>,
    /// The number of units.
    quantity: Quantity,
    /// The product's price when it was ordered.
    unit_price: Money,
    /// `quantity` times `unitPrice`.
    amount: Money,
    /// What the discount codes take off the line, if the order has several codes or one of a category. Otherwise, the
    /// discount is spread evenly over the lines.
    #[schema(nullable = false)]
    discount: Option<Money>,
    /// The tax of the line. Absent if the shop has no tax rates for the country.
    #[schema(nullable = false)]
    tax: Option<LineTax>,
}

impl OrderLineView {
    /// A line with the URL of its image.
    pub fn new(line: OrderLine, urls: &dyn ImageUrls) -> Self {
        let image = line.image.as_ref().map(|image| {
            let url = urls.url(&line.product_id, &image.image_id);
            ImageView::new((image.clone(), url))
        });
        Self { image, ..line.into() }
    }
}

/// A line without its image, as quotes have it.
impl From<OrderLine> for OrderLineView {
    fn from(line: OrderLine) -> Self {
        let OrderLine { product_id, name, quantity, unit_price, amount, discount, tax, image: _, attributes } = line;
        Self { product_id, name, attributes, image: None, quantity, unit_price, amount, discount, tax }
    }
}

/// A line of an order, in a list of lines.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OrderItem)]
pub struct OrderItemView {
    order_id: OrderId,
    customer_id: CustomerId,
    /// The time at which the order was placed.
    placed_at: Timestamp,
    #[serde(flatten)]
    line: OrderLineView,
}

/// The mark on an order that the shop's staff has to look at.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Flag)]
pub struct FlagView {
    reason: String,
    flagged_at: Timestamp,
}

/// A flagged order, in the list of flagged orders.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OrderFlag)]
pub struct FlaggedOrderView {
    order_id: OrderId,
    reason: String,
    flagged_at: Timestamp,
}

impl From<OrderFlag> for FlaggedOrderView {
    fn from(flag: OrderFlag) -> Self {
        let OrderFlag { order_id, reason, flagged_at } = flag;
        Self { order_id, reason, flagged_at }
    }
}

impl OrderItemView {
    /// A line with the URL of its image.
    pub fn new(item: OrderItem, urls: &dyn ImageUrls) -> Self {
        let OrderItem { order_id, customer_id, placed_at, line, shard: _, position: _, imported_at: _, uncounted: _ } =
            item;
        Self { order_id, customer_id, placed_at, line: OrderLineView::new(line, urls) }
    }
}

impl From<OrderFlag> for FlagView {
    fn from(flag: OrderFlag) -> Self {
        Self { reason: flag.reason, flagged_at: flag.flagged_at }
    }
}

impl OrderView {
    /// An order as this caller may see it: only admins see the flag.
    pub fn seen_by(caller: &Caller, mut whole: WholeOrder, urls: &dyn ImageUrls) -> Self {
        let flag = whole.flag.take().filter(|_| caller.is_admin).map(FlagView::from);
        Self { flag, ..Self::of_customer(whole, urls) }
    }

    /// An order as the list of its customer's has it, with its first lines.
    pub fn listed(order: Order, lines: Vec<OrderLine>, urls: &dyn ImageUrls) -> Self {
        let lines = lines.into_iter().map(|line| OrderLineView::new(line, urls)).collect();
        Self { lines: Some(lines), ..order.into() }
    }

    /// An order as its customer may see it, without the flag.
    pub fn of_customer(whole: WholeOrder, urls: &dyn ImageUrls) -> Self {
        let payment_method = Some(PaymentMethodView::of(&whole));
        let WholeOrder { order, lines, invoice, address, flag: _, returns, shipments } = whole;
        let ship_to = address.map(|of_order| of_order.address);
        let shipments = shipments.into_iter().map(|one| ShipmentView::new(one, &lines)).collect();
        let returns = returns.into_iter().map(|one| ReturnView::new(one, &lines)).collect();
        let credited_taxes = order.credited_taxes(&lines);
        let invoice = Some(invoice.into());
        Self {
            ship_to,
            payment_method,
            credited_taxes,
            invoice,
            shipments,
            returns,
            ..Self::listed(order, lines, urls)
        }
    }
}

impl From<Order> for OrderView {
    fn from(order: Order) -> Self {
        let currency = order.total.currency();
        let discount_code = if let [only] = &order.codes[..] { Some(only.code.clone()) } else { None };
        let discounts = CodeUseView::of_several(order.codes);
        Self {
            order_id: order.order_id,
            customer_id: order.customer_id,
            status: order.status,
            placed_at: order.placed_at,
            version: order.version,
            lines: None,
            line_count: order.line_count,
            subtotal: order.subtotal,
            discount: order.discount,
            discount_code,
            discounts,
            tax: order.tax,
            shipping: order.shipping,
            shipping_method: order.shipping_method,
            total: order.total,
            ship_to: None,
            payment_method: None,
            pay_later: order.pay_later,
            credits: order.credits.into_iter().map(|credit| CreditView::new(credit, currency)).collect(),
            allowances: order.allowances.into_iter().map(|it| AllowanceView::new(it, currency)).collect(),
            credited_taxes: Vec::new(),
            delivered_at: order.delivered_at,
            cancellation: order.cancellation,
            invoice: None,
            shipment_statuses: order.shipment_statuses,
            return_statuses: order.return_statuses,
            shipments: Vec::new(),
            returns: Vec::new(),
            flag: None,
        }
    }
}
