//! The nastiest history: what the records allow at their edges. Whatever is imported can be read, sold, refunded and
//! exported, and each answer is as the API describes it.

use local::history::Options;
use shop::openapi;

use super::{AFTER_EVERY_CHANGE, Temporary, assert_valid, copied, exported, file, imported};
use crate::invariants::breaches;
use crate::prelude::*;

/// A carrier's or a bank's number that looks like that of a payment card.
const NUMBER: &str = "4242424242424242";
const LONG: &str = "_-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// A name of 200 characters that are letters, marks, symbols and markup.
fn name() -> String {
    let name =
        "</td><script>alert(1)</script> \u{202f}\u{200d}\u{1f469}\u{200d}\u{1f680} e\u{301}\u{5d0}\u{200f} '\"&|#%";
    name.chars().cycle().take(199).chain(['x']).collect()
}

fn products() -> impl Iterator<Item = String> {
    (0..38).map(|at| format!("p{at}")).chain(["-".to_owned(), LONG.to_owned()])
}

pub fn history() -> Vec<Value> {
    let dearest = json!({ "amount": 1_000_000_000_000_i64, "currency": "EUR" });
    let attributes: serde_json::Map<_, _> =
        (0..20).map(|at| (format!("{at} {}", "\u{e4}".repeat(97)), json!("x".repeat(100)))).collect();
    let mut records: Vec<_> = products()
        .map(|id| {
            json!({ "type": "product", "productId": id, "name": name(), "category": LONG, "price": eur(0),
                "available": u32::MAX })
        })
        .collect();
    for record in &mut records[..2] {
        (record["description"], record["attributes"]) = (json!("\n\t".repeat(2500)), json!(attributes));
        record["cells"] = json!(32);
    }
    records[0]["price"] = dearest;
    records[1]["price"] = eur(100);
    let line = |id: &str, quantity: u64, cents: u64| json!({ "productId": id, "name": name(), "quantity": quantity, "unitPrice": eur(cents) });
    let mut lines: Vec<_> = products().map(|id| line(&id, 10_000, 0)).collect();
    lines[1] = line("p1", 3, 333);
    let ship_to = json!({ "name": name().chars().take(100).collect::<String>(), "line1": "#", "city": "\u{5317}\u{4eac}", "postalCode": "w-8000", "country": "DE" });
    let units = json!([{ "productId": "p1", "quantity": 1 }]);
    let delivered = json!({
        "type": "order", "orderId": "-", "customerId": LONG, "status": "DELIVERED", "placedAt": "1970-01-01",
        "deliveredAt": "1970-01-02", "lines": lines, "discount": eur(99), "codes": [{ "code": "welcome-10", "amount": eur(99) }],
        "total": eur(900), "giftCards": [{ "code": "g", "amount": eur(100) }], "shipTo": ship_to,
        "card": { "amount": eur(800), "transfer": { "reference": NUMBER, "amount": 800 } },
        "invoiceId": "2019_1", "invoiceNumber": "RE-2021", "flag": { "reason": name(), "flaggedAt": "1970-01-03" },
        "returns": [{ "returnId": "ret---1", "lines": units, "reason": name(), "requestedAt": "1970-01-03", "status": "refused",
            "closedAt": "1970-01-04", "refusal": name() }],
        "shipments": [{ "shipmentId": "shp---1", "lines": units, "carrier": "DHL", "trackingNumber": NUMBER,
            "trackingUrl": format!("https://dhl.example/?id={NUMBER}"), "shippedAt": "1970-01-01", "deliveredAt": "1970-01-02" }],
    });
    let guest = "guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og";
    let cancelled = json!({
        "type": "order", "orderId": LONG, "customerId": guest, "status": "CANCELLED", "placedAt": "2000-02-29",
        "lines": [line("p1", 1, 100)], "total": eur(100), "cancellation": { "at": "2000-02-29", "reason": name(), "cause": "staff" },
        "card": { "amount": eur(100), "transfer": { "reference": NUMBER, "amount": 100 }, "refunds": [{ "reference": NUMBER, "amount": 100 }] },
        "invoiceId": LONG,
    });
    records.extend([
        json!({ "type": "customer", "customerId": LONG, "username": "A._-", "email": "!$%&'*+/=?^_`{|}~-@a-b.xn--p1ai",
            "name": name(), "createdAt": "1970-01-01", "version": 1_u64 << 40 }),
        json!({ "type": "guest", "customerId": guest, "email": "a@b.c", "name": name(), "createdAt": "1970-01-01" }),
        json!({ "type": "discount", "code": "welcome-10", "percent": 100, "maxUses": 1, "createdAt": "1970-01-01" }),
        json!({ "type": "discount", "code": "never", "percent": 1, "createdAt": "1970-01-01", "from": "2020-01-01", "to": "2019-01-01" }),
        json!({ "type": "giftCard", "code": "g", "initial": eur(1000), "createdAt": "1970-01-01", "validUntil": "1970-01-02", "blocked": true }),
    ]);
    records.extend(past_products().map(|id| {
        json!({ "type": "product", "productId": id, "name": id, "category": "past", "price": eur(100), "listed": false })
    }));
    records.extend([delivered, cancelled, past()]);
    records
}

