//! Returning units after delivery.

use key_schema::entity::{Allowance, LineUnits, Order, OrderLine, Return, ReturnStatus, WholeOrder};
use key_schema::value::{Money, Timestamp};

use super::allowing::with_allowance;
use super::{Denial, Receipt, ReturnRequest, ReturnVerdict, Step, credited, next_version};
use crate::Withdrawal;

/// Records that the customer wants to send units of a delivered order back. Nothing is credited yet.
///
/// The period for withdrawal ends with the last day in the shop's time zone: the day of delivery does not count, as European law says
/// (Regulation 1182/71, article 3).
///
/// The units are set aside: no other return may have them. The same request again finds its return and changes nothing.
pub fn request_return(whole: &WholeOrder, request: ReturnRequest<'_>, now: Timestamp) -> Step {
    let ReturnRequest { id, lines, reason, within } = request;
    let lines = LineUnits::in_order(lines, &whole.lines);
    let reason = whole.order.text(reason);
    if let Some(known) = whole.returns.iter().find(|known| known.return_id == *id) {
        let is_same = known.lines == lines && known.reason == reason;
        return if is_same { Step::Stay } else { Step::Deny(Denial::KeyReused) };
    }
    let Some(delivery) = whole.order.delivered_at else { return Step::Refuse };
    if let Some(Withdrawal { days, zone }) = within {
        let last_day = zone.day(delivery).plus((*days).into());
        if zone.day(now) > last_day {
            return Step::Deny(Denial::TooLate { last_day });
        }
    }
    if let Err(shortfall) = whole.has_left(&lines) {
        return Step::Deny(Denial::TooFewUnits(shortfall));
    }
    if whole.returns.len() >= Order::MOST_RETURNS {
        return Step::Deny(Denial::TooManyReturns);
    }
    let mut next = whole.clone();
    next.order = Order { returning: with_units(&whole.lines, &whole.order.returning, &lines), ..next_version(whole) };
    next.returns.push(Return {
        return_id: id.clone(),
        order_id: whole.order.order_id.clone(),
        customer_id: whole.order.customer_id.clone(),
        shard: whole.order.shard,
        lines,
        reason,
        requested_at: now,
        status: ReturnStatus::Requested,
        closed_at: None,
        restocked: false,
        amount: None,
        refusal: None,
    });
    Step::To(Box::new(next.with_statuses()))
}

/// Records that staff received or refused a return. If they received it, its units are credited: the order, the invoice
/// and the return change together. The writes of this change also put the units back to the stock, if staff say so, and
/// the gift cards' shares back on the cards.
///
/// The same receipt again changes nothing. A different one for a closed return is denied.
pub fn receive_return(whole: &WholeOrder, receipt: Receipt<'_>, now: Timestamp) -> Step {
    let Receipt { id, verdict } = receipt;
    let Some(known) = whole.returns.iter().find(|known| known.return_id == *id) else {
        return Step::Deny(Denial::UnknownReturn);
    };
    let refusal = match verdict {
        ReturnVerdict::Refuse { reason } => whole.order.text(Some(reason)),
        ReturnVerdict::Accept { .. } => None,
    };
    if known.status != ReturnStatus::Requested {
        return if is_closed_so(known, verdict, refusal.as_deref()) {
            Step::Stay
        } else {
            Step::Deny(Denial::Closed(known.status))
        };
    }
    let (mut next, status) = match verdict {
        ReturnVerdict::Accept { with_shipping, .. } => {
            let next = credited(whole, &known.lines, now);
            let is_whole =
                next.lines.iter().all(|line| next.order.credited_units(&line.product_id) == line.quantity.get());
            // Who withdraws from the whole contract has the price of shipping back: Directive 2011/83/EU, article 13.
            let shipping = next.order.shipping_left().filter(|_| is_whole && with_shipping);
            let next = match shipping {
                Some(amount) => {
                    let allowance = Allowance { key: None, amount, reason: None, at: now };
                    with_allowance(&next, next.order.clone(), allowance)
                }
                None => next,
            };
            (next, ReturnStatus::Received)
        }
        ReturnVerdict::Refuse { .. } => {
            (WholeOrder { order: next_version(whole), ..whole.clone() }, ReturnStatus::Refused)
        }
    };
    next.order.returning = without_units(&whole.order.returning, &known.lines);
    let credit = next.order.credited() - whole.order.credited();
    let closed = Return {
        status,
        closed_at: Some(now),
        restocked: matches!(verdict, ReturnVerdict::Accept { restock: true, .. }),
        amount: (status == ReturnStatus::Received).then(|| Money::nearest(credit, whole.order.total.currency())),
        refusal,
        ..known.clone()
    };
    for own in next.returns.iter_mut().filter(|own| own.return_id == *id) {
        *own = closed.clone();
    }
    Step::To(Box::new(next.with_statuses()))
}

fn is_closed_so(known: &Return, verdict: ReturnVerdict<'_>, refusal: Option<&str>) -> bool {
    match verdict {
        ReturnVerdict::Accept { restock, .. } => known.status == ReturnStatus::Received && known.restocked == restock,
        ReturnVerdict::Refuse { .. } => known.status == ReturnStatus::Refused && known.refusal.as_deref() == refusal,
    }
}

pub(super) fn with_units(lines: &[OrderLine], units: &[LineUnits], more: &[LineUnits]) -> Vec<LineUnits> {
    let mut sum = units.to_vec();
    for line in more {
        match sum.iter_mut().find(|known| known.product_id == line.product_id) {
            // At most the quantity of the line, because a return or a shipment has only units that the line has left.
            Some(known) => known.quantity = known.quantity.plus(line.quantity),
            None => sum.push(line.clone()),
        }
    }
    LineUnits::in_order(&sum, lines)
}

/// The units without these. A product of which no unit is left is left out.
fn without_units(units: &[LineUnits], less: &[LineUnits]) -> Vec<LineUnits> {
    let left = units.iter().filter_map(|line| {
        let gone = less.iter().filter(|other| other.product_id == line.product_id);
        let gone = gone.map(|other| other.quantity.get()).sum();
        let product_id = line.product_id.clone();
        line.quantity.less(gone).map(|quantity| LineUnits { product_id, quantity })
    });
    left.collect()
}
