//! Each decision by itself. The model in `lab/models` explores their sequences.

use key_schema::entity::{Cart, CartLine, Customer, CustomerStats, Guest, Refusal};
use key_schema::layout::Consistency;
use key_schema::value::{CartVersion, CustomerId, RequestHash};
use table::{ProductShards, StatusShards};

use super::PlacingAction::{Commit, Done, Read, Recall, Settle, Unknown};
use super::*;
use crate::placing::quote::tests::{eur, now, shop};
use crate::{Basket, GuestShare, MaxOpenUnits, Numbering, TaxRules};

/// A shop without taxes and numbers of invoices, with this cap.
fn settings(max_open_units: u32) -> &'static PlacingSettings {
    let (tax_rules, numbering) = (TaxRules::default(), Numbering::default());
    let (status_shards, product_shards) = (StatusShards(8), ProductShards(1));
    let max_open_units = MaxOpenUnits::new(max_open_units);
    let guest_share = GuestShare { percent: 75 };
    Box::leak(Box::new(PlacingSettings {
        status_shards,
        product_shards,
        max_open_units,
        guest_share,
        tax_rules,
        numbering,
    }))
}

/// An order of one unit at 1,000, and all items that it depends on.
fn asked() -> (OrderRequest, ItemsRead) {
    let (order, items) = shop(&[1000], &[], None);
    let basket = Basket::try_from(order).expect("a basket");
    (OrderRequest { customer: "ada".parse().expect("an id"), key: "k".parse().expect("a key"), basket }, items)
}

fn placing(request: &OrderRequest, origin: Origin) -> PlacingAttempt<'_> {
    PlacingAttempt::new(request, origin, settings(0))
}

fn at(minute: u32) -> Timestamp {
    format!("2026-11-21T09:{minute:02}:00Z").parse().expect("a time")
}

fn message(max_total: Option<Money>, is_redriven: bool) -> Origin {
    Origin::Queue { queued_at: at(10), max_total, is_redriven }
}

/// The order's item in the queue, accepted at 9:`minute`.
fn waiting(request: &OrderRequest, minute: u32) -> QueuedOrder {
    let id = OrderId::of(&request.customer, &request.key);
    QueuedOrder::new(id, request.customer.clone(), request.basket.hash().clone(), at(minute))
}

fn refused(queued: QueuedOrder) -> QueuedOrder {
    QueuedOrder { refusal: Some(Refusal { at: at(20), rejection: Rejection::UnknownCustomer }), ..queued }
}

fn of_another_request(queued: QueuedOrder) -> QueuedOrder {
    QueuedOrder { request_hash: RequestHash::of(b"another"), ..queued }
}

/// The outcome, if nothing more is to be done.
fn outcome(next: PlacingAction) -> Option<PlacingOutcome> {
    if let Done(outcome) = next { Some(*outcome) } else { None }
}

#[test]
fn a_message_places_only_an_order_whose_request_was_accepted_and_not_refused() {
    let (request, items) = asked();
    let (own, earlier) = (waiting(&request, 10), waiting(&request, 9));
    let table = [
        (None, Some(PlacingOutcome::NotAccepted)),
        (Some(own.clone()), None),
        (Some(refused(own.clone())), Some(PlacingOutcome::RefusedBefore)),
        (Some(refused(of_another_request(own.clone()))), Some(PlacingOutcome::RefusedBefore)),
        (Some(of_another_request(own)), Some(PlacingOutcome::Mismatch)),
        (Some(earlier.clone()), None),
        (Some(refused(earlier.clone())), Some(PlacingOutcome::OtherAcceptance)),
        (Some(of_another_request(earlier)), Some(PlacingOutcome::OtherAcceptance)),
    ];
    for (queued, expected) in table {
        let items = ItemsRead { queued: queued.clone(), ..items.clone() };
        let next = placing(&request, message(None, false)).items_read(&items, now()).expect("a next request");
        assert!(expected.is_some() || matches!(next, Commit(..)), "{queued:?}");
        assert_eq!(outcome(next), expected, "{queued:?}");
    }
    // By redriving the message, an operator has decided to place the order.
    let next = placing(&request, message(None, true)).items_read(&items, now()).expect("a next request");
    assert!(matches!(next, Commit(..)));
}