/// The products of an order of another shop that no new order could be: fees and tips are among them.
fn past_products() -> impl Iterator<Item = String> {
    ["tip", "fee"].map(str::to_owned).into_iter().chain((0..196).map(|at| format!("q{at}")))
}

/// An order of 200 lines, two of them of one product at two prices, with 12.5 % off.
fn past() -> Value {
    let line = |id: &str, quantity: u64, cents: u64| json!({ "productId": id, "name": id, "quantity": quantity, "unitPrice": eur(cents) });
    let mut lines: Vec<_> = past_products().map(|id| line(&id, 1, 100)).collect();
    lines.insert(0, line("p1", 2, 500));
    lines.push(line("p1", 1, 250));
    json!({
        "type": "order", "orderId": "past", "customerId": LONG, "status": "DELIVERED", "placedAt": "2001-01-01",
        "lines": lines, "discount": eur(2631), "codes": [{ "code": "TWELVE-AND-A-HALF", "amount": eur(2631) }],
        "total": eur(21050 - 2631), "card": { "amount": eur(21050 - 2631), "transfer": { "reference": "-", "amount": 21050 - 2631 } },
    })
}

/// Schemathesis imports the file before it sends its requests.
#[test]
fn the_file_of_the_nastiest_history_is_generated() {
    docs_check::check_file("../tests/fixtures/nastiest.ndjson", &file(&history())).expect("it is current");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_nastiest_history_is_read_by_every_route_sold_refunded_and_exported() {
    let shop = Shop::open_counted().await;
    let source = Temporary::with("nasty.ndjson", &file(&history()));
    let (summary, refused) = imported(&shop, &source, &Options::default()).await;
    assert_eq!((summary.new, refused), (history().len() as u64, vec![]));
    shop.settle().await;
    let first = exported(&shop).await;
    assert_valid(&first);
    assert!(first.contains("WELCOME-10") && !first.contains("welcome-10"), "a code has one spelling");

    // Every route that reads by an id, with each id. The client compares each answer with its description.
    let admin = shop.admin();
    let mut read = 0;
    let guest = "guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og";
    for (template, operations) in openapi::document()["paths"].as_object().expect("paths") {
        if operations["get"].is_null() || template.starts_with("/guests/{guestId}/") {
            continue;
        }
        let all = |name: &str| -> Vec<String> {
            match name {
                "{customerId}" => vec![LONG.to_owned(), guest.to_owned()],
                "{guestId}" => vec![guest.to_owned()],
                "{productId}" => products().chain(["tip".to_owned()]).collect(),
                "{orderId}" => vec!["-".to_owned(), LONG.to_owned(), "past".to_owned()],
                "{invoiceId}" => vec!["2019_1".to_owned(), LONG.to_owned(), "inv-past".to_owned()],
                "{code}" if template.starts_with("/gift-cards") => vec!["g".to_owned(), "G".to_owned()],
                "{code}" => vec!["welcome-10".to_owned(), "WELCOME-10".to_owned(), "never".to_owned()],
                other => panic!("no values of {other}"),
            }
        };
        let Some(name) = template.split('/').find(|part| part.starts_with('{')) else { continue };
        for value in all(name) {
            let secret = [("guest-secret", crate::guests::SECRET)];
            let reply = admin.send(Method::GET, &template.replace(name, &value), &secret, None).await;
            assert!([200, 404].contains(&reply.status), "{template} {value}: {}", reply.body);
            read += u32::from(reply.status == 200);
        }
    }
    assert!(read > 100, "{read} answers");
    for list in ["/orders?status=DELIVERED", "/orders?status=CANCELLED", "/products", "/categories", "/flagged-orders"]
    {
        admin.walk(list, 50).await;
    }

    // Sold, returned and refunded.
    let customer = shop.customer(LONG);
    let body =
        json!({ "lines": products().skip(1).map(|id| json!({ "productId": id, "quantity": 1 })).collect::<Vec<_>>() });
    let order = customer.order("k", body).await.expect(201);
    assert_eq!(order["total"], eur(100));
    for (code, kind) in [("welcome-10", Kind::DiscountExhausted), ("never", Kind::DiscountInvalid)] {
        let body = json!({ "lines": [{ "productId": "p1", "quantity": 1 }], "discountCode": code });
        customer.order(code, body).await.problem(kind);
    }
    let of = |what: &str| format!("/orders/-/{what}");
    let units = json!({ "lines": [{ "productId": "p1", "quantity": 2 }] });
    let back = admin.post_once(&of("returns"), "r", units).await.expect(201);
    let receipt = format!("/returns/{}/receipt", back["returnId"].as_str().expect("an id"));
    admin.post(&receipt, json!({ "accepted": true, "restock": true })).await.expect(200);
    let refund = admin.post("/invoices/2019_1/refunds", json!({ "reference": NUMBER })).await.expect(200);
    assert_eq!(refund["payments"].as_array().map(Vec::len), Some(2));
    admin.delete(&of("flag")).await.expect(204);

    let past = json!({ "orderId": "past", "invoice": { "invoiceId": "inv-past" } });
    let seen = admin.read(&past).await;
    let lines = seen["lines"].as_array().expect("lines");
    let twice = lines.iter().find(|line| line["productId"] == "p1").expect("a line");
    assert_eq!((lines.len(), &twice["quantity"], &twice["unitPrice"]), (199, &json!(3), &eur(500)));
    assert_eq!([&seen["discount"], &seen["total"]], [&eur(2631 + 250), &eur(18_419)]);
    for (at, some) in lines.chunks(40).enumerate() {
        let units: Vec<_> =
            some.iter().map(|line| json!({ "productId": line["productId"], "quantity": line["quantity"] })).collect();
        let back = admin.request_return(&past, &format!("part {at}"), json!({ "lines": units })).await.expect(201);
        admin.receive(&back, json!({ "accepted": true, "restock": true })).await.expect(200);
    }
    let refund = admin.confirm_refund(&past, "all of it").await.expect(200);
    assert_eq!(refund["payments"][0]["returned"], eur(18_419), "{refund}");
    shop.settle().await;
    assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
    // The copy is imported with more credits than one transaction counts.
    let other = Shop::open_counted().await;
    copied(&shop, &other).await;
    other.settle().await;
    assert_eq!(breaches(&other, AFTER_EVERY_CHANGE).await, Vec::<String>::new());
}
