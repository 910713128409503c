//! Lines that cannot be imported: each is refused with its reason, and nothing of it is written.

use local::history::Options;

use super::{Temporary, imported};
use crate::invariants::{BEFORE_EVERY_CHANGE, breaches};
use crate::prelude::*;

fn base() -> Vec<Value> {
    vec![
        json!({ "type": "customer", "customerId": "ada", "username": "ada", "email": "ada@example.com", "name": "Ada",
            "createdAt": "2019-01-01" }),
        json!({ "type": "product", "productId": "tea", "name": "Tea", "category": "drinks", "price": eur(500), "available": 7 }),
        json!({ "type": "giftCard", "code": "GIFT-2019-ABCD", "initial": eur(100), "createdAt": "2019-01-01" }),
        json!({ "type": "discount", "code": "ONCE", "percent": 10, "maxUses": 0, "createdAt": "2019-01-01" }),
    ]
}

fn order(more: impl Into<Value>) -> Value {
    let more = more.into();
    let mut order = json!({
        "type": "order", "orderId": "o-1", "customerId": "ada", "status": "DELIVERED", "placedAt": "2019-05-01",
        "lines": [{ "productId": "tea", "name": "Tea", "quantity": 2, "unitPrice": eur(450) }], "total": eur(900),
        "card": { "amount": eur(900), "transfer": { "reference": "bank-1", "amount": 900 } },
    });
    order.as_object_mut().expect("an order").extend(more.as_object().expect("more").clone());
    order.as_object_mut().expect("an order").retain(|_, value| !value.is_null());
    order
}

