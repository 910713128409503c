//! The same changes always make the same events, and no others, for any history of orders and any delivery of the
//! stream.
#![allow(clippy::expect_used, reason = "tests")]

mod history;
mod sample;

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{
    CardPayment, Held, Invoice, Order, OrderLine, OrderStatus, Payment, PaymentDue, Product, Progress, Rejection,
    Return, ReturnStatus, Work,
};
use key_schema::value::{Money, OrderId};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, subsequence};
use serde_dynamo::{AttributeValue, Item};

use crate::{Draft, Event, KINDS, MOST_BYTES, MOST_ENTRIES, OrderPlaced, Subject, Waiting, drafts_of, next_call};
use history::{histories, mark};
pub(crate) use sample::samples;
use sample::{
    FEW_LEFT, PLACED_AT, Record, at_provider, event_of, events_of, image, line, order, product, queued, record,
    with_cancelled,
};

/// A rejection is published once, without the codes in the request. Queueing, delaying or repeating an order has no
/// event.
#[test]
fn a_rejection_is_published_without_codes() {
    let card = Rejection::GiftCardBalance { code: "SECRET".parse().expect("a code") };
    let refused = || queued(Some(card.clone()));
    let event = event_of(&record("MODIFY", queued(None), refused())).expect("an event");
    let detail = event.detail().expect("JSON");
    assert!(detail.contains("\"reason\":\"gift-card-balance\"") && !detail.contains("SECRET"), "{detail}");
    for (old, new) in [(queued(None), queued(None)), (refused(), refused()), (refused(), queued(None))] {
        assert_eq!(event_of(&record("MODIFY", old, new)), None);
    }
    assert_eq!(event_of(&record("INSERT", Item::default(), queued(None))), None);
}

/// Each event of a change has the request that made it. A writer that does not know the attribute leaves the former one.
#[test]
fn the_request_of_an_earlier_change_is_not_that_of_an_event() {
    let by = |request: &str, status| Order { request_id: Some(request.to_owned()), status, version: 2, ..order("1") };
    let before = by("placed", OrderStatus::Pending);
    for (request, told) in [("paid", Some("paid")), ("placed", None)] {
        let event = event_of(&record("MODIFY", image(&before), image(&by(request, OrderStatus::Paid))));
        assert_eq!(event.expect("an event").request_id(), told);
    }
    let fewer = with_cancelled(&before, 1);
    let [event] = &events_of(&record("MODIFY", image(&before), image(&fewer)))[..] else { panic!("one event") };
    assert_eq!((event.detail_type(), event.request_id()), ("UnitsCancelled", None));
}

fn waits(position: usize, event: &Event) -> Waiting<'_> {
    Waiting { position, subject: event.subject(), bytes: event.detail().expect("JSON").len() }
}

