//! Shipments: laws for any sequence of changes, and cases.

use key_schema::entity::{CardPayment, Held, LineUnits, Order, Progress, ProviderPayment, Shortfall, Work};
use key_schema::value::ShipmentId;
use proptest::collection::vec;
use proptest::prelude::*;

use super::super::*;
use super::{at, placed, sold};

fn to(step: Step) -> WholeOrder {
    if let Step::To(next) = step { *next } else { panic!("no change: {step:?}") }
}

fn units(product: &str, units: i64) -> LineUnits {
    LineUnits { product_id: product.parse().expect("an id"), quantity: units.try_into().expect("a quantity") }
}

fn id(key: &str) -> ShipmentId {
    ShipmentId::of(&"an-order".parse().expect("an id"), &key.parse().expect("a key"))
}

fn ship(whole: &WholeOrder, key: &str, lines: Option<&[LineUnits]>, minute: i64) -> Step {
    let id = id(key);
    let request = ShipmentRequest {
        id: &id,
        lines,
        carrier: "Parcel Post",
        tracking_number: None,
        tracking_url: None,
        captures: true,
    };
    ship_items(whole, request, at(minute))
}

const BY_STAFF: Cancel<'static> = Cancel { cause: CancellationCause::Staff, reason: None };
const BY_CUSTOMER: Cancel<'static> = Cancel { cause: CancellationCause::Customer, reason: None };

/// An order of three p0 and two p1, paid by gift card.
fn paid() -> WholeOrder {
    sold(&[(3, 100), (2, 50)], 400, &[400])
}

fn few(product: &str, left: u32) -> Step {
    Step::Deny(Denial::TooFewUnits(Shortfall { product_id: product.parse().expect("an id"), left }))
}

#[test]
fn an_order_is_packing_until_all_of_it_is_shipped_and_delivered_with_its_last_shipment() {
    let part = to(ship(&paid(), "a", Some(&[units("p0", 2)]), 1));
    assert_eq!(part.order.status, OrderStatus::Packing);
    assert_eq!(ship(&part, "b", Some(&[units("p0", 2)]), 2), few("p0", 1));
    let rest = to(ship(&part, "b", None, 2));
    assert_eq!(rest.order.status, OrderStatus::Shipped);
    let second = rest.shipments.iter().find(|shipment| shipment.shipment_id == id("b")).expect("a shipment");
    assert_eq!(second.lines, [units("p0", 1), units("p1", 2)]);
    assert_eq!(ship(&rest, "c", None, 3), Step::Refuse);
    let first = to(deliver_shipment(&rest, &id("b"), at(4)));
    assert_eq!((first.order.status, first.order.delivered_at), (OrderStatus::Shipped, None));
    assert_eq!(deliver_shipment(&first, &id("b"), at(5)), Step::Stay);
    let both = to(deliver_shipment(&first, &id("a"), at(6)));
    assert_eq!((both.order.status, both.order.delivered_at), (OrderStatus::Delivered, Some(at(6))));
    assert_eq!(deliver_shipment(&both, &id("c"), at(7)), Step::Deny(Denial::UnknownShipment));
}

#[test]
fn a_repeated_request_finds_its_own_shipment() {
    let part = to(ship(&paid(), "a", Some(&[units("p0", 2)]), 1));
    assert_eq!(ship(&part, "a", Some(&[units("p0", 2)]), 2), Step::Stay);
    for other in [None, Some(&[units("p0", 1)][..])] {
        assert_eq!(ship(&part, "a", other, 2), Step::Deny(Denial::KeyReused));
    }
    let all = to(ship(&part, "b", None, 2));
    assert_eq!(ship(&all, "b", None, 3), Step::Stay);
}

