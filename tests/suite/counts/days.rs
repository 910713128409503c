//! The days of the totals are those of the shop's zone, also on the two nights of the year.

use local::history::Options;
use shop::reconcile::{FAST, reconciled};
use shop::set_everywhere;

use crate::history::{Temporary, imported};
use crate::invariants::breaches;
use crate::prelude::*;

/// A time by which everything is counted.
const LATER: &str = "2100-01-01";

/// Moments beside each midnight, with the day in Berlin. 30 March has 23 hours, and 26 October 25.
const MOMENTS: [(&str, &str); 8] = [
    ("2025-03-29T22:59:59Z", "2025-03-29"),
    ("2025-03-29T23:00:00Z", "2025-03-30"),
    ("2025-03-30T21:59:59Z", "2025-03-30"),
    ("2025-03-30T22:00:00Z", "2025-03-31"),
    ("2025-10-25T21:59:59Z", "2025-10-25"),
    ("2025-10-25T22:00:00Z", "2025-10-26"),
    ("2025-10-26T22:59:59Z", "2025-10-26"),
    ("2025-10-26T23:00:00Z", "2025-10-27"),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_totals_have_the_days_of_the_shop() {
    let shop = Shop::open_with(|template| {
        let count = template.stream_sources.iter_mut().find(|source| source.function == "CountOrders");
        count.expect("count-orders").enabled = true;
        set_everywhere(template, "TIME_ZONE", "Europe/Berlin");
        reconciled(template, 0, FAST);
    })
    .await;
    shop.sign_up("ada").await;
    shop.product("thing", 1_000, 10).await;
    let orders = (1_u64..).zip(MOMENTS).map(|(number, (placed_at, _))| {
        let total = eur(1_000 * number);
        let paid = json!({ "amount": total, "transfer": { "reference": "bank", "amount": 1_000 * number } });
        let line = json!({ "productId": "thing", "name": "A thing", "quantity": number, "unitPrice": eur(1_000) });
        json!({ "type": "order", "orderId": format!("o-{number}"), "customerId": "ada", "status": "PAID",
            "placedAt": placed_at, "lines": [line], "total": total, "card": paid })
        .to_string()
    });
    let file = Temporary::with("days.ndjson", &orders.collect::<Vec<_>>().join("\n"));
    assert_eq!(imported(&shop, &file, &Options::default()).await.1, vec![]);
    shop.settle().await;

    let admin = shop.admin();
    let revenue = async || {
        let mut of_days = BTreeMap::new();
        for range in ["from=2025-03-01&to=2025-04-30", "from=2025-10-01&to=2025-11-30"] {
            for totals in admin.get(&format!("/totals?{range}")).await.expect(200)["items"].as_array().expect("days") {
                let cents: u64 =
                    totals["revenue"].as_array().expect("sums").iter().filter_map(|sum| sum["amount"].as_u64()).sum();
                of_days.insert(totals["date"].as_str().expect("a day").to_owned(), cents);
            }
        }
        of_days.retain(|_, cents| *cents > 0);
        of_days
    };
    let expected = |without: usize| {
        let mut of_days = BTreeMap::new();
        for (at, (_, day)) in MOMENTS.into_iter().enumerate().filter(|(at, _)| *at != without) {
            *of_days.entry(day.to_owned()).or_default() += 1_000 * (at as u64 + 1);
        }
        of_days
    };
    assert_eq!(revenue().await, expected(MOMENTS.len()));

    // A change counts in the day of the order.
    let cancelled = json!({ "orderId": "o-6" });
    admin.cancel(&cancelled, json!({})).await.expect(200);
    shop.settle().await;
    assert_eq!(revenue().await, expected(5));

    let days = json!({ "from": "2025-10-20", "to": "2025-11-01" });
    let answer = shop.reconciler()(days).await.expect("an answer");
    assert_eq!((&answer["drifted"], &answer["done"]), (&json!(0), &json!(true)), "{answer}");
    assert_eq!(breaches(&shop, LATER).await, Vec::<String>::new());
}
