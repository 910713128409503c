//! Each decision by itself. The model in `lab/models` explores their sequences.

use key_schema::entity::{Cart, CartLine, Customer, CustomerStats, Guest, Refusal};
use key_schema::value::{CartVersion, CustomerId, RequestHash};

use super::*;
use crate::Basket;
use crate::tests::{eur, now, shop};

const STATUS_SHARDS: StatusShards = StatusShards(8);
const PRODUCT_SHARDS: ProductShards = ProductShards(1);

/// An order of one unit at 1,000, and all items that it depends on.
fn asked() -> (PlaceOrder, Found) {
    let (request, found) = shop(&[1000], &[], None);
    let basket = Basket::try_from(request).expect("a basket");
    (PlaceOrder { customer: "ada".parse().expect("an id"), key: "k".parse().expect("a key"), basket }, found)
}

fn placing(ask: &PlaceOrder, origin: Origin) -> Placing<'_> {
    Placing::new(ask, origin, STATUS_SHARDS, PRODUCT_SHARDS, MaxOpenUnits::new(0))
}

fn at(minute: u32) -> Timestamp {
    format!("2026-11-21T09:{minute:02}:00Z").parse().expect("a time")
}

fn message(max_total: Option<Money>, is_redriven: bool) -> Origin {
    Origin::Queue { queued_at: at(10), max_total, is_redriven }
}

/// The order's item in the queue, accepted at 9:`minute`.
fn waiting(ask: &PlaceOrder, minute: u32) -> QueuedOrder {
    let id = OrderId::of(&ask.customer, &ask.key);
    QueuedOrder::new(id, ask.customer.clone(), ask.basket.hash().clone(), at(minute))
}

fn refused(queued: QueuedOrder) -> QueuedOrder {
    QueuedOrder { refusal: Some(Refusal { at: at(20), rejection: Rejection::UnknownCustomer }), ..queued }
}

fn of_another_request(queued: QueuedOrder) -> QueuedOrder {
    QueuedOrder { request_hash: RequestHash::of(b"another"), ..queued }
}

/// The outcome, if nothing more is to be done.
fn outcome(next: Next) -> Option<Placement> {
    if let Next::Done(outcome) = next { Some(*outcome) } else { None }
}

#[test]
fn a_message_places_only_an_order_whose_request_was_accepted_and_not_refused() {
    let (ask, found) = asked();
    let (own, earlier) = (waiting(&ask, 10), waiting(&ask, 9));
    let table = [
        (None, Some(Placement::NotAccepted)),
        (Some(own.clone()), None),
        (Some(refused(own.clone())), Some(Placement::RefusedBefore)),
        (Some(refused(of_another_request(own.clone()))), Some(Placement::RefusedBefore)),
        (Some(of_another_request(own)), Some(Placement::Mismatch)),
        (Some(earlier.clone()), None),
        (Some(refused(earlier.clone())), Some(Placement::OtherAcceptance)),
        (Some(of_another_request(earlier)), Some(Placement::OtherAcceptance)),
    ];
    for (queued, expected) in table {
        let found = Found { queued: queued.clone(), ..found.clone() };
        let next = placing(&ask, message(None, false)).found(&found, now()).expect("a next request");
        assert!(expected.is_some() || matches!(next, Next::Commit(..)), "{queued:?}");
        assert_eq!(outcome(next), expected, "{queued:?}");
    }
    // By redriving the message, an operator has decided to place the order.
    let next = placing(&ask, message(None, true)).found(&found, now()).expect("a next request");
    assert!(matches!(next, Next::Commit(..)));
}

#[test]
fn a_request_is_rejected_while_a_different_one_with_its_key_is_queued() {
    let (ask, found) = asked();
    let other = of_another_request(waiting(&ask, 10));
    let next = |queued: QueuedOrder| {
        let found = Found { queued: Some(queued), ..found.clone() };
        let mut placing = placing(&ask, Origin::Request);
        assert!(placing.max_total().is_none(), "nothing is quoted yet");
        let next = placing.found(&found, now()).expect("a next request");
        let is_quoted = placing.max_total() == Some(eur(1000));
        // The first read is eventually consistent, so a rejection takes a second one.
        let next =
            if let Next::Read { .. } = next { placing.found(&found, now()).expect("a next request") } else { next };
        (is_quoted, next)
    };
    assert!(matches!(next(other.clone()), (false, Next::Settle(Rejection::KeyReused))));
    assert!(matches!(next(waiting(&ask, 10)), (true, Next::Commit(..))));
    assert!(matches!(next(refused(other.clone())), (true, Next::Commit(..))));
    let expired = QueuedOrder { expires_at: now().as_second(), ..other };
    assert!(matches!(next(expired), (true, Next::Commit(..))));
}