/// What is wrong in an order, each with a part of the reason.
fn wrong_orders() -> Vec<(Value, &'static str)> {
    let card = |more: Value| {
        let mut card = json!({ "amount": eur(900), "transfer": { "reference": "bank-1", "amount": 900 } });
        card.as_object_mut().expect("a card").extend(more.as_object().expect("more").clone());
        json!({ "card": card })
    };
    let dollars = json!({ "amount": 450, "currency": "USD" });
    let of = |id: &str, more: Value| {
        let mut line = json!({ "productId": id, "name": "Tea", "quantity": 1, "unitPrice": eur(450) });
        line.as_object_mut().expect("a line").extend(more.as_object().expect("more").clone());
        line
    };
    let lines = |count: usize| -> Value { (0..count).map(|at| of(&format!("p{at}"), json!({}))).collect() };
    let twice = |more: Value| json!({ "lines": [of("tea", json!({})), of("tea", more)] });
    let tax = json!({ "tax": { "rate": 1900, "amount": eur(72) } });
    let line = |more: Value| {
        let mut line = of("tea", json!({ "quantity": 2 }));
        line.as_object_mut().expect("a line").extend(more.as_object().expect("more").clone());
        json!({ "lines": [line] })
    };
    let ship_to = |more: Value| {
        let mut address =
            json!({ "name": "Ada", "line1": "Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE" });
        address.as_object_mut().expect("an address").extend(more.as_object().expect("more").clone());
        json!({ "shipTo": address })
    };
    let shipped = |page: Value| {
        json!({ "shipments": [{ "shipmentId": "shp-o-1-1", "lines": [{ "productId": "tea", "quantity": 2 }],
            "carrier": "DHL", "trackingUrl": page, "shippedAt": "2019-05-02", "deliveredAt": "2019-05-03" }] })
    };
    let returned = json!([{ "returnId": "ret-o-1-1", "lines": [{ "productId": "tea", "quantity": 2 }],
        "requestedAt": "2019-05-05", "status": "requested" }]);
    vec![
        (json!({ "customerId": "eve" }), "there is no customer eve"),
        (line(json!({ "productId": "pot" })), "there is no product pot"),
        (json!({ "total": eur(901) }), "subtotal less discount plus shipping and tax"),
        (card(json!({ "amount": eur(899) })), "its amounts must be 0 to 899"),
        (json!({ "card": null }), "the payments: 0"),
        (card(json!({ "transfer": null })), "a payment of 900 EUR (minor units) is Pending, the order DELIVERED"),
        (card(json!({ "writtenOff": -1 })), "its amounts must be 0 to 900"),
        (card(json!({ "refrence": "a typo" })), "unknown field `refrence`"),
        (json!({ "colour": "red" }), "unknown field `colour`"),
        (json!({ "orderId": "o#1" }), "orderId must be"),
        (json!({ "placedAt": "2019-13-01" }), "a time must look like"),
        (json!({ "placedAt": "2999-01-01" }), "is in the future"),
        (json!({ "deliveredAt": "2018-01-01" }), "deliveredAt: 2018-01-01T00:00:00.000Z is before placedAt"),
        (line(json!({ "unitPrice": { "amount": 450, "currency": "euro" } })), "currency must be three capital letters"),
        (line(json!({ "unitPrice": dollars })), "the total is"),
        (line(json!({ "quantity": 0 })), "quantity"),
        (json!({ "lines": [] }), "lines: 0, must be 1 to 200 of an order that is DELIVERED"),
        (json!({ "lines": lines(201) }), "lines: 201, must be 1 to 200"),
        (json!({ "lines": lines(41), "status": "PAID" }), "lines: 41, must be 1 to 40 of an order that is PAID"),
        (twice(json!({ "unitPrice": dollars })), "lines: tea: 450 USD (minor units), the total is 900 EUR"),
        (twice(json!({ "discount": dollars })), "lines: tea: 450 USD (minor units), the total is 900 EUR"),
        (json!({ "shippingTax": { "rate": 1900, "amount": dollars } }), "shippingTax: 450 USD"),
        (twice(tax), "tea is in two lines of different tax rates: give one of them a productId of its own"),
        (twice(json!({ "quantity": 10_000 })), "tea: quantity must be"),
        (twice(json!({ "unitPrice": eur(451) })), "subtotal less discount plus shipping and tax: 901"),
        (json!({ "status": "CANCELLED" }), "cancellation: the order is CANCELLED"),
        (json!({ "cancellation": { "at": "2019-06-01" } }), "cancellation: the order is DELIVERED"),
        (json!({ "credits": [{ "productId": "tea", "quantity": 3 }] }), "credits: 3 tea, of 2"),
        (json!({ "returns": returned, "status": "SHIPPED" }), "returns: the order is SHIPPED"),
        (
            json!({ "returns": [{ "returnId": "ret-o-2-1", "lines": [], "requestedAt": "2019-05-05", "status": "requested" }] }),
            "does not begin with ret- and the order's id",
        ),
        (json!({ "invoiceId": "inv-o-2" }), "invoice of another order"),
        (json!({ "card": null, "giftCards": [{ "code": "GIFT-2019-ABCD", "amount": eur(900) }] }), "has less than 900"),
        (json!({ "card": null, "giftCards": [{ "code": "NO-SUCH-CARD", "amount": eur(900) }] }), "is not there"),
        (json!({ "codes": [{ "code": "ONCE", "amount": eur(0) }] }), "ONCE has no uses left"),
        (json!({ "status": "PENDING", "card": { "amount": eur(900) } }), "it is PENDING"),
        (
            json!({ "card": { "amount": eur(900), "provider": { "intent": "pi_1", "attempt": 1,
            "captureRequested": true, "progress": "authorized" } } }),
            "not finished at the provider",
        ),
        (line(json!({ "name": "two\nlines" })), "lines[0].name: must be 1 to 200 visible characters"),
        (ship_to(json!({ "country": "UK" })), "shipTo.country: country must be a code of ISO 3166-1"),
        (ship_to(json!({ "country": "Deutschland" })), "shipTo.country: country must be a code of ISO 3166-1"),
        (ship_to(json!({ "line1": "" })), "shipTo.line1: must be 1 to 100 visible characters"),
        (ship_to(json!({ "city": "Ber\u{202e}lin" })), "shipTo.city: must be 1 to 100 visible characters"),
        (ship_to(json!({ "postalCode": "1".repeat(50) })), "shipTo: postalCode must be at most 12"),
        (json!({ "orderId": "4242424242424242" }), "orderId: looks like a payment card number"),
        (line(json!({ "productId": "4242-4242-4242-4242" })), "lines[0].productId: looks like a payment card number"),
        (shipped(json!("https://")), "shipments[0].trackingUrl: must be the address of a web page"),
        (json!({ "requestHash": "short" }), "requestHash"),
        (json!({ "version": 0 }), "version"),
    ]
}