#[test]
fn a_customer_cannot_cancel_from_packing_and_staff_can_as_long_as_nothing_is_shipped() {
    let packing = to(advance(&paid(), OrderStatus::Packing, true, at(1)));
    let one = [units("p1", 1)];
    assert_eq!(cancel(&packing, BY_CUSTOMER, at(2)), Step::Refuse);
    assert_eq!(cancel_units(&packing, &one, BY_CUSTOMER, at(2)), Step::Refuse);
    assert_eq!(to(cancel(&packing, BY_STAFF, at(2))).order.status, OrderStatus::Cancelled);
    assert_eq!(to(cancel_units(&packing, &one, BY_STAFF, at(2))).order.status, OrderStatus::Packing);
    let part = to(ship(&packing, "a", Some(&one), 2));
    assert_eq!(cancel(&part, BY_STAFF, at(3)), Step::Deny(Denial::PartlyShipped));
    assert_eq!(cancel_units(&part, &[units("p1", 2)], BY_STAFF, at(3)), few("p1", 1));
}

#[test]
fn the_cancellation_of_the_units_that_are_left_completes_the_order() {
    let part = to(ship(&paid(), "a", Some(&[units("p0", 3)]), 1));
    let rest = [units("p1", 2)];
    assert_eq!(to(cancel_units(&part, &rest, BY_STAFF, at(3))).order.status, OrderStatus::Shipped);
    let arrived = to(deliver_shipment(&part, &id("a"), at(2)));
    assert_eq!(arrived.order.status, OrderStatus::Packing);
    let done = to(cancel_units(&arrived, &rest, BY_STAFF, at(3)));
    assert_eq!((done.order.status, done.order.delivered_at), (OrderStatus::Delivered, Some(at(2))));
}

/// By the shipment of its last units, or by the cancellation of all that are not shipped.
#[test]
fn an_order_that_is_shipped_with_what_is_left_of_it_waits_for_its_capture() {
    let mut whole = sold(&[(3, 100), (2, 50)], 400, &[]);
    whole.order.status = OrderStatus::Paid;
    let intent = "pi_1".parse().expect("an id");
    let card = whole.invoice.card().expect("a card payment").clone();
    let held = Held::of(Progress::Authorized);
    let provider = Some(ProviderPayment { held, ..ProviderPayment::new(intent, 1) });
    whole.invoice = whole.invoice.with_card(CardPayment { provider, ..card });
    let by_staff = |whole: &WholeOrder, key: &str, lines: Option<&[LineUnits]>| {
        let (id, carrier) = (id(key), "Parcel Post");
        let request =
            ShipmentRequest { id: &id, lines, carrier, tracking_number: None, tracking_url: None, captures: false };
        to(ship_items(whole, request, at(1)))
    };
    let part = by_staff(&whole, "a", Some(&[units("p0", 3)]));
    assert_eq!(part.work(), None);
    assert_eq!(by_staff(&part, "b", None).work(), Some(Work::Capture));
    let less = to(cancel_units(&part, &[units("p1", 2)], BY_STAFF, at(2)));
    assert_eq!((less.order.status, less.work()), (OrderStatus::Shipped, Some(Work::Capture)));
}

#[test]
fn an_order_that_is_not_paid_is_neither_packed_nor_shipped() {
    assert_eq!(ship(&placed(0, 5), "a", None, 1), Step::Refuse);
    assert_eq!(advance(&placed(0, 5), OrderStatus::Packing, true, at(1)), Step::Refuse);
    let cancelled = to(cancel(&paid(), BY_STAFF, at(1)));
    assert_eq!(advance(&cancelled, OrderStatus::Packing, true, at(2)), Step::Refuse);
    assert_eq!(ship(&cancelled, "a", None, 2), Step::Refuse);
}

#[test]
fn delivering_the_order_delivers_its_shipments() {
    let part = to(ship(&paid(), "a", Some(&[units("p0", 3)]), 1));
    assert_eq!(advance(&part, OrderStatus::Delivered, true, at(2)), Step::Refuse);
    let shipped = to(advance(&part, OrderStatus::Shipped, true, at(2)));
    let delivered = to(advance(&shipped, OrderStatus::Delivered, true, at(3)));
    assert!(delivered.has_all_parts());
    assert_eq!(delivered.shipments[0].delivered_at, Some(at(3)));
    assert_eq!(deliver_shipment(&delivered, &id("a"), at(4)), Step::Stay);
}

