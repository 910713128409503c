//! A small demo shop, created through the HTTP API: its goods, and what customers, staff and banks have done there.

mod orders;
mod picture;

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use devstack::Stack;
use devstack::wait::PATIENCE;
use futures_util::future::{try_join_all, try_join3};
use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use self::orders::{ORDERS, Order, Step};
use crate::functions;
use crate::pretend_provider::{Act, DisputeStatus, Entry, PretendProvider, Status};

/// The demo's customer.
pub const CUSTOMER: &str = "ada";
/// Another customer.
const ALAN: &str = "alan";
/// Somebody without an account, who has this secret.
const GUEST: &str = "guest";
const SECRET: &str = "ZGVtby1kZW1vLWRlbW8tZGVtby1kZW1vLWRlbW8tZGU";

/// A discount code that is made last. So a shop that has the code has everything.
const LAST: &str = "THANKYOU5";

/// The template's parameters for the shop on a laptop: prices contain taxes, and invoices have numbers.
pub const PARAMETERS: [(&str, &str); 3] = [
    ("TaxCountry", "DE"),
    ("InvoiceSeries", "LOCAL"),
    ("Seller", "The demo shop|Chausseestrasse 1|10115 Berlin|Germany"),
];

/// Id, name, description, category, price in euro cents, stock.
const PRODUCTS: [(&str, &str, &str, &str, u32, u32); 8] = [
    ("espresso-beans", "Espresso beans", "Dark roast, 1 kg", "coffee", 1899, 120),
    ("filter-beans", "Filter beans", "Light roast, 1 kg", "coffee", 2150, 80),
    ("decaf-beans", "Decaf beans", "Swiss water process, 500 g", "coffee", 1290, 40),
    ("hand-grinder", "Hand grinder", "Conical steel burrs", "equipment", 8900, 15),
    ("gooseneck-kettle", "Gooseneck kettle", "0.9 l, with thermometer", "equipment", 5450, 20),
    // The sample events are about this one.
    ("espresso-cup", "Espresso cup", "Stoneware, 80 ml", "kitchen", 1999, 10),
    ("paper-filters", "Paper filters", "Size 2, 100 pieces", "equipment", 450, 500),
    ("moka-pot", "Moka pot", "Aluminium, 3 cups", "equipment", 2990, 0),
];

/// Creates the goods. Products and codes of an earlier run over the same data stay as they are.
pub async fn create(stack: &Stack) -> Result<()> {
    let shop = Shop::new(stack)?;
    let products = PRODUCTS.map(|(id, name, description, category, cents, stock)| {
        json!({
            "productId": id,
            "name": name,
            "description": description,
            "category": category,
            "price": euros(cents),
            "stock": stock,
            "attributes": if id == "filter-beans" { json!({ "size": "1 kg" }) } else { json!({}) },
        })
    });
    let variants = [("250 g", 690), ("500 g", 1190)].map(|(size, cents)| {
        json!({
            "productId": format!("filter-beans-{}", size.replace(' ', "")), "name": format!("Filter beans, {size}"),
            "description": "Light roast", "category": "coffee", "price": euros(cents), "stock": 30,
            "listed": false, "variantOf": "filter-beans", "attributes": { "size": size },
        })
    });
    for products in [&products[..], &variants] {
        try_join_all(products.iter().map(|product| shop.create("/products", product))).await?;
    }
    let customer =
        json!({ "customerId": CUSTOMER, "username": CUSTOMER, "email": "ada@example.com", "name": "Ada Lovelace" });
    shop.create("/customers", &customer).await?;
    shop.put_example("/shipping").await?;
    shop.create("/discounts", &json!({ "code": "WELCOME10", "percent": 10 })).await?;
    shop.create("/gift-cards", &json!({ "code": "GIFT-50-7QKX-M2TD", "balance": euros(5000) })).await
}

