//! The operations of customers and admins.

use std::time::{Duration, Instant};

use devstack::fault_proxy::{Fault, Match};
use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::{PaymentState, PaymentStatus};
use key_schema::value::Day;
use reqwest::Method;
use sample_items::Kind;
use sample_items::Revision::{Changed, First};
use serde_json::{Value, json};
use shop::last_release::old_invoice_id;
use shop::queue::order_later;
use shop::{Reply, eur};

use super::metered_shop::MeteredShop;

pub async fn send_all(shop: &mut MeteredShop) {
    customers(shop).await;
    catalogue(shop).await;
    nothing_there(shop).await;
    carts(shop).await;
    let orders = orders(shop).await;
    views(shop).await;
    reads(shop, &orders).await;
    lifecycle(shop, &orders).await;
    refusals(shop).await;
    waiting(shop).await;
    changes(shop).await;
}

/// An order as the shop answered it.
pub struct Placed(pub Value);

impl Placed {
    pub fn id(&self) -> &str {
        self.0["orderId"].as_str().expect("an id")
    }

    fn invoice(&self) -> &str {
        self.0["invoice"]["invoiceId"].as_str().expect("an id")
    }
}

async fn customers(shop: &mut MeteredShop) {
    let sign_up = json!({
        "username": shop.id("u", 0), "email": format!("{}@example.com", shop.id("e", 0)), "name": shop.name('n'),
    });
    shop.customer().post("/customers", sign_up.clone()).await.expect(201);
    shop.check("create-customer", "signed up").await;
    shop.customer().post("/customers", sign_up.clone()).await.expect(201);
    shop.check("create-customer", "signed up before").await;
    let mut other = sign_up;
    other["email"] = json!(format!("{}@example.com", shop.id("e", 1)));
    shop.shop.customer(&shop.id("c", 1)).post("/customers", other).await.expect(409);
    shop.check("create-customer", "another has the username").await;
}

async fn catalogue(shop: &mut MeteredShop) {
    let admin = shop.shop.admin();
    let sizes = shop.sizes();
    for number in 0..sizes.lines.max(sizes.cart_lines).max(sizes.listed.into()) {
        admin.post("/products", shop.product(number)).await.expect(201);
        shop.check("create-product", "made").await;
    }
    admin.post("/products", shop.product(0)).await.expect(201);
    shop.check("create-product", "made before").await;
    let mut product = shop.product(0);
    product["productId"] = json!(shop.id("q", 0));
    for case in ["made, under an idempotency key", "made before, under an idempotency key"] {
        let product = Some(product.to_string());
        admin.send(Method::POST, "/products", &[("idempotency-key", "new")], product).await.expect(201);
        shop.check("create-product", case).await;
    }
    shop.check_sizes(&[("idempotencyRecord", Kind::KeptProduct)]).await;
    let discount = json!({ "code": shop.id("d", 0), "percent": 10, "maxUses": 9_999 });
    admin.post("/discounts", discount.clone()).await.expect(201);
    shop.check("create-discount", "made").await;
    admin.post("/discounts", discount).await.expect(201);
    shop.check("create-discount", "made before").await;
    let card = |number: u32| json!({ "code": shop.id("g", number), "balance": eur(499) });
    // Each order has gift cards of its own.
    let cards: Vec<_> = (0..4 * 18).map(card).collect();
    for card in &cards {
        admin.post("/gift-cards", card.clone()).await.expect(201);
        shop.check("create-gift-card", "made").await;
    }
    admin.post("/gift-cards", cards[0].clone()).await.expect(201);
    shop.check("create-gift-card", "made before").await;
}

async fn nothing_there(shop: &mut MeteredShop) {
    let admin = shop.shop.admin();
    admin.get("/products/nothing").await.expect(404);
    shop.check("get-product", "not found").await;
    admin.get("/orders/nothing").await.expect(404);
    shop.check("get-order", "not found").await;
    admin.get("/orders/nothing/products").await.expect(404);
    shop.check("list-order-products", "not found").await;
    admin.get("/customers?email=nobody@example.com").await.expect(404);
    shop.check("find-customer", "nobody has it").await;
    let first: Day = "2020-01-01".parse().expect("a day");
    let listed = shop.sizes().listed.into();
    admin.get(&format!("/totals?from={first}&to={}", first.plus(listed))).await.expect(200);
    shop.check("list-totals", "of days without").await;
    admin.send_to_any_version(Method::POST, "/products/nothing/views", &Value::Null).await.expect(404);
    shop.check("record-view", "no such product").await;
    admin
        .send_to_any_version(Method::PUT, "/orders/nothing/flag", &json!({ "reason": shop.name('r') }))
        .await
        .expect(404);
    shop.check("flag-order", "no such order").await;
}

