//! Orders with more lines than one transaction has: an import that ended between their lines is continued.

use local::history::Options;
use shop::reconcile::{FAST, count, reconciled};
use shop::set_everywhere;
use shop::stream::Tail;

use super::nasty::history;
use super::{AFTER_EVERY_CHANGE, Temporary, environment, exported, file, imported, imported_to};
use crate::invariants::breaches;
use crate::prelude::*;

/// An order of 60 lines, which is paid by the whole of a gift card and has the only use of a code, and what it refers to.
fn long() -> Temporary {
    long_of(60, 1)
}

/// An order of the same 60 units in so many lines.
fn long_of(lines: u32, quantity: u32) -> Temporary {
    let id = |at: u32| format!("p{at}");
    let (placed, customer) = (Timestamp::now().day().plus(-1).to_string(), "ada");
    let mut records: Vec<_> = (0..60)
        .map(|at| json!({ "type": "product", "productId": id(at), "name": "P", "category": "c", "price": eur(100) }))
        .collect();
    let lines: Vec<_> = (0..lines)
        .map(|at| json!({ "productId": id(at), "name": "P", "quantity": quantity, "unitPrice": eur(100) }))
        .collect();
    records.extend([
        json!({ "type": "customer", "customerId": customer, "username": customer, "email": "ada@example.com",
            "name": "Ada", "createdAt": "2019-01-01" }),
        json!({ "type": "giftCard", "code": "GIFT-1", "initial": eur(5990), "createdAt": "2019-01-01" }),
        json!({ "type": "discount", "code": "ONCE", "percent": 1, "maxUses": 1, "createdAt": "2019-01-01" }),
        json!({ "type": "order", "orderId": "long", "customerId": customer, "status": "DELIVERED", "placedAt": placed,
            "lines": lines, "discount": eur(10), "codes": [{ "code": "ONCE", "amount": eur(10) }], "total": eur(5990),
            "giftCards": [{ "code": "GIFT-1", "amount": eur(5990) }] }),
    ]);
    Temporary::with("long.ndjson", &file(&records))
}