/// Lets people shop there: adds pictures, tax rates, another customer, and orders in every state. Only what an earlier
/// run over the same data has not finished is done.
pub async fn fill(stack: &Stack, provider: &PretendProvider) -> Result<()> {
    let shop = Shop::new(stack)?;
    let last = shop.request(&shop.staff, Method::GET, &format!("/discounts/{LAST}"), "", &Value::Null);
    if last.send().await?.status().is_success() {
        return Ok(());
    }
    let customer = json!({ "customerId": ALAN, "username": ALAN, "email": "alan@example.com", "name": "Alan Turing" });
    shop.create("/customers", &customer).await?;
    let people = async {
        shop.house(CUSTOMER, berlin("Ada Lovelace")).await?;
        let wilmslow =
            json!({ "line1": "Adlington Road", "city": "Wilmslow", "postalCode": "SK9 2BL", "country": "GB" });
        shop.house(ALAN, named("Alan Turing", wilmslow)).await?;
        shop.put("/customers/alan/cart", &json!({ "lines": [{ "productId": "espresso-cup", "quantity": 2 }] })).await
    };
    let prices = async {
        shop.put_example("/taxes").await?;
        shop.create("/discounts", &json!({ "code": "SPRING15", "percent": 15, "category": "coffee" })).await?;
        shop.create("/gift-cards", &json!({ "code": "GIFT-40-DEMO", "balance": euros(4000) })).await
    };
    let pictures = async {
        let products = shop.ask(&shop.staff, Method::GET, "/products?limit=100", "", &Value::Null).await?;
        let items = products["items"].as_array().into_iter().flatten();
        try_join_all(items.filter(|product| product["images"].get(0).is_none()).map(|it| shop.show(&it["productId"])))
            .await
    };
    try_join3(people, prices, pictures).await?;
    let guest = json!({ "email": "katherine@example.com", "name": "Katherine Johnson" });
    let guest = shop.ask(&shop.caller(GUEST)?, Method::POST, "/guests", "", &guest).await?;
    let guest = format!("/guests/{}", text(&guest["guestId"])?);
    try_join_all(ORDERS.iter().map(async |order| {
        let played = shop.play(order, if order.by == GUEST { &guest } else { "" }, provider).await;
        played.with_context(|| format!("the order {}", order.name))
    }))
    .await?;
    shop.create("/discounts", &json!({ "code": LAST, "percent": 5 })).await
}

/// Three commands to try on the demo shop.
pub fn commands(url: &str) -> String {
    let order = json!({
        "lines": [
            { "productId": "espresso-beans", "quantity": 2 },
            { "productId": "hand-grinder", "quantity": 1 },
        ],
        "discountCode": "WELCOME10",
        "giftCards": ["GIFT-50-7QKX-M2TD"],
    });
    format!(
        r#"  curl '{url}/products?category=coffee'
  curl '{url}/search?q=roast+be'
  curl '{url}/orders' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
       -H 'Idempotency-Key: my-first-order' -d '{order}'
  curl '{url}/customers/{CUSTOMER}/orders' -H "Authorization: Bearer $TOKEN""#
    )
}

fn euros(cents: u32) -> Value {
    json!({ "amount": cents, "currency": "EUR" })
}

fn berlin(name: &str) -> Value {
    let street = json!({ "line1": "Chausseestrasse 1", "city": "Berlin", "postalCode": "10115", "country": "DE" });
    named(name, street)
}

fn named(name: &str, mut address: Value) -> Value {
    address["name"] = name.into();
    address
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().with_context(|| format!("demo shop: {value} is no text"))
}

/// The header with which somebody identifies themselves.
type Caller = (&'static str, String);

struct Shop<'a> {
    stack: &'a Stack,
    client: reqwest::Client,
    staff: Caller,
}

impl<'a> Shop<'a> {
    fn new(stack: &'a Stack) -> Result<Self> {
        let staff = ("authorization", format!("Bearer {}", stack.token("demo", http_api::ADMIN_SCOPE)?));
        Ok(Self { stack, client: reqwest::Client::builder().no_proxy().build()?, staff })
    }

    fn caller(&self, name: &str) -> Result<Caller> {
        Ok(match name {
            GUEST => ("guest-secret", SECRET.to_owned()),
            customer => ("authorization", format!("Bearer {}", self.stack.token(customer, http_api::SHOP_SCOPE)?)),
        })
    }

    /// Creates what is not there yet.
    async fn create(&self, path: &str, body: &Value) -> Result<()> {
        self.send(&self.staff, Method::POST, path, "", body).await.map(drop)
    }

    /// Writes what nobody has written yet.
    async fn put(&self, path: &str, body: &Value) -> Result<()> {
        let put = self.request(&self.staff, Method::PUT, path, "", body).header("if-match", "\"0\"");
        answer(put, path).await.map(drop)
    }