async fn carts(shop: &mut MeteredShop) {
    let customer = shop.customer();
    let path = format!("/customers/{}/cart", shop.id("c", 0));
    customer.send_to_any_version(Method::DELETE, &path, &Value::Null).await.expect(204);
    shop.check("delete-cart", "there was none").await;
    let unknown = json!({ "lines": [{ "productId": "nothing", "quantity": 1 }] });
    customer.send_to_any_version(Method::PUT, &path, &unknown).await.expect(404);
    shop.check("put-cart", "of a product that is not there").await;
    for (quantity, case) in [(2, "the first"), (1, "in place of another")] {
        let lines: Vec<_> = (0..shop.sizes().cart_lines)
            .map(|number| json!({ "productId": shop.id("p", number), "quantity": quantity }))
            .collect();
        let cart = Some(json!({ "lines": lines }).to_string());
        customer.send(Method::PUT, &path, &[], cart).await.expect(200);
        shop.check("put-cart", case).await;
    }
    customer.get(&path).await.expect(200);
    shop.check("get-cart", "found").await;
    customer.send(Method::DELETE, &path, &[("if-match", "\"1\"")], None).await.expect(412);
    shop.check("delete-cart", "not the one that was meant").await;
}

/// Places as many orders as are listed, at least two, and counts the first two.
async fn orders(shop: &mut MeteredShop) -> Vec<Placed> {
    let customer = shop.customer();
    let first = Placed(customer.order("k0", shop.order(0, 1)).await.expect(201));
    shop.check("place-order", "placed").await;
    customer.order("k0", shop.order(0, 1)).await.expect(201);
    shop.check("place-order", "placed before").await;
    let mut kinds = vec![
        ("customer", Kind::Customer(First)),
        ("emailClaim", Kind::EmailClaim),
        ("usernameClaim", Kind::UsernameClaim),
        ("cart", Kind::Cart(First)),
        ("product", Kind::Product(First)),
        ("stock", Kind::Stock(First)),
        ("order", Kind::Order(Pending)),
        ("orderItem", Kind::OrderItem),
        ("invoice", Kind::Invoice(PaymentState::Pending)),
        ("discount", Kind::Discount(First)),
        ("giftCard", Kind::GiftCard(First)),
    ];
    if shop.sizes().gift_cards > 0 {
        kinds.push(("giftCardEntry", Kind::GiftCardEntry(PaymentStatus::Captured)));
    }
    shop.check_sizes(&kinds).await;
    super::counting::count_first(shop, &first).await;

    shop.shop.fault_proxy().inject(Match::action("TransactWriteItems"), Fault::CutAfter, 1);
    let second = Placed(customer.order("k1", shop.order(1, 1)).await.expect(201));
    shop.check("place-order", "placed, and the answer lost on the way").await;
    super::counting::count_second(shop).await;
    let mut orders = vec![first, second];
    for number in 2..shop.sizes().listed.into() {
        let order = shop.order(12 + number, 1);
        orders.push(Placed(customer.order(&format!("listed-{number}"), order).await.expect(201)));
    }
    shop.pass().await;
    orders
}

