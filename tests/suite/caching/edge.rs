//! The real gateway behind an edge: a cache by RFC 9111 that all clients share (`shop::edge`).

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use futures_util::future::join_all;
use http_api::Verb;
use local::functions::{self, routes};
use shop::edge::{Edge, VERDICT};
use shop::events::{event, functions_by_event_time};
use shop::payments::Payments;

use crate::access::Sample;
use crate::prelude::*;

/// `CacheSeconds` of the template.
const LIFETIME: Duration = Duration::from_secs(1);

const CLIENTS: usize = 12;

/// Many clients ask for this page until the edge has asked the gateway three times. Returns how often the table was read,
/// and for how long they asked.
async fn crowd(shop: &Shop, edge: &Edge, path: &str, status: u16) -> (usize, Duration) {
    shop.fault_proxy().take_calls();
    let client = shop.nobody().at(edge.url());
    let (began, before) = (Instant::now(), edge.counts());
    let ask = async || {
        for asked in 0.. {
            let counts = edge.counts();
            if asked > 5 && counts.forwarded >= before.forwarded + 3 {
                break;
            }
            assert_eq!(client.get(path).await.status, status);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    join_all((0..CLIENTS).map(|_| ask())).await;
    let reads = shop.fault_proxy().take_calls().into_iter().filter(|call| call.action == "Query").count();
    (reads, began.elapsed())
}

/// The edge asks the gateway again only when its copy is a second old, and then once for all clients that wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_hot_product_s_page_reaches_the_table_at_most_once_a_second() {
    let shop = Shop::open().await;
    shop.product("thing", 1000, 10).await;
    let edge = Edge::of(shop.url()).await;
    for (path, status) in [("/products/thing", 200), ("/products/none", 404)] {
        let (reads, took) = crowd(&shop, &edge, path, status).await;
        let most = took.as_secs() + 1;
        assert!(reads as u64 <= most, "{path}: {reads} reads in {took:?}");
    }
    let counts = edge.counts();
    assert!(counts.revalidated > 0, "the product does not change, so the gateway answers 304: {counts:?}");
    assert!(counts.hits > 5 * counts.forwarded, "{counts:?}");
}

/// The stock only grows, so a number tells how old an answer is.
#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_older_than_its_lifetime() {
    let shop = Shop::open().await;
    shop.product("thing", 1000, 0).await;
    let edge = Edge::of(shop.url()).await;
    let (admin, client) = (shop.admin(), shop.nobody().at(edge.url()));
    // Each stock, and the time from which on it was in the table.
    let written = Mutex::new(vec![(Instant::now(), 0)]);
    // The answers that were older than the stock when they were asked for.
    let old = AtomicUsize::new(0);
    let is_running = || edge.counts().forwarded < 5 || old.load(Ordering::Relaxed) == 0;
    let write = async {
        while is_running() {
            let reply = admin.post_if("/products/thing/stock", "*", json!({ "delta": 1 })).await.expect(200);
            let stock = reply["available"].as_u64().expect("a number");
            written.lock().unwrap().push((Instant::now(), stock));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    // Each stock that a client saw, and when its request began.
    let read = async || {
        let mut seen = Vec::new();
        while is_running() {
            let (asked, newest) = (Instant::now(), written.lock().unwrap().last().map_or(0, |(_, stock)| *stock));
            let reply = client.get("/products/thing").await;
            let is_hit = reply.header(VERDICT) == Some("hit");
            let stock = reply.expect(200)["available"].as_u64().expect("a number");
            old.fetch_add(usize::from(is_hit && stock < newest), Ordering::Relaxed);
            seen.push((asked, stock));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        seen
    };
    let ((), seen) = tokio::join!(write, join_all((0..4).map(|_| read())));

    let bound = LIFETIME + edge.counts().longest;
    let written = written.into_inner().unwrap();
    let stock_at = |moment: Instant| written.iter().rev().find(|(since, _)| *since <= moment).map_or(0, |(_, n)| *n);
    for (asked, stock) in seen.into_iter().flatten() {
        if let Some(earliest) = asked.checked_sub(bound) {
            assert!(stock >= stock_at(earliest), "{stock} is older than {bound:?}");
        }
    }
}

/// The edge passes tokens on and keeps what it may. Each private answer goes to its owner alone.
#[tokio::test(flavor = "multi_thread")]
async fn no_private_answer_is_ever_stored() {
    let shop = Shop::open_silently_paying(Payments::start().await, |_| {}).await;
    let functions = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start").handlers;
    let edge = Edge::of(shop.url()).await;
    let (mut shared, mut answered) = (Vec::new(), 0);
    for name in functions_by_event_time() {
        let Some(function) = routes().find(|function| function.function.name() == name) else {
            shop.consumer(&name, &shop.endpoints())(event(&name)).await.expect("a response");
            continue;
        };
        let route = function.route;
        shop.prepare_for(&name).await;
        if route.method != Verb::Get {
            let (_, invoke) = functions.iter().find(|(known, _)| *known == name).expect("a function");
            invoke(event(&name)).await.expect("an answer");
            continue;
        }
        let sample = Sample::of(&name);
        if route.shared.is_some() {
            shared.push(sample.path.clone());
        }
        let callers =
            [shop.customer("ada"), shop.customer("mallory"), shop.admin(), shop.nobody(), shop.customer("ada")];
        for caller in callers {
            let through = sample.send(&caller.at(edge.url())).await;
            let direct = sample.send(&caller).await;
            assert_eq!((through.status, &through.body), (direct.status, &direct.body), "{name}");
            answered += usize::from(through.status == 200);
            assert!(route.shared.is_some() || through.header(VERDICT) == Some("miss"), "{name}");
        }
    }
    assert_eq!(edge.stored().await.len(), shared.len(), "{:?} are stored", edge.stored().await);
    assert!(shared.len() >= 2 && answered > 40, "{} {answered}", shared.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_copy_is_not_shown_while_the_shop_fails() {
    let shop = Shop::open().await;
    shop.product("thing", 1000, 10).await;
    let edge = Edge::of(shop.url()).await;
    let client = shop.nobody().at(edge.url());
    client.get("/products/thing").await.expect(200);
    tokio::time::sleep(LIFETIME).await;
    shop.fault_proxy().inject(Match::action("Query"), Fault::CutBefore, 3);
    client.get("/products/thing").await.problem(Kind::Throttled);
    // And the failure is not kept either.
    client.get("/products/thing").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_current_copy_gets_a_304_from_the_edge_too() {
    let shop = Shop::open().await;
    shop.product("thing", 1000, 10).await;
    let edge = Edge::of(shop.url()).await;
    let client = shop.nobody().at(edge.url());
    let first = client.get("/products/thing").await;
    let tag = first.header("etag").expect("a tag").to_owned();
    // On a slow machine the first copy may be too old.
    until("the edge answers by itself", async || {
        let again = client.send(Method::GET, "/products/thing", &[("if-none-match", &tag)], None).await;
        assert_eq!((again.status, again.header("etag")), (304, Some(&*tag)));
        again.header(VERDICT) == Some("hit")
    })
    .await;
}
