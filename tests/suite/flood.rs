//! A flood of requests of strangers, each behind the limit of its route, beside a customer who orders and pays.

use std::sync::Mutex;
use std::time::Instant;

use devstack::fault_proxy::WriteLimit;
use shop::queue::drain_source;
use shop::seed::long;
use shop::{guest_id, limit};
use tokio::sync::Semaphore;

use crate::prelude::*;

/// The template's ceiling of write units, for the table and each index.
const MAX_WRITE_UNITS: f64 = 4_000.0;

/// The most requests of strangers that this machine works on at once. It answers no other: a Lambda function has more.
const AT_ONCE: usize = 16;

/// The units of the product that everybody wants.
const UNITS: u64 = 1_000;

/// The gateway's throttle: the laptop's has none.
struct Gateway(Mutex<BTreeMap<&'static str, (f64, Instant)>>);

impl Gateway {
    /// Whether a request may pass now.
    fn lets_pass(&self, method: &Method, route: &'static str) -> bool {
        let mut declared = local::functions::routes().map(|function| function.route);
        let declared = declared.find(|known| known.path == route && Method::from(known.method) == *method);
        let limit = limit(declared.expect("a route"));
        let (rate, burst, now) = (f64::from(limit.rate), f64::from(limit.burst), Instant::now());
        let mut buckets = self.0.lock().expect("the lock");
        let (tokens, at) = buckets.entry(route).or_insert((burst, now));
        *tokens = (*tokens + rate * now.duration_since(*at).as_secs_f64()).min(burst);
        *at = now;
        let passes = *tokens >= 1.0;
        *tokens -= f64::from(passes);
        passes
    }
}

/// A flood under way.
struct Flood {
    client: Client,
    gateway: Gateway,
    machine: Semaphore,
    /// The secrets of the guests so far.
    guests: Mutex<Vec<String>>,
    /// The numbers of answers, by what was asked and the status.
    answers: Mutex<BTreeMap<String, u64>>,
}

impl Flood {
    async fn send(&self, number: usize) {
        let guest = {
            let guests = self.guests.lock().expect("the lock");
            guests.get(number % guests.len().max(1)).cloned()
        };
        let order = |quantity: u64, code: Option<&str>| {
            let mut body = things(quantity);
            if let Some(code) = code {
                body["discountCode"] = json!(code);
            }
            body.to_string()
        };
        let most_views = [20, 50][number / 10 % 2];
        let views = json!({
            "products": (0..most_views).map(|at| format!("view-{at}")).collect::<Vec<_>>(),
            "visitor": format!("{number:0>16}"),
        });
        let own = guest.unwrap_or_else(|| "A".repeat(43));
        let new = format!("{number:0>10}{}", "A".repeat(33));
        let (key, orders) = (format!("key-{number}"), format!("/guests/{}/orders", guest_id(&own)));
        let of_guest = [("guest-secret", own.as_str()), ("idempotency-key", &key), ("prefer", "respond-async")];
        let (what, method, route, path, headers, body): (_, _, _, &str, &[(&str, &str)], _) = match number % 10 {
            0 | 1 => {
                let body = json!({ "email": "mallory@example.com", "name": "Mallory" }).to_string();
                ("a guest", Method::POST, "/guests", "/guests", &[("guest-secret", new.as_str())], Some(body))
            }
            at @ 2..=6 => {
                let quantity = [200, 20, 10, 1, 1][at - 2];
                let body = Some(order(quantity, (at > 4).then_some("SALE")));
                ("an order", Method::POST, "/guests/{guestId}/orders", &orders, &of_guest[..2], body)
            }
            7 => {
                let body = Some(basket("nothing", 1).to_string());
                ("an order that waits", Method::POST, "/guests/{guestId}/orders", &orders, &of_guest, body)
            }
            8 => ("a list", Method::GET, "/products", "/products?category=things&limit=100", &[], None),
            _ => ("views", Method::POST, "/views", "/views", &[], Some(views.to_string())),
        };
        let machine = self.machine.try_acquire();
        let status = if !self.gateway.lets_pass(&method, route) {
            429
        } else if machine.is_err() {
            0
        } else {
            let reply = self.client.send(method, path, headers, body).await;
            if (what, reply.status) == ("a guest", 201) {
                self.guests.lock().expect("the lock").push(new);
            }
            reply.status
        };
        *self.answers.lock().expect("the lock").entry(format!("{what}: {status}")).or_default() += 1;
    }
}

/// What became of the customer's orders: the status and the time of each.
struct Served {
    orders: Vec<(u16, Duration)>,
    answers: BTreeMap<String, u64>,
}

/// A flood of so many requests in this time. Ada orders one unit ten times in that time, four times with the code, and pays.
async fn flood(shop: &Shop, requests: u32, time: Duration) -> Served {
    let client = shop.nobody();
    let flood = Arc::new(Flood {
        client,
        gateway: Gateway(Mutex::default()),
        machine: Semaphore::new(AT_ONCE),
        guests: Mutex::default(),
        answers: Mutex::default(),
    });
    let (begin, apart, mut sent) = (Instant::now(), time / requests, JoinSet::new());
    let strangers = async {
        for number in 0..requests {
            tokio::time::sleep_until((begin + apart * number).into()).await;
            let flood = Arc::clone(&flood);
            sent.spawn(async move { flood.send(number as usize).await });
        }
        while sent.join_next().await.is_some() {}
    };
    let paying = async {
        let (ada, mut orders) = (shop.customer("ada"), Vec::new());
        for number in 1..=10 {
            tokio::time::sleep_until((begin + time / 11 * number).into()).await;
            let asked = Instant::now();
            let mut body = things(1);
            if number % 3 == 1 {
                body["discountCode"] = json!("SALE");
            }
            let placed = ada.order(&format!("ada-{number}"), body).await;
            orders.push((placed.status, asked.elapsed()));
            if placed.status == 201 {
                shop.admin().capture(&placed.body, "bank").await.expect(200);
            }
        }
        orders
    };
    let (orders, ()) = tokio::join!(paying, strangers);
    let answers = std::mem::take(&mut *flood.answers.lock().expect("the lock"));
    Served { orders, answers }
}

async fn shop() -> Shop {
    let shop = Shop::open_with(|template| {
        let count = template.stream_sources.iter_mut().find(|source| source.function == "CountOrders");
        count.expect("count-orders").enabled = true;
        drain_source(template).enabled = true;
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1_000, UNITS).await;
    shop.discount("SALE", 10, Some(40)).await;
    for at in 0..50 {
        shop.product(&format!("view-{at}"), 1_000, 1).await;
    }
    shop.fault_proxy().limit_writes(Some(WriteLimit::per_second(MAX_WRITE_UNITS))).await;
    shop
}

#[allow(clippy::print_stdout, reason = "a measurement prints what it saw")]
#[tokio::test(flavor = "multi_thread")]
async fn a_flood_of_strangers_leaves_the_orders_of_a_customer_unharmed() {
    // The long form is a minute of 10,000 requests.
    let requests = long().map_or(400, |_| 10_000);
    let shop = shop().await;
    let Served { orders, answers } = flood(&shop, requests, Duration::from_millis(6 * u64::from(requests))).await;
    let mut times: Vec<_> = orders.iter().map(|(_, time)| time.as_millis()).collect();
    times.sort_unstable();
    let placed = orders.iter().filter(|(status, _)| *status == 201).count();
    let left = shop.available("thing").await;
    // 0: the machine was busy.
    println!("{placed} of {} placed, in milliseconds {times:?}; {left} units left; {answers:#?}", orders.len());
    assert_eq!(placed, orders.len(), "{orders:?} {answers:?}");
    assert!(answers.keys().all(|answer| !answer.ends_with(": 500")), "{answers:?}");
}