async fn reads(shop: &mut MeteredShop, orders: &[Placed]) {
    let (first, second) = (&orders[0], &orders[1]);
    let admin = shop.shop.admin();
    let customer = format!("/customers/{}", shop.id("c", 0));
    let product = format!("/products/{}", shop.id("p", 0));
    let (order, invoice) = (format!("/orders/{}", first.id()), format!("/invoices/{}", first.invoice()));
    let page = format!("limit={}", shop.sizes().listed);
    let today = &first.0["placedAt"].as_str().expect("a time")[..10];
    let today: Day = today.parse().expect("a day");
    let days = (0..shop.sizes().listed.into()).map(|later| today.plus(later));
    for day in days.skip(1) {
        super::counting::put_totals(shop, day).await;
    }
    let end = today.plus(shop.sizes().listed.into());
    let mut all = vec![
        (format!("/customers?email={}@example.com", shop.id("e", 0)), "find-customer", "by e-mail"),
        (format!("/customers?username={}", shop.id("u", 0)), "find-customer", "by username"),
        (customer.clone(), "get-customer", "found"),
        (format!("{customer}/overview"), "get-customer-overview", "found"),
        (format!("{customer}/invoices?{page}"), "list-customer-invoices", "a page"),
        (format!("{customer}/orders?{page}"), "list-customer-orders", "a page"),
        (format!("{customer}/products?{page}"), "list-customer-products", "a page"),
        (format!("/discounts/{}", shop.id("d", 0)), "get-discount", "found"),
        (invoice.clone(), "get-invoice", "found"),
        (format!("{invoice}/payments"), "list-invoice-payments", "found"),
        (order.clone(), "get-order", "found"),
        (format!("{order}/invoice"), "get-order-invoice", "found"),
        (format!("{order}/products"), "list-order-products", "found"),
        (product.clone(), "get-product", "found"),
        (format!("{product}/stats"), "get-product-stats", "found"),
        (format!("{product}/orders?limit=100"), "list-product-orders", "a page"),
        (format!("/products?category={}&{page}", shop.id("k", 0)), "list-products", "a page"),
        ("/orders?status=PENDING&limit=100".to_owned(), "list-orders", "a page"),
        (format!("/totals?from={today}&to={end}"), "list-totals", "of days with orders"),
    ];
    if shop.sizes().gift_cards > 0 {
        all.push((format!("/gift-cards/{}", shop.id("g", 0)), "get-gift-card", "found, and used once"));
    }
    for (path, function, case) in all {
        admin.get(&path).await.expect(200);
        shop.check(function, case).await;
    }

    let mut flag = async |order: &Placed, reason: char, case| {
        let path = format!("/orders/{}/flag", order.id());
        let body = json!({ "reason": shop.name(reason) });
        shop.shop.admin().send_to_any_version(Method::PUT, &path, &body).await.expect(200);
        shop.check("flag-order", case).await;
    };
    flag(first, 'r', "flagged").await;
    flag(first, 'r', "again").await;
    flag(first, 's', "for another reason").await;
    for order in &orders[1..] {
        flag(order, 'r', "flagged").await;
    }
    admin.get(&format!("/flagged-orders?{page}")).await.expect(200);
    shop.check("list-flagged-orders", "a page").await;
    let flagged = orders.iter().map(|order| (order, "unflagged"));
    for (order, case) in flagged.chain([(second, "had no flag")]) {
        admin
            .send_to_any_version(Method::DELETE, &format!("/orders/{}/flag", order.id()), &Value::Null)
            .await
            .expect(204);
        shop.check("unflag-order", case).await;
    }
}

/// Counts views until each shard has had its first view, and one of them a second: the shards are random.
async fn views(shop: &mut MeteredShop) {
    let path = format!("/products/{}/views", shop.id("p", 0));
    let (mut first, mut more) = (0, 0);
    for _ in 0..1000 {
        shop.shop.nobody().send_to_any_version(Method::POST, &path, &Value::Null).await.expect(204);
        let is_first = shop.shop.fault_proxy().calls().len() > 1;
        shop.check("record-view", if is_first { "the first of its part" } else { "counted" }).await;
        *(if is_first { &mut first } else { &mut more }) += 1;
        if first == shop.sizes().view_shards && more > 0 {
            return;
        }
    }
    panic!("{first} first views, {more} more");
}

