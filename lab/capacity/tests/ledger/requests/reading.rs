//! What routes that read find, or do not find; flags and views, which orders and products get meanwhile.

use key_schema::value::Day;
use serde_json::{Value, json};

use super::Placed;
use crate::counting;
use crate::metered_shop::MeteredShop;

pub async fn nothing_there(shop: &mut MeteredShop) {
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
    admin.post("/products/nothing/views", Value::Null).await.expect(404);
    shop.check("record-view", "no such product").await;
    admin.put("/orders/nothing/flag", json!({ "reason": shop.name('r') })).await.expect(404);
    shop.check("flag-order", "no such order").await;
}

pub async fn reads(shop: &mut MeteredShop, orders: &[Placed]) {
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
        counting::put_totals(shop, day).await;
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
        (format!("{order}/invoice/page"), "get-invoice-page", "found"),
        (format!("{order}/products"), "list-order-products", "found"),
        (product.clone(), "get-product", "found"),
        (format!("{product}/stats"), "get-product-stats", "found"),
        (format!("{product}/variants?{page}"), "list-variants", "a page"),
        (format!("{product}/orders?limit=100"), "list-product-orders", "a page"),
        (format!("/products?category={}&{page}", shop.id("k", 0)), "list-products", "a page"),
        (format!("/products?{page}"), "list-products", "a page, of all products"),
        (format!("/products?ids={}", shop.id("p", 0)), "list-products", "one by its id"),
        (format!("/categories?{page}"), "list-categories", "a page"),
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
        shop.shop.admin().put(&path, body).await.expect(200);
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
        admin.delete(&format!("/orders/{}/flag", order.id())).await.expect(204);
        shop.check("unflag-order", case).await;
    }
}

/// Counts views until each shard has had its first view, and one of them a second: the shards are random.
pub async fn views(shop: &mut MeteredShop) {
    let path = format!("/products/{}/views", shop.id("p", 0));
    let (mut first, mut more) = (0, 0);
    for _ in 0..1000 {
        shop.shop.nobody().post(&path, Value::Null).await.expect(204);
        let is_first = shop.shop.fault_proxy().calls().len() > 1;
        shop.check("record-view", if is_first { "the first of its part" } else { "counted" }).await;
        *(if is_first { &mut first } else { &mut more }) += 1;
        if first == shop.sizes().view_shards && more > 0 {
            return several_views(shop).await;
        }
    }
    panic!("{first} first views, {more} more");
}

/// Views of a product whose shards all exist.
async fn several_views(shop: &mut MeteredShop) {
    let twice = json!([shop.id("p", 0), shop.id("p", 0)]);
    let by_visitor = json!({ "products": twice, "visitor": "0123456789abcdef" });
    for (views, case) in [
        (json!({ "products": twice }), "each product counted"),
        (by_visitor.clone(), "each product counted, for a visitor"),
        (by_visitor, "each product viewed before, by the visitor"),
    ] {
        shop.shop.nobody().post("/views", views).await.expect(204);
        shop.check("record-views", case).await;
    }
}
