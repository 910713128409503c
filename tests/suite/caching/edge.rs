//! The real gateway behind an edge: a cache by RFC 9111 that all clients share (`shop::edge`).

use std::sync::Mutex;
use std::time::{Duration, Instant};

use devstack::fault_proxy::{Fault, Match};
use futures_util::future::join_all;
use http_api::{Kind, Verb};
use local::functions::{self, routes};
use reqwest::Method;
use serde_json::json;
use shop::Shop;
use shop::edge::{Edge, VERDICT};
use shop::events::{event, functions_by_event_time};
use shop::payments::Payments;

use crate::access::Sample;

/// `CacheSeconds` of the template.
const LIFETIME: Duration = Duration::from_secs(1);

const CLIENTS: usize = 30;

/// Many clients ask for this page for some seconds. Returns how often the table was read, for how long they asked, and
/// the number of their requests.
async fn crowd(shop: &Shop, edge: &Edge, path: &str, status: u16) -> (usize, Duration, usize) {
    shop.fault_proxy().take_calls();
    let client = shop.nobody().at(edge.url());
    let began = Instant::now();
    let ask = async || {
        let mut asked = 0;
        while began.elapsed() < Duration::from_millis(3300) {
            assert_eq!(client.get(path).await.status, status);
            asked += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        asked
    };
    let asked: Vec<usize> = join_all((0..CLIENTS).map(|_| ask())).await;
    let reads = shop.fault_proxy().take_calls().into_iter().filter(|call| call.action == "Query").count();
    (reads, began.elapsed(), asked.into_iter().sum())
}

/// The edge asks the gateway again only when its copy is a second old, and then once for all clients that wait.
#[tokio::test(flavor = "multi_thread")]
async fn a_hot_product_s_page_reaches_the_table_at_most_once_a_second() {
    let shop = Shop::open().await;
    shop.product("thing", 1000, 10).await;
    let edge = Edge::of(shop.url()).await;
    for (path, status) in [("/products/thing", 200), ("/products/none", 404)] {
        let (reads, took, asked) = crowd(&shop, &edge, path, status).await;
        let most = took.as_secs() + 1;
        assert!(reads as u64 <= most && reads > 1, "{path}: {reads} reads in {took:?}");
        assert!(asked > 5 * CLIENTS, "{path}: only {asked} requests");
    }
    let counts = edge.counts();
    assert!(counts.revalidated > 0, "the product does not change, so the gateway answers 304: {counts:?}");
    assert!(counts.hits > 10 * counts.forwarded, "{counts:?}");
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
    let began = Instant::now();
    let is_running = || began.elapsed() < Duration::from_millis(4200);
    let write = async {
        while is_running() {
            let body = json!({ "delta": 1 });
            let reply = admin.send_to_any_version(Method::POST, "/products/thing/stock", &body).await.expect(200);
            let stock = reply["available"].as_u64().expect("a number");
            written.lock().unwrap().push((Instant::now(), stock));
        }
    };
    // Each stock that a client saw, and when its request began.
    let read = async || {
        let mut seen = Vec::new();
        while is_running() {
            let asked = Instant::now();
            let reply = client.get("/products/thing").await;
            let is_hit = reply.header(VERDICT) == Some("hit");
            seen.push((asked, reply.expect(200)["available"].as_u64().expect("a number"), is_hit));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        seen
    };
    let ((), seen) = tokio::join!(write, join_all((0..4).map(|_| read())));

    let bound = LIFETIME + edge.counts().longest;
    let written = written.into_inner().unwrap();
    let stock_at = |moment: Instant| written.iter().rev().find(|(since, _)| *since <= moment).map_or(0, |(_, n)| *n);
    let mut old = 0;
    for (asked, stock, is_hit) in seen.into_iter().flatten() {
        if let Some(earliest) = asked.checked_sub(bound) {
            assert!(stock >= stock_at(earliest), "{stock} is older than {bound:?}");
        }
        old += usize::from(is_hit && stock < stock_at(asked));
    }
    assert!(old > 0, "the edge kept nothing, so this proves nothing");
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
    let again = client.send(Method::GET, "/products/thing", &[("if-none-match", &tag)], None).await;
    assert_eq!((again.status, again.header(VERDICT), again.header("etag")), (304, Some("hit"), Some(&*tag)));
}
