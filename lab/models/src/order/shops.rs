//! The explored shops.

use key_schema::entity::{CancellationCause, OrderStatus};
use ordering::steps::{Cancel, Transition};

use super::actor::{after, now};
use super::invariants::{DELIVERED, PAID, PLACED, REFUND_DUE, REFUNDED, REFUSED, REPLAY, RESTOCKED, VOID};
use super::seed::{request, request_with_code, stocked, with_code};
use super::{Left, Role, Shop};

/// The shops that `cargo test` explores: every state of each.
pub fn small() -> Vec<Shop> {
    vec![
        copies(),
        cells(),
        gather(),
        queue(),
        again(),
        throttle(),
        cards(),
        payment(),
        expiry(),
        shipment(),
        resale(),
        code(),
    ]
}

/// The same shops with more faults.
pub fn large() -> Vec<Shop> {
    let more = |shop: Shop| {
        let Left { lost, late, throttles, stops, deliveries } = shop.left;
        let deliveries = deliveries + u8::from(deliveries > 0);
        Shop { left: Left { lost: lost + 1, late: late + 1, throttles, stops: stops + 1, deliveries }, ..shop }
    };
    small().into_iter().map(more).collect()
}

/// Two copies of one request and two other buyers want the last unit. One answer is lost, one transaction is late.
pub(super) fn copies() -> Shop {
    copies_of(1)
}

pub(super) fn copies_of(units: u64) -> Shop {
    let requests = vec![request("ada", 1, &[]), request("bob", 1, &[])];
    let roles = [0, 0, 1, 1].map(|request| Role::Request { request });
    let left = Left { lost: 1, late: 1, ..Left::default() };
    Shop::new("copies", stocked(&[units], &[]), requests, roles.into(), left)
}

/// One unit is in one of two cells, and two orders want it. One of them is sent twice.
fn cells() -> Shop {
    let requests = vec![request("ada", 1, &[]), request("bob", 1, &[])];
    let roles = [0, 1, 1].map(|request| Role::Request { request });
    let left = Left { lost: 1, late: 1, ..Left::default() };
    Shop::new("cells", stocked(&[1, 0], &[]), requests, roles.into(), left)
}

/// Two orders want two units each, of which there are two. The units are in the first of two cells, and one of them is
/// transferred to the other.
pub(super) fn gather() -> Shop {
    let requests = vec![request("ada", 2, &[]), request("bob", 2, &[])];
    let roles = vec![Role::Request { request: 0 }, Role::Request { request: 1 }, Role::Shift { request: 0 }];
    let left = Left { lost: 1, late: 1, ..Left::default() };
    Shop::new("gather", stocked(&[2, 0], &[]), requests, roles, left)
}

/// A queued request and another buyer want the last unit, and one unit is returned. The message is delivered twice, an
/// answer is lost, and an actor stops.
pub(super) fn queue() -> Shop {
    let requests = vec![request("ada", 1, &[]), request("bob", 1, &[])];
    let roles = vec![Role::RequestLater { request: 0 }, Role::Request { request: 1 }, Role::Restock { request: 1 }];
    let left = Left { deliveries: 2, lost: 1, stops: 1, ..Left::default() };
    Shop::new("queue", stocked(&[1], &[]), requests, roles, left)
}

/// A queued request for a sold-out product is sent again, before or after it is refused. A message is delivered twice.
pub(super) fn again() -> Shop {
    let requests = vec![request("ada", 1, &[])];
    let later = Role::RequestLater { request: 0 };
    let left = Left { deliveries: 2, ..Left::default() };
    Shop::new("again", stocked(&[0], &[]), requests, vec![later.clone(), later], left).seeing(&[REFUSED])
}

/// Two buyers want the last unit. One of their requests finds no capacity and is queued. One of them, or a delivery of
/// the message, stops.
fn throttle() -> Shop {
    let requests = vec![request("ada", 1, &[]), request("bob", 1, &[])];
    let roles = [0, 1].map(|request| Role::Request { request });
    let left = Left { deliveries: 2, throttles: 1, stops: 1, ..Left::default() };
    Shop::new("throttle", stocked(&[1], &[]), requests, roles.into(), left)
}

