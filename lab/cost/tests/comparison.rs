//! A comparison of counts with orders reads what `cargo cost` estimates.
#![allow(clippy::expect_used, reason = "tests fail by panicking")]

use cost::comparison::Comparison;
use cost::deployment::Deployment;
use cost::prices::{PriceList, SHIPPED};
use cost::profile::{EXAMPLE, Profile};
use serde_json::{Value, json};
use shop::Shop;
use shop::reconcile::{FAST, count, read_units, reconciled};
use shop::stream::Tail;

/// More than one page of a list.
const ORDERS: u32 = 40;

/// The estimated read units of one comparison, for one customer who ordered the same two products each time, within the
/// last days.
fn estimated() -> f64 {
    let mut profile = Profile::parse(EXAMPLE).expect("a profile");
    let deployment = Deployment::read(&profile.parameters);
    let (deployment, prices) = (deployment.expect("a deployment"), PriceList::parse(SHIPPED).expect("prices"));
    (profile.kept.customers, profile.kept.products) = (1.into(), 2.into());
    // All orders are recent.
    profile.kept.order_months = "0.1".parse().expect("a number");
    let mut units = |orders: u32| {
        profile.orders = orders.into();
        let comparison = Comparison::of(&profile, &deployment, prices.month).expect("a comparison");
        f64::try_from(comparison.units.read()).expect("a number")
    };
    units(ORDERS * 10) - units(0)
}

/// The measured read units of one comparison.
async fn compared(shop: &Shop) -> f64 {
    shop.fault_proxy().take_calls();
    let answer = shop.reconcile(false).await;
    assert_eq!((&answer["drifted"], &answer["unsettled"]), (&json!(0), &json!(0)), "{answer}");
    read_units(&shop.fault_proxy().take_calls())
}

async fn deliver(shop: &Shop, order: &Value) {
    let admin = shop.admin();
    let [invoice, order] = [&order["invoice"]["invoiceId"], &order["orderId"]].map(|id| id.as_str().expect("an id"));
    admin.post(&format!("/invoices/{invoice}/payments"), json!({ "reference": "r" })).await.expect(200);
    for status in ["SHIPPED", "DELIVERED"] {
        admin.post(&format!("/orders/{order}/status"), json!({ "status": status })).await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_comparison_reads_as_much_as_estimated_and_less_for_delivered_orders() {
    let shop = Shop::open_with(|template| reconciled(template, 0, FAST)).await;
    // Ids of the same length as the profile's.
    let (customer, products) = ("a".repeat(36), ["c", "p"].map(|id| id.repeat(36)));
    shop.sign_up(&customer).await;
    for product in &products {
        shop.product(product, 100, 1000).await;
    }
    let nothing = compared(&shop).await;

    let lines = json!(products.map(|product| json!({ "productId": product, "quantity": 1 })));
    let mut orders = Vec::new();
    for key in 0..ORDERS {
        let body = json!({ "lines": lines });
        orders.push(shop.customer(&customer).order(&format!("k{key}"), body).await.expect(201));
    }
    let mut tail = Tail::default();
    count(&shop, &mut tail, "shardId-0").await;
    let (read, estimated) = (compared(&shop).await - nothing, estimated());
    assert!((read / estimated - 1.0).abs() < 0.05, "{read} units were read, and {estimated} are on the bill");

    for order in &orders {
        deliver(&shop, order).await;
    }
    count(&shop, &mut tail, "shardId-0").await;
    // For delivered orders, the walks of the customer and of both products read no header again.
    let spared = read - (compared(&shop).await - nothing);
    assert!((spared - 3.0 * f64::from(ORDERS)).abs() < 5.0, "{spared}");
}
