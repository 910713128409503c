//! What a comparison of counts with orders reads is what `cargo local cost` says that it reads.

use local::cost::comparison::Comparison;
use local::cost::deployment::Deployment;
use local::cost::prices::{PriceList, SHIPPED};
use local::cost::profile::{EXAMPLE, Profile};
use serde_json::{Value, json};

use crate::completeness::read;
use crate::reconcile::{FAST, count, read_units};
use crate::shop::Shop;
use crate::shop_reconcile::reconciled;
use crate::shop_stream::Tail;

/// More than one page of a list.
const ORDERS: u32 = 40;

/// The read units of a shop's orders in one comparison, one customer having ordered the same two products each time,
/// all of it within the last days.
fn estimated() -> f64 {
    let mut profile = Profile::parse(EXAMPLE).expect("a profile");
    let deployment = Deployment::read(&read("template.yaml"), &read("operations.yaml"), &profile.parameters);
    let (deployment, prices) = (deployment.expect("a deployment"), PriceList::parse(SHIPPED).expect("prices"));
    (profile.kept.customers, profile.kept.products) = (1.into(), 2.into());
    // Of months that hold a tenth as much as is placed in one: all orders are recent.
    profile.kept.order_months = "0.1".parse().expect("a number");
    let mut units = |orders: u32| {
        profile.orders = orders.into();
        let comparison = Comparison::of(&profile, &deployment, prices.month).expect("a comparison");
        f64::try_from(comparison.units.read()).expect("a number")
    };
    units(ORDERS * 10) - units(0)
}

/// The read units of one comparison.
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
async fn a_comparison_reads_what_the_bill_says_and_less_of_orders_that_are_delivered() {
    let shop = Shop::open_with(|template| reconciled(template, 0, FAST)).await;
    // Ids as long as those of the profile.
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
    // The customer's walk and those of both products look at no header once more.
    let spared = read - (compared(&shop).await - nothing);
    assert!((spared - 3.0 * f64::from(ORDERS)).abs() < 5.0, "{spared}");
}