/// Two orders are to be paid with the same two gift cards. One of them empties the first card, and the other is refused.
pub(super) fn cards() -> Shop {
    let cards = ["GIFT", "MORE"];
    let requests = vec![request("ada", 1, &cards), request("bob", 1, &cards)];
    let roles = [0, 0, 1].map(|request| Role::Request { request });
    let left = Left { lost: 1, late: 1, ..Left::default() };
    Shop::new("cards", stocked(&[2], &[("GIFT", 100), ("MORE", 30)]), requests, roles.into(), left)
}

/// Ada has ordered the only unit: a gift card has paid a part of it, and the rest is open. The capture of the rest is
/// reported twice, and Ada cancels.
pub(super) fn payment() -> Shop {
    let roles = vec![change(CAPTURE, 1), change(CAPTURE, 2), change(CANCEL, 3)];
    let left = Left { lost: 1, late: 1, ..Left::default() };
    pending(roles, left).named("payment").seeing(&[PAID, REFUND_DUE, REPLAY])
}

/// The same order is not paid in time, and its payment is captured late. The refund is confirmed.
fn expiry() -> Shop {
    let refund = Transition::ConfirmRefund { reference: "back-1", amount: None };
    let roles = vec![change(CAPTURE, 1), change(Transition::Expire { deadline: now() }, 2), change(refund, 3)];
    let left = Left { lost: 1, late: 1, ..Left::default() };
    pending(roles, left).named("expiry").seeing(&[PAID, VOID, REFUND_DUE, REFUNDED])
}

/// A gift card has paid the order. Two people ship it, and it is delivered and cancelled.
pub(super) fn shipment() -> Shop {
    let ship = Transition::Advance { to: OrderStatus::Shipped, captures: true };
    let deliver = Transition::Advance { to: OrderStatus::Delivered, captures: true };
    let roles = vec![change(ship, 1), change(ship, 2), change(deliver, 3), change(CANCEL, 4)];
    let left = Left { lost: 1, late: 1, ..Left::default() };
    let requests = vec![request("ada", 1, &["GIFT"])];
    let table = stocked(&[1], &[("GIFT", 100)]);
    let placed = Shop::new("shipment", table, requests, roles, left).having_placed(0);
    placed.seeing(&[REFUSED, DELIVERED, RESTOCKED, REPLAY])
}

/// Ada orders the last unit twice with one key, and cancels. Bob wants the unit. A request may stop.
fn resale() -> Shop {
    let requests = vec![request("ada", 1, &["GIFT"]), request("bob", 1, &[])];
    let roles = vec![
        Role::Request { request: 0 },
        Role::Request { request: 0 },
        change(CANCEL, 1),
        Role::Request { request: 1 },
    ];
    let left = Left { lost: 1, stops: 1, ..Left::default() };
    let table = stocked(&[1], &[("GIFT", 30)]);
    Shop::new("resale", table, requests, roles, left).seeing(&[PLACED, REFUSED, RESTOCKED])
}

/// Two buyers want the one use of a code that makes an order free, and the first cancels twice. An order that costs nothing
/// has no payment: its cancellation writes no invoice.
pub(super) fn code() -> Shop {
    let requests = vec![request_with_code("ada", "FREE"), request_with_code("bob", "FREE")];
    let roles = vec![Role::Request { request: 0 }, Role::Request { request: 1 }, change(CANCEL, 1), change(CANCEL, 2)];
    let left = Left { lost: 1, late: 1, ..Left::default() };
    let table = with_code(stocked(&[2], &[]), "FREE");
    Shop::new("code", table, requests, roles, left).seeing(&[PLACED, REFUSED, RESTOCKED])
}

const CAPTURE: Transition<'static> = Transition::Capture { reference: "bank-1", amount: None };
const CANCEL: Transition<'static> = Transition::Cancel(Cancel { cause: CancellationCause::Customer, reason: None });

/// A change of the first order, by an actor whose clock is this many milliseconds ahead.
fn change(transition: Transition<'static>, ahead: i64) -> Role {
    Role::Change { request: 0, transition, at: after(ahead) }
}

/// A shop in which Ada has ordered the only unit, and paid 30 of its 100 with a gift card.
fn pending(roles: Vec<Role>, left: Left) -> Shop {
    let requests = vec![request("ada", 1, &["GIFT"])];
    Shop::new("pending", stocked(&[1], &[("GIFT", 30)]), requests, roles, left).having_placed(0)
}