async fn lifecycle(shop: &mut MeteredShop, orders: &[Placed]) {
    let (first, second) = (&orders[0], &orders[1]);
    let admin = shop.shop.admin();
    let capture = json!({ "reference": shop.name('r') });
    for case in ["captured", "again"] {
        admin.post(&format!("/invoices/{}/payments", first.invoice()), capture.clone()).await.expect(200);
        shop.check("capture-payment", case).await;
    }
    let another = json!({ "reference": shop.name('s') });
    admin.post(&format!("/invoices/{}/payments", first.invoice()), another).await.expect(409);
    shop.check("capture-payment", "under another reference").await;
    admin.post(&format!("/invoices/{}/refunds", first.invoice()), capture.clone()).await.expect(409);
    shop.check("confirm-refund", "nothing is due").await;
    for (status, case) in [("SHIPPED", "shipped"), ("DELIVERED", "delivered"), ("DELIVERED", "again")] {
        admin.post(&format!("/orders/{}/status", first.id()), json!({ "status": status })).await.expect(200);
        shop.check("change-order-status", case).await;
    }
    let reason = json!({ "reason": shop.name('r') });
    admin.post(&format!("/orders/{}/cancellation", first.id()), reason.clone()).await.expect(409);
    shop.check("cancel-order", "too late").await;
    for case in ["before it is paid", "again"] {
        admin.post(&format!("/orders/{}/cancellation", second.id()), reason.clone()).await.expect(200);
        shop.check("cancel-order", case).await;
    }
    super::counting::count_cancellation(shop, second).await;
    admin.post(&format!("/orders/{}/status", second.id()), json!({ "status": "SHIPPED" })).await.expect(409);
    shop.check("change-order-status", "refused").await;
    admin.post(&format!("/invoices/{}/payments", second.invoice()), capture.clone()).await.expect(200);
    shop.check("capture-payment", "after the order was cancelled").await;
    for case in ["refunded", "again"] {
        admin.post(&format!("/invoices/{}/refunds", second.invoice()), capture.clone()).await.expect(200);
        shop.check("confirm-refund", case).await;
    }
    by_old_id(shop, &capture).await;
    overdue(shop).await;
    let third = Placed(shop.customer().order("k2", shop.order(2, 1)).await.expect(201));
    admin.post(&format!("/invoices/{}/payments", third.invoice()), capture).await.expect(200);
    shop.pass().await;
    admin.post(&format!("/orders/{}/cancellation", third.id()), reason).await.expect(200);
    shop.check("cancel-order", "after it is paid").await;
}

/// Expires an order that is not paid in time.
async fn overdue(shop: &mut MeteredShop) {
    shop.shop.expire().await;
    shop.check("expire-orders", "nothing is overdue").await;
    let order = shop.customer().order("k9", shop.order(13, 1)).await.expect(201);
    shop.shop.age(&order).await;
    shop.pass().await;
    assert_eq!(shop.shop.expire().await["expired"], 1);
    shop.check("expire-orders", "an order").await;
}

/// Captures an order whose invoice has an id of the last release.
async fn by_old_id(shop: &mut MeteredShop, reference: &Value) {
    let admin = shop.shop.admin();
    let order = shop.customer().order("k8", shop.order(12, 1)).await.expect(201);
    shop.pass().await;
    let path = format!("/invoices/{}", old_invoice_id(&shop.shop, &order).await);
    admin.get(&path).await.expect(200);
    shop.check("get-invoice", "found by an old id").await;
    admin.get(&format!("{path}/payments")).await.expect(200);
    shop.check("list-invoice-payments", "found by an old id").await;
    admin.post(&format!("{path}/refunds"), reference.clone()).await.expect(409);
    shop.check("confirm-refund", "nothing is due, by an old id").await;
    admin.post(&format!("{path}/payments"), reference.clone()).await.expect(200);
    shop.check("capture-payment", "captured, by an old id").await;
}

/// Sets an attribute of a product's stock directly in the table.
async fn set_stock(shop: &MeteredShop, number: u32, attribute: &str, value: u64) {
    let update = json!({
        "TableName": shop.shop.table(),
        "Key": { "PK": { "S": format!("p#{}", shop.id("p", number)) }, "SK": { "S": "stock" } },
        "UpdateExpression": format!("SET {attribute} = :value"),
        "ExpressionAttributeValues": { ":value": { "N": value.to_string() } },
    });
    shop.shop.dynamodb("UpdateItem", &update).await;
}