    /// The same, with the body of the route's sample event.
    async fn put_example(&self, path: &str) -> Result<()> {
        let body = functions::routes().find_map(|it| it.route.example.body.filter(|_| it.route.path == path));
        self.put(path, &serde_json::from_str(body.context("demo shop: a route has no example")?)?).await
    }

    /// Writes the address book of a customer who has none.
    async fn house(&self, customer: &str, mut address: Value) -> Result<()> {
        let path = format!("/customers/{customer}/addresses");
        let book = self.request(&self.staff, Method::GET, &path, "", &Value::Null).send().await?;
        if book.status().is_success() {
            return Ok(());
        }
        address["addressId"] = "home".into();
        let book = json!({ "addresses": [address], "default": "home" });
        self.ask(&self.staff, Method::PUT, &path, "", &book).await.map(drop)
    }

    /// Uploads the picture of a product.
    async fn show(&self, product: &Value) -> Result<()> {
        let product = text(product)?;
        let Some((alt, picture)) = picture::of(product) else { return Ok(()) };
        let (picture, path) = (picture?, format!("/products/{product}/images"));
        let sha256 = BASE64_STANDARD.encode(Sha256::digest(&picture));
        let new = json!({ "contentType": "image/png", "size": picture.len(), "sha256": sha256 });
        let signed = self.ask(&self.staff, Method::POST, &path, "", &new).await?;
        let mut upload = self.client.put(text(&signed["url"])?).body(picture);
        for (name, value) in signed["headers"].as_object().into_iter().flatten() {
            upload = upload.header(name, text(value)?);
        }
        upload.send().await?.error_for_status().context("demo shop: an upload")?;
        let said = json!({ "alt": alt, "width": picture::SIDE, "height": picture::SIDE });
        self.ask(&self.staff, Method::PUT, &format!("{path}/{}", text(&signed["imageId"])?), "", &said).await.map(drop)
    }

    /// Places an order, and lets happen what becomes of it. All of that may have happened before. `home` begins the paths of a
    /// guest.
    async fn play(&self, order: &Order, home: &str, provider: &PretendProvider) -> Result<()> {
        let Order { name, by, lines, more, steps } = order;
        let (buyer, staff) = (&self.caller(by)?, &self.staff);
        let units = |(product, quantity): &(&str, u32)| json!({ "productId": product, "quantity": quantity });
        let mut new: Value = serde_json::from_str(more)?;
        new["lines"] = lines.iter().map(units).collect();
        new["shipTo"] = if home.is_empty() { json!({ "addressId": "home" }) } else { berlin("Katherine Johnson") };
        let mut place = self.request(buyer, Method::POST, &format!("{home}/orders"), name, &new);
        if steps.contains(&Step::Queue) {
            place = place.header("prefer", "respond-async");
        }
        let placed = answer(place, name).await?.context("the order is refused")?;
        let id = text(&placed["orderId"])?;
        let (of_buyer, of_staff) = (format!("{home}/orders/{id}"), format!("/orders/{id}"));
        // A shipment or a return.
        let mut newest = String::new();
        for (at, step) in steps.iter().enumerate() {
            let (caller, path, body) = match *step {
                Step::Queue => continue,
                Step::Pay(card) => {
                    // A payment that was declined, or that lapsed, could be started again.
                    let is_tried = |it: &Entry| it.declined.is_some() || it.status != Status::RequiresPaymentMethod;
                    if !provider.newest_of(id).is_some_and(|payment| is_tried(&payment)) {
                        let path = format!("{of_buyer}/payment");
                        let started = self.ask(buyer, Method::POST, &path, "", &Value::Null).await?;
                        let intent = text(&started["intentId"])?.to_owned();
                        provider.act(Act::Confirm { intent, payment_method: card.to_owned() })?;
                    }
                    heard(provider, id).await?;
                    continue;
                }
                Step::Capture | Step::Lapse | Step::Dispute(_) => {
                    at_provider(provider, id, *step).await?;
                    continue;
                }
                Step::Transfer => {
                    let invoice = text(&placed["invoice"]["invoiceId"])?;
                    (staff, format!("/invoices/{invoice}/payments"), json!({ "reference": format!("bank-{name}") }))
                }
                Step::Ship(part) => {
                    let mut body = json!({ "carrier": "Parcel Post", "trackingNumber": format!("PP-{name}-{at}") });
                    if let Some(part) = part {
                        body["lines"] = json!([units(&(lines[0].0, part))]);
                    }
                    (staff, format!("{of_staff}/shipments"), body)
                }
                Step::Deliver => (staff, format!("/shipments/{newest}/delivery"), Value::Null),
                Step::Return(line) => {
                    let body = json!({ "lines": [units(&(lines[line].0, 1))], "reason": "Not what I expected" });
                    (buyer, format!("{of_buyer}/returns"), body)
                }
                Step::Receive => {
                    (staff, format!("/returns/{newest}/receipt"), json!({ "accepted": true, "restock": true }))
                }
                Step::Refuse => {
                    (staff, format!("/returns/{newest}/receipt"), json!({ "accepted": false, "reason": "It was used" }))
                }
                Step::Cancel => (buyer, format!("{of_buyer}/cancellation"), json!({ "reason": "Found another" })),
                Step::Credit(cents) => {
                    (staff, format!("{of_staff}/credits"), json!({ "amount": euros(cents), "reason": "A scratch" }))
                }
                Step::Flag => {
                    let why = json!({ "reason": "The address looks incomplete" });
                    self.ask(staff, Method::PUT, &format!("{of_staff}/flag"), "", &why).await?;
                    continue;
                }
            };
            let answer = self.ask(caller, Method::POST, &path, &format!("{name}-{at}"), &body).await?;
            if let Some(id) = answer["shipmentId"].as_str().or(answer["returnId"].as_str()) {
                id.clone_into(&mut newest);
            }
        }
        Ok(())
    }