#[test]
fn a_queued_order_costs_no_more_than_its_limit() {
    let (ask, found) = asked();
    let next = |queued: Option<i64>, message_says: Option<i64>| {
        let queued = QueuedOrder { max_total: queued.map(eur), ..waiting(&ask, 10) };
        let found = Found { queued: Some(queued), ..found.clone() };
        placing(&ask, message(message_says.map(eur), false)).found(&found, now()).expect("a next request")
    };
    assert!(matches!(next(None, Some(1000)), Next::Commit(..)));
    assert!(matches!(next(None, Some(999)), Next::Settle(Rejection::PriceChanged { .. })));
    assert!(matches!(next(Some(1000), Some(999)), Next::Commit(..)), "the item's limit takes precedence");
    assert!(matches!(next(Some(999), Some(1000)), Next::Settle(Rejection::PriceChanged { .. })));
}

#[test]
fn the_limit_of_a_queued_order_is_the_total_that_its_customer_expects_or_that_of_the_last_quote() {
    let (mut ask, found) = asked();
    let mut unlimited = placing(&ask, Origin::Request);
    unlimited.found(&found, now()).expect("a next request");
    assert_eq!(unlimited.max_total(), Some(eur(1000)));
    ask.basket = Basket::try_from(crate::OrderRequest { expected_total: Some(eur(7)), ..ask.basket.request().clone() })
        .expect("a basket");
    assert_eq!(placing(&ask, Origin::Request).max_total(), Some(eur(7)));
}

#[test]
fn a_rejection_needs_a_conclusive_read() {
    let (ask, mut found) = asked();
    let product = ask.basket.request().lines[0].product_id.clone();
    found.stock.get_mut(&product).expect("a stock").available = 0;
    // The first read of a request is eventually consistent, so it reads again. That of a message is strong already.
    let mut request = placing(&ask, Origin::Request);
    assert_eq!(request.consistency(), Consistency::Eventual);
    assert!(matches!(request.found(&found, now()), Ok(Next::Read { backoff: false })));
    assert_eq!(request.consistency(), Consistency::Strong);
    assert!(matches!(request.found(&found, now()), Ok(Next::Settle(Rejection::OutOfStock { .. }))));
    found.queued = Some(waiting(&ask, 10));
    let mut message = placing(&ask, message(None, false));
    assert!(matches!(message.found(&found, now()), Ok(Next::Settle(Rejection::OutOfStock { .. }))));

    // If the stock has several cells, only a snapshot read proves "out of stock".
    let two = 2.try_into().expect("a number of cells");
    found.learn(WholeStock::shared_out(product, eur(1000), 0, two));
    let mut message = placing(&ask, Origin::Queue { queued_at: at(10), max_total: None, is_redriven: false });
    assert!(matches!(message.found(&found, now()), Ok(Next::Read { backoff: false })));
    assert_eq!(message.cells_to_read(&found).map(|(_, mode)| mode).collect::<Vec<_>>(), [ReadMode::Snapshot]);
    assert!(matches!(message.found(&found, now()), Ok(Next::Settle(Rejection::OutOfStock { .. }))));
}

#[test]
fn all_cells_are_read_if_the_first_has_too_little() {
    let (ask, mut found) = asked();
    let product = ask.basket.request().lines[0].product_id.clone();
    let mut cells = |count: i64, available: u64| {
        let stock = found.stock.get_mut(&product).expect("a stock");
        (stock.cells, stock.available) = (count.try_into().expect("a number of cells"), available);
        placing(&ask, Origin::Request).cells_to_read(&found).map(|(_, mode)| mode).collect::<Vec<_>>()
    };
    assert_eq!(cells(2, 0), [ReadMode::Eventual]);
    assert_eq!(cells(2, 1), [], "the line takes one unit, and the first cell has one");
    assert_eq!(cells(2, 2), []);
    assert_eq!(cells(1, 0), [], "there are no other cells");
}

#[test]
fn everything_that_an_order_depends_on_is_read() {
    let (request, _) = shop(&[1, 2], &[3, 4], Some(10));
    let basket = Basket::try_from(request).expect("a basket");
    let ask = PlaceOrder { customer: "ada".parse().expect("an id"), key: "k".parse().expect("a key"), basket };
    let keys = placing(&ask, Origin::Request).keys();
    // Header, queued order, customer; product and stock of each line; the discount code; the gift cards.
    assert_eq!(keys.len(), 3 + 2 * 2 + 1 + 2);
}

