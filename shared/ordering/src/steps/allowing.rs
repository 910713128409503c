//! Giving money back without units.

use key_schema::entity::{Allowance, Order, OrderStatus, WholeOrder};
use key_schema::value::{Money, RequestHash, Timestamp};

use super::{AllowanceRequest, Denial, Step, next_version, with_order};

/// Gives a part of what the customer paid back, because something was wrong with the order, for example. An order that
/// is not paid, or is cancelled, has nothing to give back.
///
/// The same request again changes nothing.
pub fn allow(whole: &WholeOrder, request: AllowanceRequest<'_>, now: Timestamp) -> Step {
    let AllowanceRequest { key, amount, reason } = request;
    let (order, key) = (&whole.order, Some(RequestHash::of(key.as_str().as_bytes())));
    let (reason, currency) = (order.text(Some(reason)), order.total.currency());
    if let Some(known) = order.allowances.iter().find(|known| known.key == key) {
        let is_same = Money::nearest(known.amount, currency) == amount && known.reason == reason;
        return if is_same { Step::Stay } else { Step::Deny(Denial::KeyReused) };
    }
    if matches!(order.status, OrderStatus::Pending | OrderStatus::Cancelled) {
        return Step::Refuse;
    }
    let left = Money::nearest(order.net_total(), currency);
    if amount.checked_min(left) != Some(amount) {
        return Step::Deny(Denial::TooMuch(left));
    }
    if order.allowances.len() >= Order::MOST_ALLOWANCES {
        return Step::Deny(Denial::TooManyAllowances);
    }
    let allowance = Allowance { key, amount: amount.amount(), reason, at: now };
    Step::To(Box::new(with_allowance(whole, next_version(whole), allowance)))
}

/// The order, with this header, after an allowance.
pub(super) fn with_allowance(whole: &WholeOrder, mut order: Order, allowance: Allowance) -> WholeOrder {
    order.changed_at = allowance.at;
    order.allowances.push(allowance);
    with_order(whole, order)
}