/// Imports the order, and is refused after some of its lines.
async fn begin(shop: &Shop, source: &Temporary) {
    let is_line = |request: &Value| request["Item"]["EntityType"]["S"] == "orderItem";
    let denied = Fault::Refused { status: 400, exception: "AccessDeniedException" };
    shop.fault_proxy().inject_after(7, Match::action("PutItem").when(is_line), denied, 1);
    let through_the_proxy = environment(shop).with(shop.operator_through_the_proxy());
    imported_to(&through_the_proxy, source, &Options::default()).await.expect_err("it ends");
    assert_eq!(shop.fault_proxy().pending(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_order_is_finished_by_the_next_import_unless_its_content_is_another() {
    let shop = Shop::open().await;
    let source = Temporary::with("long.ndjson", &file(&history()));
    imported(&shop, &source, &Options::default()).await;
    let whole = exported(&shop).await;
    // As if the import had ended before its last writes.
    for item in shop.dump().await {
        let product = item["productId"]["S"].as_str().unwrap_or_default();
        if item["EntityType"]["S"] == "orderItem" && ["q7", "q77"].contains(&product) {
            let [pk, sk] = ["PK", "SK"].map(|name| item[name]["S"].as_str().expect("a key"));
            shop.delete(pk, sk).await;
        }
    }
    let differ: [fn(&mut Value); 4] = [
        // A line that is missing.
        |order| {
            let mut lines = order["lines"].as_array_mut().expect("lines").iter_mut();
            let line = lines.find(|line| line["productId"] == "q7").expect("a line");
            (line["quantity"], line["unitPrice"]) = (json!(2), eur(50));
        },
        |order| order["lines"][3]["name"] = json!("another"),
        |order| order["lines"][3]["productId"] = json!("p2"),
        |order| {
            order["lines"].as_array_mut().expect("lines").retain(|line| line["productId"] != "q7");
            (order["discount"], order["codes"][0]["amount"]) = (eur(2531), eur(2531));
        },
    ];
    for differ in differ {
        let mut another = history();
        differ(another.last_mut().expect("the past order"));
        let another = Temporary::with("another.ndjson", &file(&another));
        let (_, refused) = imported(&shop, &another, &Options::default()).await;
        assert_eq!(refused.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>(), ["it exists with other content"]);
    }
    for new in [1, 0] {
        let (summary, refused) = imported(&shop, &source, &Options::default()).await;
        assert_eq!((summary.new, refused), (new, vec![]));
        assert!(exported(&shop).await == whole, "the lines that were missing are there");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_begun_order_that_is_shorter_by_now_is_refused() {
    let shop = Shop::open().await;
    begin(&shop, &long()).await;
    let (_, refused) = imported(&shop, &long_of(30, 2), &Options::default()).await;
    assert_eq!(refused.iter().map(|(_, why)| why.as_str()).collect::<Vec<_>>(), ["it exists with other content"]);
}

/// A check reserves nothing for the order: its beginning has the money and the use.
#[tokio::test(flavor = "multi_thread")]
async fn a_begun_order_that_staff_flagged_is_checked_finished_read_exported_and_erased() {
    let (shop, source) = (Shop::open_counted().await, long());
    begin(&shop, &source).await;
    let flag = json!({ "reason": "It cannot be read" });
    shop.admin().put("/orders/long/flag", flag).await.expect(200);
    shop.settle().await;
    let before = shop.dump().await;
    for check in [true, false] {
        let (summary, refused) = imported(&shop, &source, &Options { check, ..Options::default() }).await;
        assert_eq!((summary.new, refused), (1, vec![]), "check: {check}");
        assert_eq!(shop.dump().await == before, check);
    }
    let ada = shop.customer("ada");
    let order = ada.get("/orders/long").await.expect(200);
    assert_eq!(order["lines"].as_array().map(Vec::len), Some(60));
    assert!(exported(&shop).await.contains("It cannot be read"));
    shop.settle().await;
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
    assert_eq!(ada.delete("/customers/ada").await.status, 204);
}

/// The header and some lines were counted long ago. The other lines come, and are not counted when the counters are
/// repaired.
#[tokio::test(flavor = "multi_thread")]
async fn lines_that_come_late_are_counted_once_beside_a_repair() {
    let shop = Shop::open_with(|template| {
        reconciled(template, 3600, FAST);
        set_everywhere(template, "STATUS_SHARDS", "2");
    })
    .await;
    let (source, mut tail) = (long(), Tail::default());
    begin(&shop, &source).await;
    count(&shop, &mut tail, "shardId-0").await;
    shop.set("o#long", "o#long", "importedAt", json!({ "S": "2020-01-01T00:00:00.000Z" })).await;
    imported(&shop, &source, &Options::default()).await;
    let report = shop.reconcile(true).await;
    assert_eq!((&report["drifted"], &report["repaired"]), (&json!(0), &json!(0)), "{report}");
    count(&shop, &mut tail, "shardId-0").await;
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
}

/// An order counts within an hour after `importedAt`, and an import may take days.
#[tokio::test(flavor = "multi_thread")]
async fn an_order_is_dated_by_its_own_writing_and_not_by_the_begin_of_the_import() {
    let shop = Shop::open().await;
    let line = json!({ "productId": "tea", "name": "Tea", "quantity": 1, "unitPrice": eur(100) });
    let mut records = vec![
        json!({ "type": "customer", "customerId": "ada", "username": "ada", "email": "ada@example.com", "name": "Ada",
            "createdAt": "2019-01-01" }),
        json!({ "type": "product", "productId": "tea", "name": "Tea", "category": "drinks", "price": eur(100) }),
    ];
    records.extend((0..48).map(|at| {
        json!({ "type": "order", "orderId": format!("o-{at}"), "customerId": "ada", "status": "DELIVERED",
            "placedAt": "2019-05-01", "lines": [line], "total": eur(100),
            "card": { "amount": eur(100), "transfer": { "reference": "-", "amount": 100 } } })
    }));
    let source = Temporary::with("dated.ndjson", &file(&records));
    let paced = Options { units_per_second: Some(100.0), ..Options::default() };
    imported(&shop, &source, &paced).await;
    let orders = shop.dump().await.into_iter().filter(|item| item["EntityType"]["S"] == "order");
    let dates = orders.map(|order| order["importedAt"]["S"].as_str().expect("a time").parse().expect("a time"));
    let dates: Vec<Timestamp> = dates.collect();
    let [first, last] = [dates.iter().min(), dates.iter().max()].map(|date| date.expect("an order").as_second());
    // Some 300 units.
    assert!(dates.len() == 48 && last > first, "{first} to {last}");
}

/// As another shop wrote them: the entries of one product are several, as its lines were.
#[tokio::test(flavor = "multi_thread")]
async fn units_of_one_product_in_several_entries_are_those_of_its_one_line() {
    let units =
        |all: &[u32]| -> Value { all.iter().map(|some| json!({ "productId": "tea", "quantity": some })).collect() };
    let line = |quantity: u32, cents: u64, off: Option<u64>| {
        let mut line = json!({ "productId": "tea", "name": "Tea", "quantity": quantity, "unitPrice": eur(cents) });
        if let Some(off) = off {
            line["discount"] = eur(off);
        }
        line
    };
    let history = |lines: Value, two: &[u32], three: &[u32], discount: Option<u64>| {
        let mut order = json!({
            "type": "order", "orderId": "o", "customerId": "ada", "status": "DELIVERED", "placedAt": "2019-05-01",
            "deliveredAt": "2019-05-03", "lines": lines, "total": eur(1250), "credits": units(two),
            "returns": [{ "returnId": "ret-o-1", "lines": units(two), "requestedAt": "2019-05-05",
                "status": "received", "closedAt": "2019-05-09", "amount": eur(833) }],
            "shipments": [{ "shipmentId": "shp-o-1", "lines": units(three), "carrier": "DHL",
                "shippedAt": "2019-05-02", "deliveredAt": "2019-05-03" }],
            "card": { "amount": eur(1250), "transfer": { "reference": "-", "amount": 1250 },
                "refunds": [{ "reference": "-", "amount": 833 }] },
        });
        if let Some(off) = discount {
            order["discount"] = eur(off);
        }
        file(&[
            json!({ "type": "customer", "customerId": "ada", "username": "ada", "email": "ada@example.com",
                "name": "Ada", "createdAt": "2019-01-01" }),
            json!({ "type": "product", "productId": "tea", "name": "Tea", "category": "drinks", "price": eur(500) }),
            order,
        ])
    };
    let several = history(json!([line(2, 500, None), line(1, 250, None)]), &[1, 1], &[2, 1], None);
    let one = history(json!([line(3, 500, Some(250))]), &[2], &[3], Some(250));
    let mut files = Vec::new();
    for text in [several, one] {
        let (shop, source) = (Shop::open_counted().await, Temporary::with("entries.ndjson", &text));
        assert_eq!(imported(&shop, &source, &Options::default()).await.1, vec![]);
        shop.settle().await;
        assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
        files.push(exported(&shop).await);
    }
    assert_eq!(files[0], files[1]);
}