#[test]
fn a_request_is_rejected_while_a_different_one_with_its_key_is_queued() {
    let (request, items) = asked();
    let other = of_another_request(waiting(&request, 10));
    let next = |queued: QueuedOrder| {
        let items = ItemsRead { queued: Some(queued), ..items.clone() };
        let mut placing = placing(&request, Origin::Request);
        assert!(placing.max_total().is_none(), "nothing is quoted yet");
        let next = placing.items_read(&items, now()).expect("a next request");
        let is_quoted = placing.max_total() == Some(eur(1000));
        // The first read is eventually consistent, so a rejection takes a second one.
        let next =
            if let Read { .. } = next { placing.items_read(&items, now()).expect("a next request") } else { next };
        (is_quoted, next)
    };
    assert!(matches!(next(other.clone()), (false, Settle(Rejection::KeyReused))));
    assert!(matches!(next(waiting(&request, 10)), (true, Commit(..))));
    assert!(matches!(next(refused(other.clone())), (true, Commit(..))));
    let expired = QueuedOrder { expires_at: now().as_second(), ..other };
    assert!(matches!(next(expired), (true, Commit(..))));
}

#[test]
fn a_queued_order_costs_no_more_than_its_limit() {
    let (request, items) = asked();
    let next = |queued: Option<i64>, message_says: Option<i64>| {
        let queued = QueuedOrder { max_total: queued.map(eur), ..waiting(&request, 10) };
        let items = ItemsRead { queued: Some(queued), ..items.clone() };
        placing(&request, message(message_says.map(eur), false)).items_read(&items, now()).expect("a next request")
    };
    assert!(matches!(next(None, Some(1000)), Commit(..)));
    assert!(matches!(next(None, Some(999)), Settle(Rejection::PriceChanged { .. })));
    assert!(matches!(next(Some(1000), Some(999)), Commit(..)), "the item's limit takes precedence");
    assert!(matches!(next(Some(999), Some(1000)), Settle(Rejection::PriceChanged { .. })));
}

#[test]
fn a_queued_order_has_the_id_of_the_request_that_was_accepted() {
    let (request, items) = asked();
    let accepted = QueuedOrder { request_id: Some("accepted".to_owned()), ..waiting(&request, 10) };
    for (queued, by) in [(accepted, "accepted"), (waiting(&request, 10), "message")] {
        let items = ItemsRead { queued: Some(queued), ..items.clone() };
        let placed = placing(&request, message(None, false)).by(Some("message".to_owned())).items_read(&items, now());
        let Ok(Commit(_, sent)) = placed else { panic!("a commit") };
        assert_eq!(sent.order.order.request_id.as_deref(), Some(by));
    }
}

#[test]
fn the_limit_of_a_queued_order_is_the_total_that_its_customer_expects_or_that_of_the_last_quote() {
    let (mut request, items) = asked();
    let mut unlimited = placing(&request, Origin::Request);
    unlimited.items_read(&items, now()).expect("a next request");
    assert_eq!(unlimited.max_total(), Some(eur(1000)));
    request.basket =
        Basket::try_from(crate::NewOrder { expected_total: Some(eur(7)), ..request.basket.order().clone() })
            .expect("a basket");
    assert_eq!(placing(&request, Origin::Request).max_total(), Some(eur(7)));
}

#[test]
fn a_rejection_needs_a_conclusive_read() {
    let (request, mut items) = asked();
    let product = request.basket.order().lines[0].product_id.clone();
    items.stock.get_mut(&product).expect("a stock").available = 0;
    // The first read of a request is eventually consistent, so it reads again. That of a message is strong already.
    let mut attempt = placing(&request, Origin::Request);
    assert_eq!(attempt.reads().consistency(), Consistency::Eventual);
    assert!(matches!(attempt.items_read(&items, now()), Ok(Read { backoff: false })));
    assert_eq!(attempt.reads().consistency(), Consistency::Strong);
    assert!(matches!(attempt.items_read(&items, now()), Ok(Settle(Rejection::OutOfStock { .. }))));
    items.queued = Some(waiting(&request, 10));
    let mut message = placing(&request, message(None, false));
    assert!(matches!(message.items_read(&items, now()), Ok(Settle(Rejection::OutOfStock { .. }))));

    // If the stock has several cells, only a snapshot read proves "out of stock".
    let two = 2.try_into().expect("a number of cells");
    items.add_cells(WholeStock::shared_out(product, eur(1000), 0, two));
    let mut message = placing(&request, Origin::Queue { queued_at: at(10), max_total: None, is_redriven: false });
    assert!(matches!(message.items_read(&items, now()), Ok(Read { backoff: false })));
    assert_eq!(message.cells_to_read(&items).map(|(_, mode)| mode).collect::<Vec<_>>(), [ReadMode::Snapshot]);
    assert!(matches!(message.items_read(&items, now()), Ok(Settle(Rejection::OutOfStock { .. }))));
}