#[test]
fn an_order_has_a_limited_number_of_shipments() {
    let mut whole = sold(&[(30, 100)], 3000, &[3000]);
    for number in 0..Order::MOST_SHIPMENTS {
        whole = to(ship(&whole, &number.to_string(), Some(&[units("p0", 1)]), 1));
    }
    assert_eq!(ship(&whole, "one more", None, 1), Step::Deny(Denial::TooManyShipments));
}

#[derive(Clone, Debug)]
enum What {
    Ship(u8, Option<(bool, i64)>),
    Deliver(u8),
    CancelUnits(bool, i64, bool),
    Cancel(bool),
    Advance(usize),
}

fn any_what() -> impl Strategy<Value = What> {
    prop_oneof![
        3 => (0..6_u8, proptest::option::weighted(0.8, (any::<bool>(), 1..4_i64)))
            .prop_map(|(key, lines)| What::Ship(key, lines)),
        3 => (0..6_u8).prop_map(What::Deliver),
        2 => (any::<bool>(), 1..4_i64, any::<bool>()).prop_map(|(first, units, staff)| What::CancelUnits(first, units, staff)),
        1 => any::<bool>().prop_map(What::Cancel),
        1 => (0..OrderStatus::ALL.len()).prop_map(What::Advance),
    ]
}

proptest! {
    /// No unit is shipped twice or cancelled after it was shipped, the status only moves forward, the parts agree with
    /// the header, and a delivered order has only delivered shipments.
    #[test]
    fn no_unit_is_shipped_twice_after_any_sequence_of_changes(changes in vec(any_what(), 0..16)) {
        let mut whole = paid();
        let product = |first: bool| if first { "p0" } else { "p1" };
        let by = |staff: bool| if staff { BY_STAFF } else { BY_CUSTOMER };
        for (what, minute) in changes.into_iter().zip(1..) {
            let step = match what {
                What::Ship(key, lines) => {
                    let lines = lines.map(|(first, quantity)| [units(product(first), quantity)]);
                    ship(&whole, &key.to_string(), lines.as_ref().map(<[_; 1]>::as_slice), minute)
                }
                What::Deliver(key) => deliver_shipment(&whole, &id(&key.to_string()), at(minute)),
                What::CancelUnits(first, quantity, staff) => {
                    cancel_units(&whole, &[units(product(first), quantity)], by(staff), at(minute))
                }
                What::Cancel(staff) => cancel(&whole, by(staff), at(minute)),
                What::Advance(to) => advance(&whole, OrderStatus::ALL[to], false, at(minute)),
            };
            let Step::To(next) = step else { continue };
            let (before, after) = (whole.order.status, next.order.status);
            prop_assert!(before == after || before.may_become(after), "{before} to {after}");
            prop_assert_eq!(next.order.version, whole.order.version + 1);
            whole = *next;
            prop_assert!(whole.has_all_parts() && whole.is_consistent());
            for line in &whole.lines {
                let product = &line.product_id;
                let in_shipments: u32 = whole.shipments.iter().flat_map(|shipment| &shipment.lines)
                    .filter(|line| line.product_id == *product).map(|line| line.quantity.get()).sum();
                prop_assert_eq!(in_shipments, whole.order.shipped_units(product));
                prop_assert!(in_shipments + whole.order.credited_units(product) <= line.quantity.get());
            }
            let delivered = whole.shipments.iter().all(|shipment| shipment.delivered_at.is_some());
            if after == OrderStatus::Delivered {
                prop_assert!(delivered && whole.order.delivered_at.is_some());
            } else if whole.is_in_shipments() {
                prop_assert!(!delivered && after == OrderStatus::Shipped);
            }
            prop_assert!(after != OrderStatus::Cancelled || whole.shipments.is_empty());
        }
    }
}
