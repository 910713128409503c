//! Packing, shipping and delivering, as a whole or in shipments.

use key_schema::entity::{CardPayment, LineUnits, Order, OrderStatus, Progress, Shipment, Shortfall, WholeOrder, Work};
use key_schema::value::{ShipmentId, Timestamp};

use super::paying::with_capture_requested;
use super::returning::with_units;
use super::{Denial, ShipmentRequest, Step, next_version, with_status};

/// Packs, ships or delivers the order. Other statuses are refused: payment and cancellation have functions of their own.
/// An order whose payment is neither captured nor reserved is neither packed nor shipped.
///
/// SHIPPED ships all that is left, without a shipment. DELIVERED delivers all shipments.
///
/// If the order already has the status or has passed it, the result is [`Step::Stay`], so that a repeated request is
/// not refused.
pub fn advance(whole: &WholeOrder, to: OrderStatus, captures: bool, now: Timestamp) -> Step {
    match (whole.order.status, to) {
        (OrderStatus::Cancelled, _) => Step::Refuse,
        (status, OrderStatus::Packing | OrderStatus::Shipped | OrderStatus::Delivered)
            if status == to || status.may_have_been(to) =>
        {
            Step::Stay
        }
        (OrderStatus::Shipped, OrderStatus::Delivered) => {
            let order = Order { delivered_at: Some(now), ..with_status(whole, to, now) };
            let mut next = WholeOrder { order, ..whole.clone() };
            for shipment in &mut next.shipments {
                shipment.delivered_at.get_or_insert(now);
            }
            Step::To(Box::new(next.with_statuses()))
        }
        (status, OrderStatus::Packing | OrderStatus::Shipped) if status.may_become(to) => {
            let next = WholeOrder { order: with_status(whole, to, now), ..whole.clone() };
            secured(next, captures && to == OrderStatus::Shipped)
        }
        _ => Step::Refuse,
    }
}

/// Ships units of the order: those of the request, or all that are left. The first shipment asks for the capture of the
/// whole payment, because an authorization can be captured once. The order becomes SHIPPED if all units that are left are
/// in shipments, and PACKING before that.
///
/// The same request again finds its shipment and changes nothing.
pub fn ship_items(whole: &WholeOrder, request: ShipmentRequest<'_>, now: Timestamp) -> Step {
    let ShipmentRequest { id, lines, carrier, tracking_number, tracking_url, captures } = request;
    let lines = lines.map(|lines| LineUnits::in_order(lines, &whole.lines));
    let (tracking_number, tracking_url) = (whole.order.text(tracking_number), whole.order.text(tracking_url));
    if let Some(known) = whole.shipments.iter().find(|known| known.shipment_id == *id) {
        let is_same = lines.as_ref().map_or(known.all_left, |lines| !known.all_left && known.lines == *lines)
            && known.carrier == carrier
            && known.tracking_number == tracking_number
            && known.tracking_url == tracking_url;
        return if is_same { Step::Stay } else { Step::Deny(Denial::KeyReused) };
    }
    if !matches!(whole.order.status, OrderStatus::Paid | OrderStatus::Packing) {
        return Step::Refuse;
    }
    let all_left = lines.is_none();
    let units = lines.unwrap_or_else(|| unshipped(whole));
    if let Some(line) = units.iter().find(|line| line.quantity.get() > whole.units_unshipped(&line.product_id)) {
        let left = whole.units_unshipped(&line.product_id);
        return Step::Deny(Denial::TooFewUnits(Shortfall { product_id: line.product_id.clone(), left }));
    }
    if whole.shipments.len() >= Order::MOST_SHIPMENTS {
        return Step::Deny(Denial::TooManyShipments);
    }
    let mut next = whole.clone();
    next.order = Order { shipped: with_units(&whole.lines, &whole.order.shipped, &units), ..next_version(whole) };
    next.shipments.push(Shipment {
        shipment_id: id.clone(),
        order_id: whole.order.order_id.clone(),
        customer_id: whole.order.customer_id.clone(),
        lines: units,
        all_left,
        carrier: carrier.to_owned(),
        tracking_number,
        tracking_url,
        shipped_at: now,
        delivered_at: None,
    });
    let status = if next.is_in_shipments() { OrderStatus::Shipped } else { OrderStatus::Packing };
    if status != whole.order.status {
        (next.order.status, next.order.changed_at) = (status, now);
    }
    secured(next.with_statuses(), captures)
}

/// Records that a shipment was delivered. The order becomes DELIVERED if all units that are left were delivered in
/// shipments. The same request again changes nothing.
pub fn deliver_shipment(whole: &WholeOrder, id: &ShipmentId, now: Timestamp) -> Step {
    let Some(known) = whole.shipments.iter().find(|known| known.shipment_id == *id) else {
        return Step::Deny(Denial::UnknownShipment);
    };
    if known.delivered_at.is_some() {
        return Step::Stay;
    }
    let mut next = whole.clone();
    next.order = next_version(whole);
    for own in next.shipments.iter_mut().filter(|own| own.shipment_id == *id) {
        own.delivered_at = Some(now);
    }
    complete(&mut next, now);
    Step::To(Box::new(next.with_statuses()))
}

/// Gives an order in shipments the status that its shipments have: SHIPPED if all units that are left are in them, and
/// DELIVERED if all shipments are delivered, too. The order was delivered with its last shipment.
pub(super) fn complete(whole: &mut WholeOrder, now: Timestamp) {
    let is_open = matches!(whole.order.status, OrderStatus::Packing | OrderStatus::Shipped);
    if !is_open || !whole.is_in_shipments() {
        return;
    }
    let status = if whole.shipments.iter().all(|shipment| shipment.delivered_at.is_some()) {
        whole.order.delivered_at = whole.shipments.iter().filter_map(|shipment| shipment.delivered_at).max();
        OrderStatus::Delivered
    } else {
        OrderStatus::Shipped
    };
    if status != whole.order.status {
        (whole.order.status, whole.order.changed_at) = (status, now);
    }
}

/// The units that are left, in the order of the lines.
fn unshipped(whole: &WholeOrder) -> Vec<LineUnits> {
    let units = whole.lines.iter().filter_map(|line| {
        let gone = whole.order.credited_units(&line.product_id) + whole.order.shipped_units(&line.product_id);
        let quantity = line.quantity.less(gone)?;
        Some(LineUnits { product_id: line.product_id.clone(), quantity })
    });
    units.collect()
}

/// The change, if the order's payment is secured. Asks for its capture if `captures` says so.
fn secured(mut next: WholeOrder, captures: bool) -> Step {
    let is_safe = |card: &CardPayment| card.is_secured() && card.work() != Some(Work::Missing);
    if !next.invoice.card().is_none_or(is_safe) {
        return next.work().map_or(Step::Refuse, |work| Step::Deny(Denial::OpenPayment(work)));
    }
    let card = match next.invoice.card() {
        Some(card) if captures => Some(with_capture_requested(card)),
        _ => None,
    };
    if let Some(card) = card {
        next.invoice = next.invoice.with_card(card);
    }
    await_capture(&mut next);
    Step::To(Box::new(next))
}

/// Marks the payment of an order that is shipped, if nobody has asked for its capture: staff have to.
pub(super) fn await_capture(whole: &mut WholeOrder) {
    let Some(mut card) = whole.invoice.card().filter(|_| whole.order.status == OrderStatus::Shipped).cloned() else {
        return;
    };
    if let Some(provider) = &mut card.provider {
        provider.awaits_capture = provider.held.progress == Progress::Authorized && !provider.capture_requested;
        whole.invoice = whole.invoice.clone().with_card(card);
    }
}