/// An order of a guest who expires at this time, if at all.
fn of_guest(expires_at: Option<i64>) -> (PlaceOrder, Found) {
    let (ask, found) = asked();
    let id: CustomerId = "guest-1".parse().expect("an id");
    let email = "grace@example.com".parse().expect("an address");
    let guest = Guest { expires_at, ..Guest::new(id.clone(), email, "Grace".to_owned(), now()) };
    (PlaceOrder { customer: id, ..ask }, Found { customer: None, guest: Some(guest), ..found })
}

#[test]
fn the_first_order_of_a_guest_keeps_the_guest_and_later_ones_without_an_address_write_nothing_more() {
    let writes = |(ask, found): (PlaceOrder, Found)| {
        let keys = placing(&ask, Origin::Request).keys();
        assert!(!keys.contains(&Customer::key_of(&ask.customer)));
        match placing(&ask, Origin::Request).found(&found, now()) {
            Ok(Next::Commit(writes, _)) => Some(writes.len()),
            // The first read may be out of date.
            Ok(Next::Read { backoff: false }) => None,
            next => panic!("{next:?}"),
        }
    };
    let of_customer = writes_of_customer();
    let second = now().as_second();
    assert_eq!(writes(of_guest(None)), Some(of_customer));
    assert_eq!(writes(of_guest(Some(second + 1))), Some(of_customer + 1));
    assert_eq!(writes(of_guest(Some(second))), None);
}

fn writes_of_customer() -> usize {
    let (ask, found) = asked();
    let Ok(Next::Commit(writes, _)) = placing(&ask, Origin::Request).found(&found, now()) else { panic!("a commit") };
    writes.len()
}

#[test]
fn an_order_of_a_cart_empties_the_cart_and_has_its_lines() {
    let (ask, found) = asked();
    let cart: CartVersion = 7.try_into().expect("a version");
    let request = crate::OrderRequest { cart: Some(cart), ..ask.basket.request().clone() };
    let ask = PlaceOrder { basket: Basket::try_from(request).expect("a basket"), ..ask };
    let lines = ask.basket.request().lines.iter();
    let lines = lines.map(|line| CartLine { product_id: line.product_id.clone(), quantity: line.quantity }).collect();
    let (customer_id, updated_at) = (ask.customer.clone(), now());
    let whole = Cart { customer_id, lines, updated_at, version: 7, expires_at: i64::MAX, erased_at: None };
    let writes = |cart: Option<Cart>| {
        let found = Found { cart, ..found.clone() };
        match placing(&ask, Origin::Request).found(&found, now()) {
            Ok(Next::Commit(writes, _)) => Some(writes.len()),
            // The first read may be out of date.
            Ok(Next::Read { backoff: false }) => None,
            next => panic!("{next:?}"),
        }
    };
    assert!(placing(&ask, Origin::Request).keys().contains(&Cart::key_of(&ask.customer)));
    assert_eq!(writes(Some(whole.clone())), Some(writes_of_customer() + 1));
    assert_eq!(writes(None), None);
    let others: [fn(&mut Cart); 5] = [
        |cart| cart.version = 8,
        |cart| cart.version = 0,
        |cart| cart.lines.clear(),
        |cart| cart.lines[0].quantity = 9.try_into().expect("a quantity"),
        |cart| cart.expires_at = now().as_second(),
    ];
    for change in others {
        let mut other = whole.clone();
        change(&mut other);
        assert_eq!(writes(Some(other)), None);
    }
    // What a strongly consistent read finds is conclusive.
    let mut request = placing(&ask, Origin::Request);
    let gone = Found { cart: None, ..found.clone() };
    assert!(matches!(request.found(&gone, now()), Ok(Next::Read { backoff: false })));
    assert!(matches!(request.found(&gone, now()), Ok(Next::Settle(Rejection::CartChanged { .. }))));
}

/// A customer with so many open units.
fn with_open_units(open_units: i64, found: &Found) -> Found {
    let customer_id = "ada".parse().expect("an id");
    let stats = CustomerStats { customer_id, orders: 1, open_units, spent: [].into_iter().collect() };
    Found { stats: Some(stats), ..found.clone() }
}

#[test]
fn the_stats_of_the_customer_are_read_only_under_a_cap() {
    let (ask, _) = asked();
    let stats = CustomerStats::key_of(&ask.customer);
    let reads_stats = |max: MaxOpenUnits| {
        Placing::new(&ask, Origin::Request, STATUS_SHARDS, PRODUCT_SHARDS, max).keys().contains(&stats)
    };
    assert!(!reads_stats(MaxOpenUnits::new(0)) && reads_stats(MaxOpenUnits::new(1)));
}

