//! The stories of requests: what each did, and what followed, however many run at once.

use devstack::fault_proxy::{Access, Call, Consumed};
use devstack::stories::{FAILED, Story, StreamRecord, Sum};
use shop::PATIENCE;

use crate::prelude::*;

/// The story of the request that got this answer.
fn story(shop: &Shop, reply: &Reply) -> Story {
    shop.stories().story(reply.header("apigw-requestid").expect("an id")).expect("a story")
}

/// What these calls consumed: units to read, and to write.
fn consumed<'a>(calls: impl IntoIterator<Item = &'a Call>) -> (f64, f64) {
    let all: Vec<_> = calls.into_iter().flat_map(|call| &call.consumed).collect();
    let of = |access| all.iter().filter(|it| it.access == access).map(|it| Consumed::units(it)).sum();
    (of(Access::Read), of(Access::Write))
}

fn units(sum: Sum) -> (f64, f64) {
    (sum.read, sum.write)
}

/// The actions of calls with their statuses, sorted.
fn sorted(calls: impl Iterator<Item = (String, Option<u16>)>) -> Vec<(String, Option<u16>)> {
    let mut calls: Vec<_> = calls.collect();
    calls.sort();
    calls
}

#[tokio::test(flavor = "multi_thread")]
async fn a_story_has_the_calls_of_its_request_and_no_others_however_many_run_at_once() {
    const AT_ONCE: usize = 24;
    let (shop, faults) =
        (Shop::open().await, [Fault::InternalError, Fault::conflict(0), Fault::CutAfter, Fault::CutBefore]);
    for number in 0..AT_ONCE {
        shop.sign_up(&format!("person-{number:03}")).await;
        shop.product(&format!("thing-{number:03}"), 1000, 10).await;
    }
    for (seed, fault) in (0..).zip(faults) {
        let matching = if matches!(fault, Fault::Cancel { .. }) { commit() } else { Match::any() };
        shop.fault_proxy().inject_share(matching, fault, 0.08, seed);
    }
    shop.fault_proxy().take_calls();
    // Each request has a number that is in all its keys. Half of them are of one function.
    let replies = at_once(0..2 * AT_ONCE, async |request| {
        let number = request / 2;
        let client = shop.customer(&format!("person-{number:03}"));
        match request % 2 {
            0 => client.order("k", basket(format!("thing-{number:03}"), 1)).await,
            _ => client.get(&format!("/customers/person-{number:03}")).await,
        }
    })
    .await;
    until("all calls have ended", async || shop.fault_proxy().is_idle()).await;
    let calls = shop.fault_proxy().take_calls();
    let stories: Vec<_> = replies.iter().map(|reply| story(&shop, reply)).collect();

    assert_eq!(stories.iter().map(|story| story.work.calls.len()).sum::<usize>(), calls.len(), "all calls are told");
    let (mut all, mut again) = ((0.0, 0.0), 0);
    for (request, (story, reply)) in stories.iter().zip(&replies).enumerate() {
        assert_eq!(story.summary.status, Some(reply.status));
        assert_eq!(story.summary.function.as_deref(), Some(["PlaceOrder", "GetCustomer"][request % 2]));
        let of =
            |text: &str, number| ["person", "thing"].iter().any(|name| text.contains(&format!("{name}-{number:03}")));
        let is_mine = |text: &str| of(text, request / 2);
        let texts: Vec<_> = story.work.calls.iter().map(|call| serde_json::to_string(call).expect("JSON")).collect();
        for text in &texts {
            let others = (0..AT_ONCE).filter(|other| *other != request / 2);
            assert_eq!(others.filter(|other| of(text, *other)).collect::<Vec<_>>(), [0; 0], "{request}: {text}");
        }
        again += story.work.calls.iter().filter(|call| call.attempt > 1).count();
        let recorded = calls.iter().filter(|call| call.caller == story.summary.function);
        let recorded = recorded.filter(|call| is_mine(&call.request.to_string()));
        let told = story.work.calls.iter().zip(&texts).filter(|(_, text)| is_mine(text));
        assert_eq!(
            sorted(told.map(|(call, _)| (call.action.clone(), call.status))),
            sorted(recorded.map(|call| (call.action.clone(), call.status))),
            "{request}"
        );
        all = (all.0 + story.summary.units.read, all.1 + story.summary.units.write);
    }
    assert_eq!(all, consumed(&calls), "the units of all stories");
    assert!(again > 0, "no call was repeated");
    let environments: BTreeSet<_> =
        stories.iter().map(|story| (&story.summary.function, story.work.environment)).collect();
    assert!(environments.len() > 2, "nothing ran at the same time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_order_names_the_condition_that_failed() {
    let shop = Shop::selling("thing", 1000, 3).await;
    shop.sign_up("bob").await;
    let (ada, bob) = (shop.customer("ada"), shop.customer("bob"));
    let gate = shop.fault_proxy().hold(commit(), 1);
    let refused = tokio::spawn(async move { ada.order("k", things(2)).await });
    until("the first order waits", async || shop.fault_proxy().pending() == 0).await;
    bob.order("k", things(2)).await.expect(201);
    gate.open();
    let reply = refused.await.expect("a reply");
    assert_eq!(reply.status, 409);

    let story = story(&shop, &reply);
    let cancelled = story.work.calls.iter().find(|call| call.error.is_some()).expect("a cancelled transaction");
    assert_eq!(cancelled.action, "TransactWriteItems");
    let failed: Vec<_> = cancelled.parts.iter().filter(|part| part.outcome.as_deref() == Some(FAILED)).collect();
    let [part] = failed.as_slice() else { panic!("{failed:?}") };
    assert_eq!((&*part.action, &*part.on), ("Update", shop.table()));
    let condition = part.condition.as_deref().expect("a condition");
    assert!(
        part.keys[0][0].contains("thing") && condition.starts_with("available >= 2 AND price = {amount: 1000"),
        "{part:?}"
    );
    assert!(cancelled.parts.iter().any(|part| part.outcome.as_deref() != Some(FAILED)), "the others are told apart");
    assert_eq!(story.summary.refused, [format!("{}: {condition}", part.keys[0].join(" "))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_story_of_an_order_leads_to_its_records_counters_and_events() {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    shop.settle().await;
    shop.fault_proxy().take_calls();
    let reply = shop.customer("ada").order("k", things(2)).await;
    let order = reply.clone().expect(201);
    shop.settle().await;
    let (story, calls) = (story(&shop, &reply), shop.fault_proxy().take_calls());

    let (own, followed) = (units(story.summary.units), units(story.summary.units_of_what_followed));
    assert_eq!((own.0 + followed.0, own.1 + followed.1), consumed(&calls));
    assert!(own.1 > 0.0 && followed.1 > 0.0, "{own:?} {followed:?}");
    let keys: Vec<_> = story.work.records.iter().map(|record| record.key.join(" ")).collect();
    let written =
        story.work.calls.iter().flat_map(|call| &call.parts).filter(|part| ["Put", "Update"].contains(&&*part.action));
    let written: Vec<_> = written.map(|part| part.keys[0].join(" ")).collect();
    assert_eq!(keys, written, "a record for each item that it wrote");
    assert!(keys.iter().any(|key| key.contains(order_id(&order))), "{keys:?}");

    let of = |function| story.followed.iter().filter(move |it| it.function.as_deref() == Some(function));
    let counted: Vec<_> =
        of("CountOrders").flat_map(|it| &it.work.records).flat_map(|record| &record.changed).collect();
    let moved: BTreeSet<_> = counted.iter().map(|changed| &*changed.name).collect();
    let counters: Vec<_> = of("CountOrders").flat_map(|it| &it.work.calls).flat_map(|call| &call.parts).collect();
    assert!(counters.iter().any(|part| part.action == "Update" && part.change.is_some()), "{counters:?} {moved:?}");
    let events: Vec<_> =
        of("PublishOrderEvents").flat_map(|it| &it.work.calls).filter(|call| call.service == "EventBridge").collect();
    assert!(events.iter().any(|call| call.parts.iter().any(|part| part.action == "OrderPlaced")), "{events:?}");
    assert!(story.followed.iter().all(|it| it.work.error.is_none() && (it.share - 1.0).abs() < 1e-9), "{story:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_story_of_an_order_that_waits_leads_to_its_placing() {
    let shop = Shop::open_counted().await;
    shop.sign_up("ada").await;
    shop.product("thing", 1000, 10).await;
    let reply = order_later(&shop.customer("ada"), "k", things(2)).await;
    let path = format!("/orders/{}", order_id(&reply.clone().expect(202)));
    shop::queue::no_longer_queued(&shop.customer("ada"), &path).await;
    shop.settle().await;

    let story = story(&shop, &reply);
    assert!(story.work.calls.iter().any(|call| call.service == "SQS" && !call.parts[0].keys.is_empty()), "{story:?}");
    let at = |function: &str| {
        let followed = story.followed.iter().filter(|it| it.function.as_deref() == Some(function));
        followed.map(|it| it.depth).max().unwrap_or_else(|| panic!("{function} did not follow: {story:?}"))
    };
    assert_eq!((at("DrainWrites"), at("CountOrders"), at("PublishOrderEvents")), (1, 2, 2));
    // A drain that has no room yet puts the message back, and the next one places the order.
    let mut drains = story.followed.iter().filter(|it| it.function.as_deref() == Some("DrainWrites"));
    let is_ours = |record: &StreamRecord| record.key[0].contains(order_id(&reply.body));
    assert!(drains.any(|it| it.work.records.iter().any(is_ours)), "{story:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_is_told_to_the_request_that_wrote_it_although_others_write_the_same_item() {
    let shop = Shop::open_counted().await;
    shop.product("thing", 1000, 1000).await;
    let quantities: Vec<u64> = (1..=10).collect();
    for quantity in &quantities {
        shop.sign_up(&format!("person-{quantity}")).await;
    }
    shop.settle().await;
    let replies = at_once(quantities, async |quantity| {
        let reply = shop.customer(&format!("person-{quantity}")).order("k", things(quantity)).await;
        (quantity, reply)
    })
    .await;
    shop.settle().await;
    let mut taken = 0;
    for (quantity, reply) in replies {
        reply.clone().expect(201);
        let story = story(&shop, &reply);
        let number = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<i64>().ok());
        let stock = story.work.records.iter().filter(|record| record.key[0].contains("thing"));
        let differences: Vec<_> = stock
            .flat_map(|record| &record.changed)
            .filter_map(|changed| Some(number(&changed.from)? - number(&changed.to)?))
            .collect();
        assert!(differences.contains(&quantity.cast_signed()), "{quantity}: {differences:?} {:?}", story.work.records);
        let orders = story.work.records.iter().filter(|record| record.key[0].contains(order_id(&reply.body)));
        taken += usize::from(orders.count() > 0);
    }
    assert_eq!(taken, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn stories_are_read_in_short_whole_and_live() {
    let shop = Shop::selling("thing", 1000, 10).await;
    let http = reqwest::Client::new();
    let url = |path: &str| format!("{}/_local/requests{path}", shop.url());
    let mut live = http.get(url("/live")).send().await.expect("an answer");
    let reply = shop.nobody().get("/products/thing").await;
    let id = reply.header("apigw-requestid").expect("an id").to_owned();
    let mut heard = String::new();
    while !heard.lines().any(|line| line.contains(&id) && line.contains(r#""status":200"#)) {
        let chunk = tokio::time::timeout(PATIENCE, live.chunk()).await.expect("it is told").expect("a chunk");
        heard.push_str(std::str::from_utf8(&chunk.expect("no end")).expect("a text"));
    }
    let read =
        async |path: &str| http.get(url(path)).send().await.expect("an answer").json::<Value>().await.expect("JSON");
    let (short, whole) = (read("").await["items"][0].clone(), read(&format!("/{id}")).await);
    assert_eq!((&short["id"], &short["function"]), (&json!(id), &json!("GetProduct")));
    let told = short.as_object().expect("a story").iter().filter(|(name, value)| whole[*name] != **value);
    assert_eq!(told.count(), 0, "{short} {whole}");
    assert_eq!(short["callCount"], json!(whole["calls"].as_array().expect("calls").len()));
    assert_eq!(http.get(url("/none")).send().await.expect("an answer").status(), 404);
}