#[test]
fn all_cells_are_read_if_the_first_has_too_little() {
    let (request, mut items) = asked();
    let product = request.basket.order().lines[0].product_id.clone();
    let mut cells = |count: i64, available: u64| {
        let stock = items.stock.get_mut(&product).expect("a stock");
        (stock.cells, stock.available) = (count.try_into().expect("a number of cells"), available);
        placing(&request, Origin::Request).cells_to_read(&items).map(|(_, mode)| mode).collect::<Vec<_>>()
    };
    assert_eq!(cells(2, 0), [ReadMode::Eventual]);
    assert_eq!(cells(2, 1), [], "the line takes one unit, and the first cell has one");
    assert_eq!(cells(2, 2), []);
    assert_eq!(cells(1, 0), [], "there are no other cells");
}

#[test]
fn everything_that_an_order_depends_on_is_read() {
    let (order, _) = shop(&[1, 2], &[3, 4], Some(10));
    let basket = Basket::try_from(order).expect("a basket");
    let request = OrderRequest { customer: "ada".parse().expect("an id"), key: "k".parse().expect("a key"), basket };
    let keys = placing(&request, Origin::Request).keys();
    // Header, queued order, customer; product and stock of each line; the discount code; the gift cards.
    assert_eq!(keys.len(), 3 + 2 * 2 + 1 + 2);
}

/// An order of a guest who expires at this time, if at all.
fn of_guest(expires_at: Option<i64>) -> (OrderRequest, ItemsRead) {
    let (request, items) = asked();
    let id: CustomerId = "guest-1".parse().expect("an id");
    let email = "grace@example.com".parse().expect("an address");
    let guest = Guest { expires_at, ..Guest::new(id.clone(), email, "Grace".to_owned(), now()) };
    (OrderRequest { customer: id, ..request }, ItemsRead { customer: None, guest: Some(guest), ..items })
}