/// What is wrong with the codes of an order, or with what they took off its lines.
fn wrong_codes() -> Vec<(Value, &'static str)> {
    let line = |off: Value| json!({ "lines": [{ "productId": "tea", "name": "Tea", "quantity": 2, "unitPrice": eur(450), "discount": off }] });
    let codes = |code: &str, amount: Value| json!({ "codes": [{ "code": "ONCE", "amount": eur(0) }, { "code": code, "amount": amount }] });
    let dollars = json!({ "amount": 1, "currency": "USD" });
    vec![
        (codes("ONCE", eur(0)), "codes: ONCE is there twice"),
        (codes("TEN", eur(1)), "its codes take off"),
        (codes("TEN", dollars.clone()), "the total is 900"),
        (line(eur(1)), "the discounts of the lines"),
        (line(dollars), "lines: tea: 1 USD"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_order_is_refused_with_its_reason_and_nothing_of_it_is_written() {
    let shop = Shop::open().await;
    let wrong = wrong_orders().into_iter().chain(wrong_codes());
    let wrong: Vec<_> = wrong.map(|(more, reason)| (order(more), reason)).collect();
    let base = base();
    let lines: String = base
        .iter()
        .chain(wrong.iter().map(|(order, _)| order))
        .enumerate()
        .map(|(at, line)| {
            let mut line = line.clone();
            // Each has an id of its own, unless the id is what is wrong.
            let text = if line["orderId"] == "o-1" && line["invoiceId"].is_null() {
                line["orderId"] = json!(format!("o-{at}"));
                line.to_string().replace("ret-o-1-", &format!("ret-o-{at}-"))
            } else {
                line.to_string()
            };
            text + "\n"
        })
        .collect();
    let source = Temporary::with("wrong.ndjson", &lines);
    for options in [Options { check: true, ..Options::default() }, Options::default()] {
        let (summary, refused) = imported(&shop, &source, &options).await;
        assert_eq!((summary.new, summary.refused), (base.len() as u64, wrong.len() as u64), "{refused:#?}");
        for ((at, (order, expected)), (line, reason)) in wrong.iter().enumerate().zip(&refused) {
            assert_eq!(*line, (base.len() + at + 1) as u64);
            assert!(reason.contains(expected), "{reason:?} does not say {expected:?}: {order:#}");
        }
    }
    let kinds = |item: &Value| item["EntityType"]["S"].as_str().expect("a type").to_owned();
    let mut kinds: Vec<_> = shop.dump().await.iter().map(kinds).collect();
    kinds.sort();
    let expected =
        ["categoryCount", "customer", "discount", "emailClaim", "giftCard", "product", "stock", "usernameClaim"];
    assert_eq!(kinds, expected);
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

/// The order takes a number only if it is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_order_leaves_no_gap_in_the_numbers_of_invoices() {
    let shop = Shop::open().await;
    let card = json!([{ "code": "GIFT-2019-ABCD", "amount": eur(900) }]);
    let numbered = |id: &str, number: &str, more: Value| {
        let mut order = order(more);
        (order["orderId"], order["invoiceNumber"]) = (json!(id), json!(number));
        order
    };
    let too_dear = numbered("o-2", "S-1000", json!({ "card": null, "giftCards": card }));
    let lines =
        base().into_iter().chain([too_dear, numbered("o-3", "S-7", json!({})), numbered("o-4", "S-5", json!({}))]);
    let source = Temporary::with("numbers.ndjson", &super::file(&lines.collect::<Vec<_>>()));
    let (summary, refused) = imported(&shop, &source, &Options::default()).await;
    assert_eq!((summary.new, refused.len(), refused[0].0), (6, 1, 5), "{refused:#?}");
    let counters = shop.dump().await.into_iter().filter(|item| item["EntityType"]["S"] == "invoiceCounter");
    let counters: Vec<_> = counters.map(|item| item["last"]["N"].clone()).collect();
    assert_eq!(counters, [json!("7")]);
    assert_eq!(breaches(&shop, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_there_twice_or_belongs_to_another_is_refused() {
    let shop = Shop::open().await;
    shop.sign_up("bob").await;
    shop.sign_up("cid").await;
    shop.product("cup", 100, 1).await;
    let customer = |id: &str, name: &str, email: &str| json!({ "type": "customer", "customerId": id, "username": name, "email": email, "name": "A", "createdAt": "2019-01-01" });
    let lines = [
        customer("ada", "ada", "ada@example.com"),
        customer("ada", "ada2", "ada2@example.com"),
        customer("eve", "eve", "ADA@example.com"),
        customer("eva", "ADA", "eva@example.com"),
        customer("rob", "rob", "Cid@example.com"),
        customer("bob", "bob", "bob@example.com"),
        customer("ann", "ann", "ann@example.com\u{7}"),
        customer("amy", "amy", "amy@example.com")
            .as_object()
            .map(|it| {
                let mut it = it.clone();
                it["name"] = json!(" ");
                Value::Object(it)
            })
            .expect("a customer"),
        json!({ "type": "product", "productId": "cup", "name": "Cup", "category": "things", "price": eur(200) }),
        json!({ "type": "parcel" }),
        json!("no record"),
        order(json!({ "lines": [{ "productId": "cup", "name": "Cup", "quantity": 2, "unitPrice": eur(450) }],
            "invoiceId": "2019-1" })),
        order(json!({ "lines": [{ "productId": "cup", "name": "Cup", "quantity": 2, "unitPrice": eur(450) }] })),
        order(json!({ "lines": [{ "productId": "cup", "name": "Cup", "quantity": 2, "unitPrice": eur(450) }],
            "orderId": "o-2", "invoiceId": "2019-1" })),
    ];
    let source = Temporary::with("twice-there.ndjson", &super::file(&lines));
    let (summary, refused) = imported(&shop, &source, &Options::default()).await;
    assert_eq!((summary.new, summary.same), (2, 0), "{refused:#?}");
    for ((line, reason), (expected, what)) in refused.iter().zip([
        (2, "customer ada is also in"),
        (3, "email#ada@example.com is also in"),
        (4, "username#ada is also in"),
        (5, "email: cid@example.com belongs to another customer"),
        (6, "it exists with other content"),
        (7, "must be an address"),
        (8, "name: must be 1 to 200 visible characters"),
        (9, "it exists with other content"),
        (10, "type: must be one of customer, guest"),
        (11, "body: must be an object"),
        (13, "order o-1 is also in"),
        (14, "invoice 2019-1 is also in"),
    ]) {
        assert!(*line == expected && reason.contains(what), "{line}: {reason}, expected {expected}: {what}");
    }
    assert_eq!(refused.len(), 12);

    // The same order with other content, and an invoice of an order in the table.
    let lines = [
        order(json!({ "lines": [{ "productId": "cup", "name": "Mug", "quantity": 2, "unitPrice": eur(450) }],
            "invoiceId": "2019-1" })),
        order(json!({ "lines": [{ "productId": "cup", "name": "Cup", "quantity": 2, "unitPrice": eur(450) }],
            "orderId": "o-2", "invoiceId": "2019-1" })),
    ];
    for (line, reason) in lines.iter().zip(["it exists with other content", "2019-1 belongs to another order"]) {
        let source = Temporary::with("other.ndjson", &line.to_string());
        let (_, refused) = imported(&shop, &source, &Options::default()).await;
        assert!(refused.len() == 1 && refused[0].1.contains(reason), "{refused:?}");
    }
}
