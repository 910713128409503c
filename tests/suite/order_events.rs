//! Order events: every change of an order is published in order under one id, whatever fails between the table's stream
//! and the bus.

mod refusals;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use devstack::gateway::Invoke;
use devstack::{Endpoints, FaultProxy};
use fastrand::Rng;
use futures_util::future::join_all;
use local::replay;
use shop::bus::{Change, checkpoint, deliver, records, text, told};
use shop::events::event;
use shop::read;

use crate::prelude::*;
use crate::queue::settled;

const ORDERS: u64 = 8;

async fn stocked() -> Shop {
    let shop = Shop::selling("thing", 1000, 1000).await;
    shop.gift_card("GIFT", 100_000).await;
    shop
}

/// Runs several orders through different lifecycles, with other writes that are not published. Returns the changes to
/// be published.
async fn order_lifecycle(shop: &Shop) -> BTreeSet<Change> {
    let (ada, admin) = (shop.customer("ada"), shop.admin());
    let mut changes = BTreeSet::new();
    for number in 0..ORDERS {
        let mut body = things(1);
        if number % 4 == 3 {
            body["giftCards"] = json!(["GIFT"]);
        }
        let order = ada.order(&format!("order-{number}"), body).await.expect(201);
        let (id, invoice) = (text(&order["orderId"]), text(&order["invoice"]["invoiceId"]));
        let mut tell = |kind: &str, version| assert!(changes.insert((kind.to_owned(), id.clone(), version)));
        tell("OrderPlaced", 1);

        let steps: &[&str] = [
            &["pay", "pay", "SHIPPED", "DELIVERED"][..],
            &["cancel", "pay"],
            &["pay", "cancel", "refund"],
            &["SHIPPED"],
        ][usize::try_from(number % 4).expect("small")];
        let mut version = 1;
        for (at, step) in steps.iter().enumerate() {
            let reply = match *step {
                "pay" => admin.post(&format!("/invoices/{invoice}/payments"), json!({ "reference": "bank-1" })).await,
                "refund" => admin.post(&format!("/invoices/{invoice}/refunds"), json!({ "reference": "back-1" })).await,
                "cancel" => ada.post(&format!("/orders/{id}/cancellation"), json!({})).await,
                status => admin.post(&format!("/orders/{id}/status"), json!({ "status": status })).await,
            };
            reply.expect(200);
            if at > 0 && steps[at - 1] == *step {
                continue;
            }
            match (*step, steps[..at].last().copied()) {
                ("pay", Some("cancel")) => {
                    tell("RefundDue", 3);
                    continue;
                }
                ("refund", _) => {
                    tell("RefundMade", 3);
                    continue;
                }
                _ => version += 1,
            }
            tell("OrderStatusChanged", version);
            match (*step, steps[..at].last().copied()) {
                ("pay", _) => tell("PaymentCaptured", version),
                ("cancel", Some("pay")) => tell("RefundDue", 3),
                _ => {}
            }
        }
        let flag = Some(json!({ "reason": "a look" }).to_string());
        admin.send(Method::PUT, &format!("/orders/{id}/flag"), &[], flag).await.expect(200);
        beside(shop, &id).await;
    }
    changes
}

/// Writes that do not change an order: one without effect, one of an unknown attribute, and the deletion of an expired
/// item.
async fn beside(shop: &Shop, order: &str) {
    let key = format!("o#{order}");
    for unheard_of in ["x", "x"] {
        shop.set(&key, &key, "unheardOf", json!({ "S": unheard_of })).await;
    }
    shop.delete(&key, &key).await;
}

/// `ThrottlingException`, which has the same meaning for every service.
fn throttling() -> Fault {
    Fault::Throttle { reason: "TableWriteMaxOnDemandThroughputExceeded", resource: String::new() }
}

fn publisher(shop: &Shop, proxy: &FaultProxy) -> Invoke {
    shop.consumer("publish-order-events", &Endpoints { eventbridge: proxy.url().to_owned(), ..shop.endpoints() })
}