    fn request(&self, caller: &Caller, method: Method, path: &str, key: &str, body: &Value) -> RequestBuilder {
        let mut request = self.client.request(method, format!("{}{path}", self.stack.url()));
        request = request.header(caller.0, &caller.1);
        if !key.is_empty() {
            request = request.header("idempotency-key", key);
        }
        if body.is_null() { request } else { request.json(body) }
    }

    /// The answer to a request. None if what it would make is there, or what it would change has gone on.
    async fn send(&self, by: &Caller, method: Method, path: &str, key: &str, body: &Value) -> Result<Option<Value>> {
        answer(self.request(by, method, path, key, body), path).await
    }

    /// The answer to a request that succeeds.
    async fn ask(&self, by: &Caller, method: Method, path: &str, key: &str, body: &Value) -> Result<Value> {
        self.send(by, method, path, key, body).await?.with_context(|| format!("demo shop: {path} is refused"))
    }
}

async fn answer(request: RequestBuilder, path: &str) -> Result<Option<Value>> {
    let response = request.send().await.with_context(|| format!("demo shop: {path} got no answer"))?;
    let status = response.status();
    if [StatusCode::CONFLICT, StatusCode::PRECONDITION_FAILED].contains(&status) {
        return Ok(None);
    }
    let text = response.text().await?;
    ensure!(status.is_success(), "demo shop: {path} answered {status}: {text} (start with --empty to do without)");
    Ok(Some(serde_json::from_str(&text).unwrap_or_default()))
}

/// Lets happen at the provider what has not happened there to the payment of this order.
async fn at_provider(provider: &PretendProvider, order: &str, step: Step) -> Result<()> {
    let payment = || provider.newest_of(order).context("the provider has no payment of the order");
    let now = payment()?;
    let intent = now.id;
    match step {
        Step::Capture if now.status == Status::RequiresCapture => {
            provider.act(Act::Capture { intent, amount: None })?;
        }
        Step::Lapse if now.status == Status::RequiresCapture => provider.let_authorization_lapse(&intent)?,
        Step::Dispute(_) if now.disputes.is_empty() => {
            provider.act(Act::Dispute { intent, amount: None, inquiry: false })?;
        }
        _ => {}
    }
    let open = payment()?.disputes.pop().filter(|dispute| dispute.status == DisputeStatus::NeedsResponse);
    if let (Some(dispute), Step::Dispute(status)) = (open, step)
        && status != DisputeStatus::NeedsResponse
    {
        provider.act(Act::UpdateDispute { dispute: dispute.id, status })?;
    }
    heard(provider, order).await
}

/// Waits until the shop has heard of everything that happened at the provider to the payment of this order.
async fn heard(provider: &PretendProvider, order: &str) -> Result<()> {
    let heard = async {
        while provider.newest_of(order).is_some_and(|payment| !provider.has_told_of(&payment.id)) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, heard).await.context("demo shop: the shop does not take the provider's webhooks")
}