proptest! {
    #[test]
    fn there_is_one_event_for_each_change_and_no_two_share_an_id(history in histories()) {
        let events = history.events();
        let ids: BTreeSet<_> = events.iter().map(Event::id).collect();
        prop_assert_eq!(ids.len(), events.len());
        let published = events.iter().map(|event| {
            let subject = event.subject().to_string();
            let (_, number) = subject.split_once('-').expect("order-NUMBER");
            (event.detail_type(), number.parse().expect("a number"), mark(event))
        });
        prop_assert_eq!(published.collect::<BTreeSet<_>>(), history.changes);
    }

    #[test]
    fn the_amounts_of_an_order_s_events_add_up_to_what_was_received_returned_and_is_due(history in histories()) {
        let events = history.events();
        for (number, order) in &history.orders {
            let (mut received, mut returned, mut ever_due) = (0, 0, 0);
            for event in events.iter().filter(|event| event.subject() == Subject::Order(&order.order_id)) {
                match event {
                    Event::PaymentCaptured(payment) => received += payment.amount.amount(),
                    Event::RefundMade(refund) => returned += refund.amount.amount(),
                    Event::RefundDue(refund) => {
                        ever_due += refund.amount.amount();
                        received += if refund.captured_after_cancellation { refund.amount.amount() } else { 0 };
                    }
                    _ => {}
                }
            }
            let balance = history.cards[number].balance();
            let [was_received, was_returned, is_due] = [balance.received, balance.returned, balance.due].map(Money::amount);
            prop_assert_eq!((received, returned, ever_due), (was_received, was_returned, was_returned + is_due));
        }
    }

    /// Lambda may divide the stream into any batches, and delivers records again after a failure.
    #[test]
    fn records_that_are_delivered_again_make_the_same_events_byte_for_byte(
        history in histories(), rewinds in vec((any::<Index>(), any::<Index>()), 0..6),
    ) {
        let details = |records: &[Record]| -> Vec<(String, String)> {
            let events = records.iter().flat_map(events_of);
            events.map(|event| (event.id().as_str().to_owned(), event.detail().expect("JSON"))).collect()
        };
        let expected: BTreeSet<_> = details(&history.records).into_iter().collect();
        let mut delivered = history.records.clone();
        for (from, to) in rewinds.iter().filter(|_| !history.records.is_empty()) {
            let (from, to) = (from.index(history.records.len()), to.index(history.records.len()));
            delivered.extend_from_slice(&history.records[from.min(to)..=from.max(to)]);
        }
        prop_assert_eq!(details(&delivered).into_iter().collect::<BTreeSet<_>>(), expected);
    }

    /// Some entries of each call fail, and wait for the next call.
    #[test]
    fn the_events_of_an_order_arrive_in_the_order_of_its_changes_even_if_entries_fail(
        history in histories(), failures in vec(subsequence((0..MOST_ENTRIES).collect::<Vec<_>>(), 0..MOST_ENTRIES), 8),
    ) {
        let events = history.events();
        let mut waiting: BTreeMap<usize, &Event> = events.iter().enumerate().collect();
        let mut arrived = Vec::new();
        for failing in failures.iter().chain(std::iter::repeat(&vec![])) {
            let call = next_call(waiting.iter().map(|(position, event)| waits(*position, event)));
            prop_assert_eq!(call.is_empty(), waiting.is_empty());
            prop_assert!(call.len() <= MOST_ENTRIES);
            if call.is_empty() {
                break;
            }
            let taken = call.iter().enumerate().filter(|(entry, _)| !failing.contains(entry));
            arrived.extend(taken.map(|(_, position)| waiting.remove(position).expect("it waits")));
        }
        for order in history.orders.values() {
            let of_order = |event: &&&Event| event.subject() == Subject::Order(&order.order_id);
            let made = events.iter().collect::<Vec<_>>();
            prop_assert_eq!(
                made.iter().filter(of_order).collect::<Vec<_>>(), arrived.iter().filter(of_order).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn the_derivation_of_ids_never_changes() {
    let ids = samples().map(|event| event.id().as_str().to_owned());
    let expected: [String; 23] = [
        "9ea45d61-8e1e-597f-8ec9-0932f86e9492",
        "c0cf4667-64d7-5c4e-8263-e2bd48b93968",
        "89a3bba0-1147-5c75-a6ea-8e6371a49ddc",
        "d18e845a-6cc2-5954-b4c1-582ea46ed4bc",
        "eda9d064-d5cb-563f-b291-c52504ffad41",
        "a5d99ba1-5367-5727-8f64-b40007f619e1",
        "206584b1-df4d-5855-90a9-1eb7c2b8281c",
        "074eaf7b-85fa-5462-8877-aa6b62cf7878",
        "1b277d77-246d-5a7b-8d81-0c99cf8c30e8",
        "347d08f0-9d9f-5a76-9592-64dc11d7edf3",
        "c394d57c-f07e-50bd-b632-b167914afc98",
        "50e31fec-f3b7-5124-878a-303c8ae15184",
        "9aad1e89-7b96-5976-85ed-09695a2f47f1",
        "272fa2cb-a753-560c-8ff7-2e8b022c07ef",
        "8b751a2b-21f9-5309-b9a2-c61a3bf92d67",
        "195740ea-c750-5cb0-b8a8-eb0ecb4545f9",
        "b25e086f-71fd-5f46-82c1-fe43329e18f6",
        "ba5b7984-4d19-5783-ab00-8ca836234385",
        "ec219831-fb54-5211-96d0-7bf2a94f4f67",
        "0a0062be-c179-5fd8-b90b-e76fd926b3eb",
        "760ede2f-aaf5-5679-84cc-cdc1204af181",
        "1bdfeeeb-4b27-5c34-9cf4-5f4be9c843a7",
        "41d09df1-1f45-54d5-822b-44fc8db6f5f0",
    ]
    .map(str::to_owned);
    assert_eq!(ids, expected);
}

#[test]
fn an_unreadable_order_is_an_error_and_not_skipped() {
    let mut newer = image(&order("a"));
    newer.insert("status".to_owned(), AttributeValue::S("LOST".to_owned()));
    drafts_of(record("INSERT", Item::default(), newer), FEW_LEFT).expect_err("an unknown status");
}

/// What the provider reports late, of an order that is cancelled, is not lost.
#[test]
fn a_payment_that_comes_too_late_has_an_event() {
    let order: OrderId = sample::ID.parse().expect("an id");
    let of = |card: CardPayment| match Payment::Card(card).cancelled(true) {
        Payment::Card(card) => card,
        Payment::GiftCard { .. } => panic!("a card"),
    };
    let changed = |old: &CardPayment, new: &CardPayment| {
        let image = |card: &CardPayment| image(&sample::invoice(&order, card.clone()));
        event_of(&record("MODIFY", image(old), image(new)))
    };
    let Some(Event::PaymentFailed(failed)) = changed(&at_provider(Progress::Started), &at_provider(Progress::Released))
    else {
        panic!("a failure")
    };
    assert_eq!(failed.reason, crate::Failure::Expired);
    let ended = at_provider(Progress::Ended);
    let expired = of(ended.clone());
    assert!(matches!(changed(&ended, &expired), Some(Event::OrderExpired(_))), "its payment had ended before");

    let expired = of(at_provider(Progress::Started));
    let report = |captured, refunded| {
        let progress = if captured > 0 { Progress::Captured } else { Progress::Authorized };
        expired.observed(Held { captured, refunded, ..Held::of(progress) }, 0)
    };
    let Some(Event::PaymentFailed(failed)) = changed(&expired, &report(0, 0)) else { panic!("a failure") };
    assert_eq!(failed.reason, crate::Failure::TooLate);
    let Some(Event::RefundDue(due)) = changed(&expired, &report(4798, 0)) else { panic!("a refund that is due") };
    assert!(due.captured_after_cancellation && due.amount.amount() == 4798);
    // The provider reports the refund before the shop knew of the capture.
    let Some(Event::RefundMade(made)) = changed(&expired, &report(4798, 4798)) else { panic!("a refund") };
    assert_eq!(made.amount.amount(), 4798);
}

/// Each refund has an event with its own amount and id, when it becomes due and when it is made.
#[test]
fn partial_refunds_have_events_of_their_own() {
    let order: OrderId = sample::ID.parse().expect("an id");
    let captured = Held { captured: 4798, ..Held::of(Progress::Captured) };
    let paid = sample::invoice(&order, at_provider(Progress::Authorized).observed(captured, 0));
    let reported = |invoice: &Invoice, refunded| {
        let card = invoice.card().expect("a card payment").observed(Held { refunded, ..captured }, 9);
        invoice.clone().with_card(card)
    };
    let story = [
        paid.clone(),
        paid.clone().with_credited(1000),
        reported(&paid.clone().with_credited(1000), 1000),
        reported(&paid.clone().with_credited(1000), 1000).with_credited(1500),
        reported(&reported(&paid.clone().with_credited(1000), 1000).with_credited(1500), 1500),
    ];
    let events: Vec<_> = story
        .windows(2)
        .map(|pair| event_of(&record("MODIFY", image(&pair[0]), image(&pair[1]))))
        .collect::<Option<_>>()
        .expect("an event of each change");
    let told = events.iter().map(|event| match event {
        Event::RefundDue(due) => ("due", due.amount.amount()),
        Event::RefundMade(made) => ("made", made.amount.amount()),
        other => panic!("{other:?}"),
    });
    assert_eq!(told.collect::<Vec<_>>(), [("due", 1000), ("made", 1000), ("due", 500), ("made", 500)]);
    let ids: BTreeSet<_> = events.iter().map(Event::id).collect();
    assert_eq!(ids.len(), events.len());
}

/// Each cancellation has the units and the amount of its own. Units that are credited after the shipment came back in a
/// return, which has events of its own.
#[test]
fn cancelled_units_have_an_event_with_what_this_change_cancelled() {
    let changed = |old: &Order, new: &Order| events_of(&record("MODIFY", image(old), image(new)));
    let story = [order("a"), with_cancelled(&order("a"), 1), with_cancelled(&with_cancelled(&order("a"), 1), 3)];
    for (pair, units) in story.windows(2).zip([1, 2]) {
        let [Event::UnitsCancelled(event)] = &changed(&pair[0], &pair[1])[..] else { panic!("an event") };
        assert_eq!((event.lines[0].quantity.get(), event.amount), (units, sample::eur(i64::from(units) * 2399)));
        assert_eq!((event.lines.len(), event.version), (1, pair[1].version));
    }
    assert_eq!(changed(&story[2], &Order { version: 4, ..story[2].clone() }), []);

    // Gift cards pay for the units that are left.
    let paid = Order { status: OrderStatus::Paid, ..story[1].clone() };
    let kinds: Vec<_> = changed(&story[0], &paid).iter().map(Event::detail_type).collect();
    assert_eq!(kinds, ["OrderStatusChanged", "UnitsCancelled"]);
    let cancelled = Order { status: OrderStatus::Cancelled, version: 4, ..story[2].clone() };
    let kinds: Vec<_> = changed(&story[2], &cancelled).iter().map(Event::detail_type).collect();
    assert_eq!(kinds, ["OrderStatusChanged"], "the rest of the units");
    let delivered = Order { status: OrderStatus::Delivered, ..story[1].clone() };
    assert_eq!(changed(&delivered, &with_cancelled(&delivered, 2)), []);
}

/// A return that is restored from a backup is not requested again, and a refused one has no amount.
#[test]
fn a_return_has_an_event_when_it_is_requested_and_when_it_is_closed() {
    let requested = sample::given_back(&sample::ID.parse().expect("an id"));
    let later = Record {
        written_at: "2026-11-25T00:00:00.000Z".parse().expect("a time"),
        ..record("INSERT", Item::default(), image(&requested))
    };
    assert_eq!(event_of(&later), None);
    let closed_at = Some("2026-11-25T00:00:00.000Z".parse().expect("a time"));
    let refused = Return { status: ReturnStatus::Refused, closed_at, ..requested.clone() };
    let Some(Event::ReturnReceived(event)) = event_of(&record("MODIFY", image(&requested), image(&refused))) else {
        panic!("an event");
    };
    assert_eq!((event.accepted, event.amount), (false, None));
    assert_eq!(event_of(&record("MODIFY", image(&refused), image(&refused))), None);
}

/// An order is placed once. A header that is restored by hand or from another table is not placed a second time.
#[test]
fn the_restoration_of_an_order_is_not_its_placing() {
    let insert = |order: &Order, written_at: &str| {
        let written_at = written_at.parse().expect("a time");
        drafts_of(Record { written_at, ..record("INSERT", Item::default(), image(order)) }, FEW_LEFT)
            .expect("readable")
            .pop()
    };
    let placed = order("a");
    // The stream's times are whole seconds, so they may be a little before the order's own time.
    for at in ["2026-11-21T09:29:59.000Z", "2026-11-21T09:30:30.000Z"] {
        assert_eq!(insert(&placed, at), Some(Draft::Placed(Box::new(placed.clone()))), "{at}");
    }
    assert_eq!(insert(&placed, "2026-11-21T10:30:01.000Z"), None);
    assert_eq!(insert(&Order { version: 2, ..placed.clone() }, "2026-11-21T09:30:30.000Z"), None);
    // Nobody is told of an order that was imported, however young it is.
    let imported_at = Some(placed.placed_at);
    assert_eq!(insert(&Order { imported_at, ..placed }, "2026-11-21T09:30:30.000Z"), None);
}

#[test]
fn the_restoration_of_a_mark_is_no_new_payment_that_is_due() {
    let since = PLACED_AT.parse().expect("a time");
    let expected = order("a").total;
    let mark = PaymentDue { order_id: order("a").order_id, shard: 0, since, work: Work::Provider, amount: expected };
    let insert = |written_at: &str| {
        let written_at = written_at.parse().expect("a time");
        event_of(&Record { written_at, ..record("INSERT", Item::default(), image(&mark)) })
    };
    assert!(matches!(insert("2026-11-21T09:30:30.000Z"), Some(Event::PaymentDue(_))));
    assert_eq!(insert("2026-11-21T10:30:01.000Z"), None);
}

#[test]
fn a_product_that_is_created_again_has_events_with_new_ids() {
    let changed = |name, old, new, written_at: &str| {
        let written_at = written_at.parse().expect("a time");
        event_of(&Record { written_at, ..record(name, old, new) })
    };
    let image = |version| image(&product(version));
    let (first, later) = ("2026-11-21T09:30:00.000Z", "2026-11-21T09:40:00.000Z");
    let created = changed("INSERT", Item::default(), image(1), first).expect("an event");
    let again = changed("INSERT", Item::default(), image(1), later).expect("an event");
    assert_eq!((created.detail_type(), again.detail_type()), ("ProductChanged", "ProductChanged"));
    assert_ne!(created.id(), again.id());
    assert_eq!(changed("MODIFY", image(2), image(2), later), None, "the version did not change");
}

/// The largest events are those of orders with 40 lines, and of products with long descriptions.
#[test]
fn no_call_exceeds_the_limit_of_eventbridge_and_every_event_fits_into_a_call() {
    let mut placed = order(&"x".repeat(64));
    placed.line_count = 40;
    // A name has at most 200 characters, which have at most four bytes, or two where JSON escapes them.
    let attributes = (0..20).map(|number| (format!("{number}"), "𝄞".repeat(100))).collect();
    let lines = vec![OrderLine { name: "𝄞".repeat(200), attributes, ..line(&"x".repeat(64)) }; 40];
    let largest: Event = OrderPlaced::new(placed, lines).expect("its lines").into();
    let described = Product { description: "𝄞".repeat(5000), name: "𝄞".repeat(200), ..product(1) };
    let described = event_of(&record("INSERT", Item::default(), image(&described))).expect("an event");
    for event in [&largest, &described] {
        assert!(event.detail().expect("JSON").len() < MOST_BYTES / 4);
    }

    let ids: Vec<OrderId> = (0..20).map(|number| format!("order-{number}").parse().expect("an id")).collect();
    let bytes = largest.detail().expect("JSON").len();
    let waiting = ids.iter().enumerate();
    let call = next_call(waiting.map(|(position, id)| Waiting { position, subject: Subject::Order(id), bytes }));
    assert!(call.len() * bytes <= MOST_BYTES && (call.len() + 1) * bytes > MOST_BYTES, "{} of {bytes}", call.len());
    let too_large = Waiting { position: 7, subject: Subject::Order(&ids[0]), bytes: MOST_BYTES + 1 };
    assert_eq!(next_call([too_large]), [7], "an event over the limit is sent alone, and EventBridge refuses it");
}

#[test]
fn every_kind_has_a_layout_version() {
    for (kind, event) in KINDS.iter().zip(samples()) {
        let detail: serde_json::Value = serde_json::from_str(&event.detail().expect("JSON")).expect("JSON");
        assert_eq!(detail["layoutVersion"], 1, "{}", kind.detail_type);
    }
}