/// Asserts that exactly these changes were published, and those of each order in their order.
fn check(told: &[Change], changes: &BTreeSet<Change>) {
    assert_eq!(told.iter().cloned().collect::<BTreeSet<_>>(), *changes);
    assert_eq!(told.len(), changes.len(), "a change is published under two ids");
    for (_, order, _) in changes {
        let versions: Vec<_> = told.iter().filter(|(_, of, _)| of == order).map(|(_, _, version)| version).collect();
        assert!(versions.is_sorted(), "{order}: {versions:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_is_published_in_order_under_one_id_despite_faults() {
    for seed in 0..2 {
        let shop = stocked().await;
        let changes = order_lifecycle(&shop).await;
        let records = records(&shop).await;
        let mut random = Rng::with_seed(seed);
        let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
        proxy.inject_share(Match::any(), Fault::CutAfter, 0.06, seed);
        proxy.inject_share(Match::any(), Fault::CutBefore, 0.06, seed + 1);
        proxy.inject_share(Match::any(), throttling(), 0.06, seed + 2);
        let mut failing = Rng::with_seed(seed + 3);
        let codes = ["ThrottlingException", "InternalFailure"];
        shop.bus().fail(move |_| (failing.u8(..) < 60).then(|| codes[failing.usize(..2)]));

        deliver(&publisher(&shop, &proxy), &records, &mut random).await;
        check(&told(&shop), &changes);
    }
}

/// As with `PublishFactor` above 1: Lambda delivers the records of an item in order, and those of different items side by
/// side.
#[tokio::test(flavor = "multi_thread")]
async fn publishing_side_by_side_publishes_every_change_once_and_keeps_the_order_of_each_item() {
    const LANES: usize = 4;
    let shop = stocked().await;
    let changes = order_lifecycle(&shop).await;
    let (mut lanes, records) = (vec![Vec::new(); LANES], records(&shop).await);
    for record in records {
        let mut hasher = DefaultHasher::new();
        record["dynamodb"]["Keys"].to_string().hash(&mut hasher);
        let lane = usize::try_from(hasher.finish() % LANES as u64).expect("small");
        lanes[lane].push(record);
    }
    assert!(lanes.iter().all(|lane| lane.len() > 5));
    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    proxy.inject_share(Match::any(), Fault::CutAfter, 0.06, 1);
    proxy.inject_share(Match::any(), throttling(), 0.06, 2);
    let (shop_, proxy_) = (&shop, &proxy);
    join_all(lanes.iter().zip(0..).map(|(lane, seed)| async move {
        deliver(&publisher(shop_, proxy_), lane, &mut Rng::with_seed(seed)).await;
    }))
    .await;

    let told = told(&shop);
    assert_eq!(told.iter().cloned().collect::<BTreeSet<_>>(), changes);
    assert_eq!(told.len(), changes.len(), "a change is published under two ids");
    // Of an order, the header is one item.
    let of_header: Vec<_> =
        told.iter().filter(|(kind, ..)| ["OrderPlaced", "OrderStatusChanged"].contains(&kind.as_str())).collect();
    for (_, order, _) in &changes {
        let versions: Vec<_> =
            of_header.iter().filter(|(_, of, _)| of == order).map(|(_, _, version)| version).collect();
        assert!(versions.is_sorted(), "{order}: {versions:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_event_of_a_placed_order_has_its_lines() {
    let shop = stocked().await;
    shop.product("another", 250, 10).await;
    let lines = json!([{ "productId": "thing", "quantity": 2 }, { "productId": "another", "quantity": 1 }]);
    let order = shop.customer("ada").order("k", json!({ "lines": lines })).await.expect(201);
    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    publisher(&shop, &proxy)(json!({ "Records": records(&shop).await })).await.expect("an answer");
    let events = shop.bus().events();
    let placed = events.iter().find(|event| event["detail-type"] == "OrderPlaced").expect("the event");
    let sorted = |lines: &Value| {
        let mut lines = lines.as_array().expect("lines").clone();
        lines.sort_by_key(|line| line["productId"].to_string());
        lines
    };
    assert_eq!(sorted(&placed["detail"]["lines"]), sorted(&order["lines"]));
    assert_eq!(placed["detail"]["layoutVersion"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_version_of_a_product_is_published_but_sales_are_not() {
    let shop = stocked().await;
    let admin = shop.admin();
    admin.patch("/products/thing", "*", json!({ "name": "A better thing" })).await.expect(200);
    shop.customer("ada").order("k", things(1)).await.expect(201);
    shop.delete("p#thing", "p#thing").await;

    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    let all = records(&shop).await;
    for _ in 0..2 {
        publisher(&shop, &proxy)(json!({ "Records": all })).await.expect("an answer");
    }
    let of_products = |event: &Value| event["source"] == "till.products";
    let told: Vec<_> = shop.bus().events().into_iter().filter(of_products).collect();
    let names = told.iter().map(|event| (text(&event["detail-type"]), event["detail"]["version"].as_u64()));
    let expected = [("ProductChanged", 1), ("ProductChanged", 2), ("ProductRemoved", 2)];
    let expected: Vec<_> = expected.map(|(kind, version)| (kind.to_owned(), Some(version))).into();
    assert_eq!(names.collect::<Vec<_>>(), [expected.clone(), expected].concat());
    assert_eq!(told[1]["detail"]["name"], "A better thing");
    let ids: BTreeSet<_> = told.iter().map(|event| text(&event["detail"]["id"])).collect();
    assert_eq!(ids.len(), 3, "a copy has the id of the first");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sample_event_results_in_events_of_an_order_and_its_payment() {
    let shop = Shop::open().await;
    // The order of the sample events, with its lines.
    let functions = local::functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start");
    for name in ["create-product", "create-discount", "create-gift-card", "create-customer", "place-order"] {
        let (_, invoke) = functions.handlers.iter().find(|(known, _)| known == name).expect("it is known");
        invoke(event(name)).await.expect("a response");
    }
    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    let event = serde_json::from_str(&read("events/publish-order-events.json")).expect("JSON");
    let answer = publisher(&shop, &proxy)(event).await.expect("an answer");
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    let kinds: Vec<_> = told(&shop).into_iter().map(|(kind, ..)| kind).collect();
    assert_eq!(kinds, ["OrderPlaced", "OrderStatusChanged", "PaymentCaptured"]);
    let events = reqwest::get(format!("{}/_local/events", shop.url())).await.expect("an answer");
    assert_eq!(events.json::<Value>().await.expect("JSON"), json!({ "items": shop.bus().events() }));
}

/// A client that was answered 202 can learn of a rejection from the bus.
#[tokio::test(flavor = "multi_thread")]
async fn the_rejection_of_an_accepted_order_is_published() {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    let ada = shop.customer("ada");
    let reply = order_later(&ada, "k", things(11)).await;
    let order = settled(&ada, &reply).await;
    assert_eq!(order["status"], "REJECTED");
    shop.settle().await;
    let answer = reqwest::get(format!("{}/_local/events", shop.url())).await.expect("an answer");
    let events: Value = answer.json().await.expect("JSON");
    let rejected: Vec<_> = events["items"]
        .as_array()
        .expect("items")
        .iter()
        .filter(|event| event["detail-type"] == "OrderRejected")
        .map(|event| &event["detail"])
        .collect();
    assert_eq!(rejected.len(), 1);
    for field in ["orderId", "customerId", "queuedAt", "rejectedAt"] {
        assert_eq!(rejected[0][field], order[field], "{field}");
    }
    assert_eq!(order["problem"]["type"], format!("/problems/{}", rejected[0]["reason"].as_str().expect("a reason")));
}

/// A warehouse hears of cancelled units also if no money goes back. The second change has two events in one record:
/// after it, a gift card pays for all that is left.
#[tokio::test(flavor = "multi_thread")]
async fn cancelled_units_of_an_unpaid_order_are_published() {
    let shop = stocked().await;
    shop.gift_card("SMALL", 1000).await;
    let ada = shop.customer("ada");
    let mut body = things(3);
    body["giftCards"] = json!(["SMALL"]);
    let order = ada.order("k", body).await.expect(201);
    let id = text(&order["orderId"]);
    for quantity in [1, 2, 2] {
        ada.post(&format!("/orders/{id}/cancellation"), basket("thing", quantity)).await.expect(200);
    }
    let changes = [("OrderPlaced", 1), ("UnitsCancelled", 2), ("OrderStatusChanged", 3), ("UnitsCancelled", 3)];
    let changes = changes.map(|(kind, version)| (kind.to_owned(), id.clone(), version)).into();

    let mut random = Rng::with_seed(1);
    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    proxy.inject_share(Match::any(), Fault::CutAfter, 0.2, 1);
    let mut failing = Rng::with_seed(2);
    shop.bus().fail(move |_| (failing.u8(..) < 100).then_some("InternalFailure"));
    let records = records(&shop).await;
    for _ in 0..2 {
        deliver(&publisher(&shop, &proxy), &records, &mut random).await;
    }
    check(&told(&shop), &changes);
    for event in shop.bus().events().iter().filter(|event| event["detail-type"] == "UnitsCancelled") {
        let detail = &event["detail"];
        assert_eq!(detail["lines"], json!([{ "productId": "thing", "quantity": 1 }]));
        assert_eq!(detail["amount"], json!({ "amount": 1000, "currency": "EUR" }));
    }
}

/// The records are those that a consumer gave up, as the AWS CLI prints the messages of the queue.
#[tokio::test(flavor = "multi_thread")]
async fn records_that_were_given_up_are_published_again_under_their_own_ids() {
    let shop = stocked().await;
    let changes = order_lifecycle(&shop).await;
    let records = records(&shop).await;
    let (published, lost) = records.split_at(records.len() / 2);
    let answer = shop.consumer("publish-order-events", &shop.endpoints())(json!({ "Records": published })).await;
    assert_eq!(answer.expect("an answer"), json!({ "batchItemFailures": [] }));

    let variables = [
        ("TABLE_NAME", shop.table()),
        ("EVENT_BUS", bus_of(&shop)),
        ("FEW_LEFT", "5"),
        ("AWS_ENDPOINT_URL_EVENTBRIDGE", shop.bus().url()),
    ];
    let environment = shop.operator().with(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let messages = lost.iter().map(|record| {
        let number = &record["dynamodb"]["SequenceNumber"];
        let body = json!({ "reason": "unreadable", "sequenceNumber": number, "Records": [record] });
        json!({ "MessageId": "m", "ReceiptHandle": "h", "Body": body.to_string() })
    });
    let file = json!({ "Messages": messages.collect::<Vec<_>>() }).to_string();
    // The second time, receivers have all of them.
    for _ in 0..2 {
        let found = replay::read(&file).expect("records");
        let replayed = replay::replay(&environment, found.batches).await.expect("a result");
        assert!(replayed.published > 0, "{replayed:?}");
        assert_eq!((replayed.waiting, &*replayed.unreadable), (0, &[][..]));
        check(&told(&shop), &changes);
    }

    // A record that this release cannot read either does not stop those behind it, and is named.
    let of_order = |name: &str| {
        let is_wanted = |record: &&Value| {
            record["eventName"] == name && record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order"
        };
        lost.iter().find(is_wanted).expect("an order").clone()
    };
    let mut broken = of_order("MODIFY");
    broken["dynamodb"]["NewImage"]["version"] = json!({ "S": "no number" });
    let batch = json!({ "Records": [broken, of_order("INSERT")] }).to_string();
    let batches = replay::read(&batch).expect("records").batches;
    let replayed = replay::replay(&environment, batches).await.expect("a result");
    let numbers: Vec<_> = replayed.unreadable.iter().map(|(number, _)| json!(number.to_string())).collect();
    assert_eq!(numbers, [broken["dynamodb"]["SequenceNumber"].clone()]);
    assert_eq!(replayed.published, 1, "{replayed:?}");
    check(&told(&shop), &changes);
}

/// The name of the bus in the functions' environment.
fn bus_of(shop: &Shop) -> &str {
    let mut variables = shop.template().functions.iter().filter_map(|function| function.environment.get("EVENT_BUS"));
    variables.next().expect("a publisher")
}
