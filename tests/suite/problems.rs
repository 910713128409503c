//! Problems that clients can cause: each has a documented answer, and nothing is written.

use key_schema::entity::{Discount, Reduction};
use key_schema::value::Percent;
use serde_json::Map;

use crate::prelude::*;

/// Problems that clients do not cause.
const OURS: [Kind; 4] = [Kind::Throttled, Kind::Internal, Kind::SearchOff, Kind::SearchUnavailable];

/// Problems of changes, which the tests of orders, the queue, payments, returns, products, images, shipping, recalls, guests and erasures
/// cover.
const OF_CHANGES: [Kind; 13] = [
    Kind::NotPlaced,
    Kind::NotShipped,
    Kind::ProductRecalled,
    Kind::InvalidTransition,
    Kind::TooFewUnits,
    Kind::WithdrawalOver,
    Kind::VersionConflict,
    Kind::PreconditionRequired,
    Kind::AmountTooSmall,
    Kind::TooManyGuests,
    Kind::TooManyImages,
    Kind::CustomerErased,
    Kind::OpenOrders,
];

/// A request.
pub struct Ask<'a> {
    pub client: &'a Client,
    pub method: Method,
    pub path: &'a str,
    pub key: Option<&'a str>,
    pub body: Option<String>,
}

impl<'a> Ask<'a> {
    pub fn get(client: &'a Client, path: &'a str) -> Self {
        Self { client, method: Method::GET, path, key: None, body: None }
    }

    /// A POST with an idempotency key, which most routes ignore.
    pub fn post(client: &'a Client, path: &'a str, body: &str) -> Self {
        Self { client, method: Method::POST, path, key: Some("k"), body: Some(body.to_owned()) }
    }
}

/// A shop for requests that must be refused.
pub struct Desk {
    pub shop: Shop,
    before: Vec<Value>,
    seen: BTreeSet<&'static str>,
}

impl Desk {
    pub async fn open() -> Self {
        let shop = Shop::selling("pot", 1000, 2).await;
        shop.product("cup", 300, 50).await;
        shop.product("nail", 1, 1000).await;
        let before = shop.dump().await;
        Self { shop, before, seen: BTreeSet::new() }
    }

    /// Remembers the current content of the table.
    async fn ready(&mut self) {
        self.before = self.shop.dump().await;
    }

    pub async fn refuses(&mut self, ask: Ask<'_>, kind: Kind, members: Value) -> String {
        let Ask { client, method, path, key, body } = ask;
        let at = format!("{method} {path} {:.200}", body.as_deref().unwrap_or_default());
        let headers: Vec<_> = key.into_iter().map(|key| ("idempotency-key", key)).collect();
        let reply = client.send(method, path, &headers, body).await;
        let challenge = (kind == Kind::Unauthorized).then_some("Bearer");
        assert_eq!(reply.header("www-authenticate"), challenge, "{at}");
        assert_eq!(reply.header("retry-after"), None, "{at}");
        assert_eq!(reply.body["type"], format!("/problems/{}", kind.slug()), "{at}: {}", reply.body);

        let mut problem: Map<String, Value> = serde_json::from_value(reply.problem(kind)).expect("an object");
        assert_eq!(problem.remove("title"), Some(json!(kind.title())), "{at}");
        let detail = problem["detail"].as_str().expect("a text").to_owned();
        for internal in ["dynamo", "Dynamo", "panicked", ".rs", "GSI", "PK", "SK"] {
            assert!(!detail.contains(internal), "{at}: {detail}");
        }
        // The faults of a body have a law of their own in `wrong_types`.
        problem.retain(|member, _| !["type", "status", "detail", "errors"].contains(&member.as_str()));
        assert_eq!(Value::Object(problem), members, "{at}");
        assert_eq!(self.shop.dump().await, self.before, "{at} was refused and wrote something");
        self.seen.insert(kind.slug());
        detail
    }

    async fn refuses_order(&mut self, key: &str, body: Value, kind: Kind, members: Value) -> String {
        let ada = self.shop.customer("ada");
        self.refuses(Ask { key: Some(key), ..Ask::post(&ada, "/orders", &body.to_string()) }, kind, members).await
    }
}

fn buy(product: &str, quantity: u64) -> Value {
    basket(product, quantity)
}

