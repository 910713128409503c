//! Shipping and delivering.

use key_schema::entity::{Order, OrderStatus, WholeOrder};
use key_schema::value::Timestamp;

use super::paying::with_capture_requested;
use super::{Step, with_status};

/// Ships or delivers the order. Other statuses are refused: payment and cancellation have functions of their own. An
/// order whose payment is neither captured nor reserved is not shipped.
///
/// If the order already has the status or has passed it, the result is [`Step::Stay`], so that a repeated request is
/// not refused.
pub fn advance(whole: &WholeOrder, to: OrderStatus, captures: bool, now: Timestamp) -> Step {
    match whole.order.status {
        _ if !matches!(to, OrderStatus::Shipped | OrderStatus::Delivered) => Step::Refuse,
        status if status == to || status.may_have_been(to) => Step::Stay,
        status if status.may_become(to) => {
            let delivered_at = (to == OrderStatus::Delivered).then_some(now);
            let order = Order { delivered_at, ..with_status(whole, to, now) };
            let Some(card) = whole.invoice.card().filter(|_| to == OrderStatus::Shipped) else {
                return Step::To(Box::new(WholeOrder { order, ..whole.clone() }));
            };
            if !card.is_secured() {
                return Step::Refuse;
            }
            let card = if captures { with_capture_requested(card) } else { card.clone() };
            Step::To(Box::new(WholeOrder { order, invoice: whole.invoice.clone().with_card(card), ..whole.clone() }))
        }
        _ => Step::Refuse,
    }
}