/// Places an order while something changes between its read and its commit.
async fn order_while(shop: &MeteredShop, key: &'static str, number: u32, attribute: &str, value: u64) -> Reply {
    let proxy = shop.shop.fault_proxy();
    proxy.inject(Match::action("TransactWriteItems"), Fault::Delay(Duration::from_secs(1)), 1);
    let (customer, order) = (shop.customer(), shop.order(number, 1));
    let ordering = tokio::spawn(async move { customer.order(key, order).await });
    let begin = Instant::now();
    while proxy.calls().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the order is never read");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    set_stock(shop, 0, attribute, value).await;
    ordering.await.expect("a reply")
}

async fn refusals(shop: &mut MeteredShop) {
    shop.customer().order("k3", shop.order(3, 5000)).await.problem(http_api::Kind::OutOfStock);
    shop.check("place-order", "out of stock").await;
    order_while(shop, "k4", 3, "available", 0).await.problem(http_api::Kind::OutOfStock);
    shop.check("place-order", "sold out since it was read").await;
    set_stock(shop, 0, "available", 990).await;
    order_while(shop, "k5", 4, "price.amount", 2001).await.expect(201);
    shop.check("place-order", "price changed since it was read").await;
    set_stock(shop, 0, "price.amount", 1999).await;
}

async fn waiting(shop: &mut MeteredShop) {
    let customer = shop.customer();
    let accepted = order_later(&customer, "k6", shop.order(5, 1)).await.expect(202);
    shop.check("place-order", "accepted for later").await;
    order_later(&customer, "k6", shop.order(5, 1)).await.expect(202);
    shop.check("place-order", "accepted before").await;
    shop.check_sizes(&[("queuedOrder", Kind::QueuedOrder)]).await;
    customer.get(&format!("/orders/{}", accepted["orderId"].as_str().expect("an id"))).await.expect(200);
    shop.check("get-order", "waits").await;
    let messages = shop.shop.take_messages().await;
    for case in ["placed", "placed before"] {
        shop.shop.drain(&messages[..1]).await;
        shop.check("drain-writes", case).await;
    }
    order_later(&customer, "k7", shop.order(6, 5000)).await.expect(202);
    shop.pass().await;
    let messages = shop.shop.take_messages().await;
    shop.shop.drain(&messages).await;
    shop.check("drain-writes", "out of stock").await;
}

async fn changes(shop: &mut MeteredShop) {
    let (admin, customer) = (shop.shop.admin(), shop.customer());
    let (profile, product) = (format!("/customers/{}", shop.id("c", 0)), format!("/products/{}", shop.id("p", 0)));
    customer.send_to_any_version(Method::DELETE, &format!("{profile}/cart"), &Value::Null).await.expect(204);
    shop.check("delete-cart", "thrown away").await;
    let patch = Method::PATCH;
    for (path, change, function, case) in [
        (&profile, json!({ "name": shop.name('m') }), "update-customer", "another name"),
        (
            &profile,
            json!({ "email": format!("{}@example.com", shop.id("e", 2)) }),
            "update-customer",
            "another e-mail address",
        ),
        (&profile, json!({ "username": shop.id("u", 2) }), "update-customer", "another username"),
        (&profile, json!({ "name": shop.name('m') }), "update-customer", "nothing new"),
        (&product, json!({ "name": shop.name('m') }), "update-product", "another name"),
        (&product, json!({ "price": eur(2999) }), "update-product", "another price"),
        (&product, json!({ "category": shop.id("l", 0) }), "update-product", "another category"),
        (&product, json!({ "name": shop.name('m') }), "update-product", "nothing new"),
    ] {
        admin.send_to_any_version(patch.clone(), path, &change).await.expect(200);
        shop.check(function, case).await;
    }
    admin.send_to_any_version(Method::POST, &format!("{product}/stock"), &json!({ "delta": 5 })).await.expect(200);
    shop.check("adjust-stock", "adjusted").await;
    for case in ["adjusted, under an idempotency key", "adjusted before, under an idempotency key"] {
        let (stock, delta) = (format!("{product}/stock"), Some(json!({ "delta": 5 }).to_string()));
        admin.send(Method::POST, &stock, &[("idempotency-key", "more")], delta).await.expect(200);
        shop.check("adjust-stock", case).await;
    }
    shop.check_sizes(&[("discount", Kind::Discount(Changed)), ("stock", Kind::Stock(Changed))]).await;
}