fn money(amount: u64, currency: &str) -> Value {
    json!({ "amount": amount, "currency": currency })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_sign_up_leaves_no_claim() {
    let mut desk = Desk::open().await;
    let eve = desk.shop.customer("eve");
    for (username, email, kind) in [
        ("ada", "eve@example.com", Kind::UsernameTaken),
        ("ADA", "eve@example.com", Kind::UsernameTaken),
        ("eve", "ada@example.com", Kind::EmailTaken),
        ("eve", "Ada@Example.COM", Kind::EmailTaken),
        ("Ada", "ADA@example.com", Kind::UsernameTaken),
    ] {
        let body = json!({ "username": username, "email": email, "name": "Eve" }).to_string();
        desk.refuses(Ask::post(&eve, "/customers", &body), kind, json!({})).await;
    }
    // No claim was written before the refusal.
    assert_eq!(desk.shop.sign_up("eve").await["customerId"], "eve");
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::too_many_lines, reason = "a list of all problems")]
async fn every_problem_that_a_client_can_cause_names_the_cause_and_writes_nothing() {
    let mut desk = Desk::open().await;
    let (admin, ada, eve) = (desk.shop.admin(), desk.shop.customer("ada"), desk.shop.customer("eve"));
    for (code, from, most) in [("EARLY", Some("2999-01-01"), None), ("ONCE", None, Some(1))] {
        let body = json!({ "code": code, "percent": 10, "from": from, "maxUses": most });
        admin.post("/discounts", body).await.expect(201);
    }
    let late = Discount {
        code: "LATE".parse().expect("a code"),
        reduction: Reduction::Percent(Percent::try_from(10).expect("per cent")),
        min_subtotal: None,
        category: None,
        combinable: false,
        from: None,
        to: "2000-01-01".parse().ok(),
        max_uses: None,
        uses: 0,
        held_by_guests: 0,
        revoked: false,
        version: 1,
        created_at: Timestamp::now(),
    };
    desk.shop.put(&late).await;
    desk.shop.gift_card("EMPTY", 100).await;
    desk.shop.gift_card("FULL", 10_000).await;
    admin.post("/gift-cards", json!({ "code": "DOLLARS-FOR-ADA", "balance": money(100, "USD") })).await.expect(201);
    let price = json!({ "amount": 1_000_000_000_000_u64, "currency": "EUR" });
    for (id, price) in [("dollar", money(100, "USD")), ("star", price)] {
        desk.shop.create(id, json!({ "category": "other", "price": price })).await;
    }
    let using = |code: &str, cards: &[&str]| json!({ "lines": buy("cup", 1)["lines"], "discountCode": code, "giftCards": cards });
    ada.order("used", using("ONCE", &["EMPTY"])).await.expect(201);
    desk.ready().await;

    // Requests that the shop's state does not allow.
    let many =
        |count: usize| (0..count).map(|at| json!({ "productId": format!("p{at}"), "quantity": 1 })).collect::<Vec<_>>();
    let two = |first: &str, second: &str, quantity: u64| json!({ "lines": [{ "productId": first, "quantity": 1 }, { "productId": second, "quantity": quantity }] });
    let paid = |cards: &[&str]| json!({ "lines": buy("cup", 1)["lines"], "giftCards": cards });
    let expecting = |total: Value| json!({ "lines": buy("cup", 2)["lines"], "expectedTotal": total });
    let discounted = |code: &str| json!({ "lines": buy("cup", 1)["lines"], "discountCode": code });
    for (body, kind, members) in [
        (two("cup", "pot", 3), Kind::OutOfStock, json!({ "productId": "pot", "line": 1, "available": 2 })),
        (buy("nail", 201), Kind::OpenUnits, json!({ "open": 0, "allowed": 200 })),
        (buy("pot", 10_000), Kind::OutOfStock, json!({ "productId": "pot", "line": 0, "available": 2 })),
        (two("cup", "unheard-of", 1), Kind::NotFound, json!({ "productId": "unheard-of", "line": 1 })),
        (two("cup", "dollar", 1), Kind::Validation, json!({ "line": 1 })),
        (buy("star", 2), Kind::Validation, json!({})),
        (expecting(eur(599)), Kind::PriceChanged, json!({ "total": eur(600) })),
        (expecting(money(600, "USD")), Kind::PriceChanged, json!({ "total": eur(600) })),
        (json!({ "lines": buy("cup", 1)["lines"], "cart": 7 }), Kind::CartChanged, json!({ "cart": 7 })),
        (discounted("UNKNOWN"), Kind::DiscountInvalid, json!({ "code": "UNKNOWN" })),
        (discounted("NEVER"), Kind::DiscountInvalid, json!({ "code": "NEVER" })),
        (discounted("EARLY"), Kind::DiscountInvalid, json!({ "code": "EARLY" })),
        (discounted("LATE"), Kind::DiscountInvalid, json!({ "code": "LATE" })),
        (discounted("ONCE"), Kind::DiscountExhausted, json!({ "code": "ONCE" })),
        (paid(&["UNKNOWN"]), Kind::GiftCardInvalid, json!({})),
        (paid(&["DOLLARS-FOR-ADA"]), Kind::GiftCardInvalid, json!({})),
        (paid(&["EMPTY"]), Kind::GiftCardBalance, json!({ "code": "EMPTY" })),
        // The answer does not say which card is missing.
        (paid(&["FULL", "UNKNOWN"]), Kind::GiftCardInvalid, json!({})),
        (paid(&["NONE", "UNKNOWN"]), Kind::GiftCardInvalid, json!({})),
        (buy("4242-4242-4242-4242", 1), Kind::CardNumber, json!({ "field": "lines[0].productId" })),
        (json!({ "lines": many(41) }), Kind::TooLarge, json!({})),
        (paid(&["A", "B", "C", "D", "E"]), Kind::TooLarge, json!({})),
    ] {
        desk.refuses_order("new", body, kind, members).await;
    }

    // Problems of the idempotency key.
    let order = buy("cup", 1).to_string();
    let ask = |key| Ask { key, ..Ask::post(&ada, "/orders", &order) };
    desk.refuses(ask(None), Kind::IdempotencyKeyMissing, json!({})).await;
    for key in ["", &"k".repeat(256)] {
        let detail = desk.refuses(ask(Some(key)), Kind::Validation, json!({})).await;
        assert_eq!(detail, "Idempotency-Key must be 1 to 255 printable ASCII characters");
    }
    for body in [buy("cup", 1), using("LATE", &["EMPTY"]), using("ONCE", &[]), buy("unheard-of", 1)] {
        desk.refuses_order("used", body, Kind::IdempotencyKeyReused, json!({})).await;
    }

    // Missing resources, and resources of another customer.
    desk.refuses(Ask::post(&eve, "/orders", &order), Kind::NotFound, json!({})).await;
    for path in [
        "/customers/eve",
        "/products/none",
        "/orders/none",
        "/orders/none/invoice",
        "/orders/none/invoice/page",
        "/orders/none/products",
        "/invoices/none",
        "/invoices/none/payments",
    ] {
        desk.refuses(Ask::get(&admin, path), Kind::NotFound, json!({})).await;
    }
    for path in ["/nothing", "/products/", "/products/pot/", "/problems/not-found"] {
        admin.get(path).await.of_gateway(404);
    }
    for method in [Method::DELETE, Method::PUT, Method::PATCH] {
        admin.send(method, "/orders", &[], None).await.of_gateway(404);
    }
    let body = json!({ "customerId": "mallory", "username": "m", "email": "m@example.com", "name": "M" }).to_string();
    desk.refuses(Ask::post(&ada, "/customers", &body), Kind::Forbidden, json!({})).await;
    let of_guest = desk.shop.customer("guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og");
    desk.refuses(Ask::get(&of_guest, "/orders/none"), Kind::Unauthorized, json!({})).await;
    for (client, username, email, kind) in [
        (&eve, "ada", "e@example.com", Kind::UsernameTaken),
        (&eve, "eve", "ada@example.com", Kind::EmailTaken),
        (&ada, "ada", "e@example.com", Kind::AlreadyExists),
    ] {
        let body = json!({ "username": username, "email": email, "name": "E" }).to_string();
        desk.refuses(Ask::post(client, "/customers", &body), kind, json!({})).await;
    }

    desk.seen.extend(OURS.map(Kind::slug));
    desk.seen.extend(OF_CHANGES.map(Kind::slug));
    assert_eq!(
        desk.seen,
        Kind::ALL.iter().map(|kind| kind.slug()).collect(),
        "each kind is either caused here or ours"
    );
    ada.order(&"k".repeat(255), buy("cup", 1)).await.expect(201);
}