#[test]
fn an_order_beyond_the_cap_of_open_units_is_refused_after_a_conclusive_read() {
    let (ask, found) = asked();
    let capped = |origin| Placing::new(&ask, origin, STATUS_SHARDS, PRODUCT_SHARDS, MaxOpenUnits::new(5));
    let mut request = capped(Origin::Request);
    // The first read may be out of date.
    assert!(matches!(request.found(&with_open_units(5, &found), now()), Ok(Next::Read { backoff: false })));
    assert_eq!(request.consistency(), Consistency::Strong);
    let Ok(Next::Settle(rejection)) = request.found(&with_open_units(5, &found), now()) else { panic!("a refusal") };
    assert_eq!(rejection, Rejection::OpenUnits { open: 5, allowed: 5 });
    // A copy of the request may have placed the order, which then counts itself.
    let Ok(Next::Commit(_, attempt)) = capped(Origin::Request).found(&found, now()) else { panic!("a commit") };
    let existing = Found { order: Some(attempt.order.order), ..with_open_units(5, &found) };
    assert!(matches!(request.settled(rejection, existing.clone(), now()), Next::Recall));
    assert!(matches!(capped(Origin::Request).found(&existing, now()), Ok(Next::Recall)), "a replay is not refused");

    let queued = Found { queued: Some(waiting(&ask, 10)), ..with_open_units(5, &found) };
    let refused = capped(message(None, false)).found(&queued, now());
    assert!(matches!(refused, Ok(Next::Settle(Rejection::OpenUnits { open: 5, allowed: 5 }))));
    for open in [4, 0, -3] {
        assert!(matches!(capped(Origin::Request).found(&with_open_units(open, &found), now()), Ok(Next::Commit(..))));
    }
    assert!(matches!(
        placing(&ask, Origin::Request).found(&with_open_units(i64::MAX, &found), now()),
        Ok(Next::Commit(..))
    ));
}

#[test]
fn the_cap_does_not_concern_an_order_that_gift_cards_pay() {
    let cap = MaxOpenUnits::new(1);
    for (balance, is_refused) in [(6000, false), (4999, true)] {
        let (request, found) = shop(&[1000, 2000], &[balance], None);
        let basket = Basket::try_from(request).expect("a basket");
        let quote = Quote::of(&basket, &found, &TaxRules::default(), now()).expect("a quote");
        assert_eq!((quote.units(), quote.within(cap, None).is_err()), (3, is_refused), "{balance}");
    }
}

#[test]
fn a_snapshot_read_decides_whether_a_rejection_stands() {
    let (ask, _) = asked();
    let rejection = || Rejection::UnknownCustomer;
    let settled = |origin: Origin, queued: Option<QueuedOrder>| {
        outcome(placing(&ask, origin).settled(rejection(), Found { queued, ..Found::default() }, now()))
    };
    let own = waiting(&ask, 10);
    let rejected = Some(Placement::Rejected(rejection()));
    assert_eq!(settled(Origin::Request, None), rejected);
    assert_eq!(settled(Origin::Request, Some(own.clone())), Some(Placement::AlreadyQueued(own.clone())));
    assert_eq!(settled(Origin::Request, Some(refused(own.clone()))), rejected);
    assert_eq!(settled(Origin::Request, Some(of_another_request(own.clone()))), rejected);
    assert_eq!(settled(message(None, false), Some(own)), rejected);

    let mut unanswered = placing(&ask, Origin::Request);
    assert!(matches!(unanswered.unanswered(), Next::Read { backoff: true }));
    assert!(matches!(unanswered.settled(rejection(), Found::default(), now()), Next::Unknown));
}

#[test]
fn an_order_that_exists_is_replayed_only_to_the_request_that_placed_it() {
    let (ask, found) = asked();
    let Ok(Next::Commit(_, attempt)) = placing(&ask, Origin::Request).found(&found, now()) else { panic!("a commit") };
    let placed = attempt.order.clone();
    let existing = || Found { order: Some(placed.order.clone()), ..found.clone() };
    assert!(matches!(placing(&ask, Origin::Request).found(&existing(), now()), Ok(Next::Recall)));
    assert!(matches!(placing(&ask, Origin::Request).settled(Rejection::KeyReused, existing(), now()), Next::Recall));
    assert_eq!(Placing::replay(&ask, &placed), Placement::Replayed(placed.clone()));
    let (request, _) = shop(&[1, 2], &[], None);
    let other = PlaceOrder { basket: Basket::try_from(request).expect("a basket"), ..ask };
    assert_eq!(Placing::replay(&other, &placed), Placement::Rejected(Rejection::KeyReused));
}