#[test]
fn the_first_order_of_a_guest_keeps_the_guest_and_later_ones_without_an_address_write_nothing_more() {
    let writes = |(request, items): (OrderRequest, ItemsRead)| {
        let keys = placing(&request, Origin::Request).keys();
        assert!(!keys.contains(&Customer::key_of(&request.customer)));
        match placing(&request, Origin::Request).items_read(&items, now()) {
            Ok(Commit(writes, _)) => Some(writes.len()),
            // The first read may be out of date.
            Ok(Read { backoff: false }) => None,
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
    let (request, items) = asked();
    let Ok(Commit(writes, _)) = placing(&request, Origin::Request).items_read(&items, now()) else {
        panic!("a commit")
    };
    writes.len()
}

#[test]
fn an_order_of_a_cart_empties_the_cart_and_has_its_lines() {
    let (request, items) = asked();
    let cart: CartVersion = 7.try_into().expect("a version");
    let order = crate::NewOrder { cart: Some(cart), ..request.basket.order().clone() };
    let request = OrderRequest { basket: Basket::try_from(order).expect("a basket"), ..request };
    let lines = request.basket.order().lines.iter();
    let lines = lines.map(|line| {
        let when_added = items.products[&line.product_id].offer();
        CartLine { product_id: line.product_id.clone(), quantity: line.quantity, when_added }
    });
    let lines = lines.collect();
    let (customer_id, updated_at) = (request.customer.clone(), now());
    let whole = Cart { customer_id, lines, updated_at, version: 7, expires_at: i64::MAX, erased_at: None };
    let writes = |cart: Option<Cart>| {
        let items = ItemsRead { cart, ..items.clone() };
        match placing(&request, Origin::Request).items_read(&items, now()) {
            Ok(Commit(writes, _)) => Some(writes.len()),
            // The first read may be out of date.
            Ok(Read { backoff: false }) => None,
            next => panic!("{next:?}"),
        }
    };
    assert!(placing(&request, Origin::Request).keys().contains(&Cart::key_of(&request.customer)));
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
    let mut attempt = placing(&request, Origin::Request);
    let gone = ItemsRead { cart: None, ..items.clone() };
    assert!(matches!(attempt.items_read(&gone, now()), Ok(Read { backoff: false })));
    assert!(matches!(attempt.items_read(&gone, now()), Ok(Settle(Rejection::CartChanged { .. }))));
}

/// A customer with so many open units.
fn with_open_units(open_units: i64, items: &ItemsRead) -> ItemsRead {
    let customer_id = "ada".parse().expect("an id");
    let stats = CustomerStats { customer_id, orders: 1, open_units, spent: [].into_iter().collect() };
    ItemsRead { stats: Some(stats), ..items.clone() }
}

#[test]
fn the_stats_of_the_customer_are_read_only_under_a_cap() {
    let (request, _) = asked();
    let stats = CustomerStats::key_of(&request.customer);
    let reads_stats = |max: u32| PlacingAttempt::new(&request, Origin::Request, settings(max)).keys().contains(&stats);
    assert!(!reads_stats(0) && reads_stats(1));
}

#[test]
fn an_order_beyond_the_cap_of_open_units_is_refused_after_a_conclusive_read() {
    let (request, items) = asked();
    let capped = |origin| PlacingAttempt::new(&request, origin, settings(5));
    let mut attempt = capped(Origin::Request);
    // The first read may be out of date.
    assert!(matches!(attempt.items_read(&with_open_units(5, &items), now()), Ok(Read { backoff: false })));
    assert_eq!(attempt.reads().consistency(), Consistency::Strong);
    let Ok(Settle(rejection)) = attempt.items_read(&with_open_units(5, &items), now()) else { panic!("a refusal") };
    assert_eq!(rejection, Rejection::OpenUnits { open: 5, allowed: 5 });
    // A copy of the request may have placed the order, which then counts itself.
    let Ok(Commit(_, sent)) = capped(Origin::Request).items_read(&items, now()) else { panic!("a commit") };
    let existing = ItemsRead { order: Some(sent.order.order), ..with_open_units(5, &items) };
    assert!(matches!(attempt.settled(rejection, existing.clone(), now()), Recall));
    assert!(matches!(capped(Origin::Request).items_read(&existing, now()), Ok(Recall)), "a replay is not refused");

    let queued = ItemsRead { queued: Some(waiting(&request, 10)), ..with_open_units(5, &items) };
    let refused = capped(message(None, false)).items_read(&queued, now());
    assert!(matches!(refused, Ok(Settle(Rejection::OpenUnits { open: 5, allowed: 5 }))));
    for open in [4, 0, -3] {
        assert!(matches!(capped(Origin::Request).items_read(&with_open_units(open, &items), now()), Ok(Commit(..))));
    }
    assert!(matches!(
        placing(&request, Origin::Request).items_read(&with_open_units(i64::MAX, &items), now()),
        Ok(Commit(..))
    ));
}

#[test]
fn the_cap_does_not_concern_an_order_that_gift_cards_pay() {
    let cap = MaxOpenUnits::new(1);
    for (balance, is_refused) in [(6000, false), (4999, true)] {
        let (request, items) = shop(&[1000, 2000], &[balance], None);
        let basket = Basket::try_from(request).expect("a basket");
        let quote = Quote::of(&basket, &items, &TaxRules::default(), now()).expect("a quote");
        assert_eq!((quote.units(), quote.within(cap, None).is_err()), (3, is_refused), "{balance}");
    }
}

#[test]
fn a_snapshot_read_decides_whether_a_rejection_stands() {
    let (request, _) = asked();
    let rejection = || Rejection::UnknownCustomer;
    let settled = |origin: Origin, queued: Option<QueuedOrder>| {
        outcome(placing(&request, origin).settled(rejection(), ItemsRead { queued, ..ItemsRead::default() }, now()))
    };
    let own = waiting(&request, 10);
    let rejected = Some(PlacingOutcome::Rejected(rejection()));
    assert_eq!(settled(Origin::Request, None), rejected);
    assert_eq!(settled(Origin::Request, Some(own.clone())), Some(PlacingOutcome::AlreadyQueued(own.clone())));
    assert_eq!(settled(Origin::Request, Some(refused(own.clone()))), rejected);
    assert_eq!(settled(Origin::Request, Some(of_another_request(own.clone()))), rejected);
    assert_eq!(settled(message(None, false), Some(own)), rejected);

    let mut unanswered = placing(&request, Origin::Request);
    assert!(matches!(unanswered.unanswered(), Read { backoff: true }));
    assert!(matches!(unanswered.settled(rejection(), ItemsRead::default(), now()), Unknown));
}

#[test]
fn an_order_that_exists_is_replayed_only_to_the_request_that_placed_it() {
    let (request, items) = asked();
    let Ok(Commit(_, sent)) = placing(&request, Origin::Request).items_read(&items, now()) else { panic!("a commit") };
    let placed = sent.order.clone();
    let existing = || ItemsRead { order: Some(placed.order.clone()), ..items.clone() };
    assert!(matches!(placing(&request, Origin::Request).items_read(&existing(), now()), Ok(Recall)));
    assert!(matches!(placing(&request, Origin::Request).settled(Rejection::KeyReused, existing(), now()), Recall));
    assert_eq!(PlacingAttempt::replay(&request, &placed), PlacingOutcome::Replayed(placed.clone()));
    let (order, _) = shop(&[1, 2], &[], None);
    let other = OrderRequest { basket: Basket::try_from(order).expect("a basket"), ..request };
    assert_eq!(PlacingAttempt::replay(&other, &placed), PlacingOutcome::Rejected(Rejection::KeyReused));
}
