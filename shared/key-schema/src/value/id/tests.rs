//! Laws of ids.

#![allow(clippy::expect_used, reason = "tests")]

use super::*;
use proptest::prelude::*;

#[test]
fn an_id_with_characters_that_keys_do_not_allow_is_refused() {
    for text in ["", "a#b", "a b", "é", "a\n", &"x".repeat(65)] {
        assert!(text.parse::<CustomerId>().is_err(), "{text:?}");
    }
    assert!("x".repeat(64).parse::<CustomerId>().is_ok());
}

#[test]
fn the_derivation_of_order_ids_never_changes() {
    let customer: CustomerId = "ada".parse().expect("an id");
    let key: IdempotencyKey = "first".parse().expect("a key");
    assert_eq!(OrderId::of(&customer, &key).as_str(), "cfd2ee81-ea09-51ba-9720-b8382bcdedb5");
}

#[test]
fn a_mark_is_of_one_visitor_one_product_and_one_day_and_tells_none_of_them() {
    let visitor = |text: &str| VisitorId::try_from(text.to_owned());
    let mark = |day: &str, product: &str, text: &str| {
        let (day, product) = (day.parse().expect("a day"), product.parse().expect("an id"));
        ViewMarkId::of(day, &product, &visitor(text).expect("a visitor"))
    };
    let first = mark("2026-11-21", "cup", "0123456789abcdef");
    assert_eq!(first.as_str(), "xGL-EwVmlhQ6mCFpq5g-DlPc48kiK7VYZ0KIFaqZzAI");
    assert_eq!(first.as_str().parse(), Ok(first.clone()));
    assert_ne!(mark("2026-11-22", "cup", "0123456789abcdef"), first);
    assert_ne!(mark("2026-11-21", "pot", "0123456789abcdef"), first);
    assert_ne!(mark("2026-11-21", "cup", "0123456789abcdeg"), first);
    for text in ["", "0123456789abcde", "0123456789abcde#", &"x".repeat(65)] {
        assert!(visitor(text).is_err(), "{text}");
    }
    assert_eq!(format!("{:?}", visitor("0123456789abcdef").expect("a visitor")), "VisitorId");
}

#[test]
fn an_invoice_id_contains_its_orders_id_unless_it_was_imported() {
    let order: OrderId = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5".parse().expect("an id");
    let invoice = InvoiceId::of(&order);
    assert_eq!(invoice.as_str(), "inv-cfd2ee81-ea09-51ba-9720-b8382bcdedb5");
    assert_eq!(invoice.as_str().parse::<InvoiceId>().expect("an id").order(), Some(order));
    for other in ["b4dd6961-3f4a-5a57-bfa4-8b4f881e2819", "inv-", "inv"] {
        assert_eq!(other.parse::<InvoiceId>().expect("an id").order(), None);
    }
}

#[test]
fn a_return_id_contains_its_orders_id_and_fits_a_path() {
    let order: OrderId = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5".parse().expect("an id");
    let [first, second] = ["first", "second"].map(|key| ReturnId::of(&order, &key.parse().expect("a key")));
    assert_eq!(first.as_str(), "ret-cfd2ee81-ea09-51ba-9720-b8382bcdedb5-a7937b64b8caa58f");
    assert_ne!(first, second);
    assert_eq!(first.as_str().parse::<ReturnId>().expect("an id").order(), Some(order));
    for other in ["ret-", "ret-a", "inv-a-b", "a"] {
        assert_eq!(other.parse::<ReturnId>().expect("an id").order(), None, "{other}");
    }
}

#[test]
fn a_shipment_id_contains_its_orders_id_and_fits_a_path() {
    let order: OrderId = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5".parse().expect("an id");
    let id = ShipmentId::of(&order, &"first".parse().expect("a key"));
    assert_eq!(id.as_str(), "shp-cfd2ee81-ea09-51ba-9720-b8382bcdedb5-a7937b64b8caa58f");
    assert_eq!(id.as_str().parse::<ShipmentId>().expect("an id").order(), Some(order));
    assert_eq!("ret-a-b".parse::<ShipmentId>().expect("an id").order(), None);
}

proptest! {
    #[test]
    fn different_requests_make_different_orders(
        a in "[A-Za-z0-9_-]{1,8}", b in "[A-Za-z0-9_-]{1,8}", x in "[ -~]{1,8}", y in "[ -~]{1,8}",
    ) {
        let order = |customer: &str, key: &str| OrderId::of(&customer.parse().expect("an id"), &key.parse().expect("a key"));
        prop_assert_eq!(order(&a, &x) == order(&b, &y), (a, x) == (b, y));
    }
}

#[test]
fn an_order_keeps_its_shard_and_orders_are_spread_evenly() {
    let order: OrderId = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5".parse().expect("an id");
    assert_eq!([0, 1, 8, 64].map(|shards| order.spread(shards)), [0, 0, 5, 13]);
    let ada: CustomerId = "ada".parse().expect("an id");
    let mut counts = [0; 8];
    for key in 0..8_000 {
        let order = OrderId::of(&ada, &key.to_string().parse().expect("a key"));
        counts[usize::from(order.spread(8))] += 1;
    }
    assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
}

#[test]
fn every_new_product_has_a_different_id() {
    assert_ne!(ProductId::random(), ProductId::random());
    assert!(ProductId::random().as_str().parse::<ProductId>().is_ok());
}

#[test]
fn an_image_id_is_random_and_contains_its_time() {
    let now = Timestamp::now();
    let [one, other] = [(); 2].map(|()| ImageId::random(now));
    assert_ne!(one, other);
    assert_eq!((one.made_at(), other.made_at()), (Some(now), Some(now)));
    assert_eq!(one.as_str().parse::<ImageId>(), Ok(one));
    for other in ["a", "cfd2ee81-ea09-51ba-9720-b8382bcdedb5"] {
        assert_eq!(other.parse::<ImageId>().expect("an id").made_at(), None, "{other}");
    }
}

#[test]
fn the_derivation_of_idempotency_records_never_changes() {
    let (caller, key) = ("ada".parse().expect("an id"), "first".parse().expect("a key"));
    assert_eq!(IdempotencyRecordId::of(&caller, &key).as_str(), "6d969e68-77be-588c-8366-ded6b7e49a91");
}
