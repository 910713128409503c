//! The invariants that hold for every shop whenever no request is in progress.

use lambda::Environment;
use local::audit::audit;

use crate::prelude::*;

fn text(item: &Value, name: &str) -> String {
    item[name]["S"].as_str().unwrap_or_else(|| panic!("no {name} in {item}")).to_owned()
}

fn number(value: &Value) -> i64 {
    value["N"].as_str().unwrap_or_else(|| panic!("no number: {value}")).parse().expect("a whole number")
}

/// Asserts that an audit finds no breach, and that units are conserved. For shops without stock adjustments and without
/// consumers of the stream that write.
pub async fn hold(shop: &Shop) {
    assert_eq!(complaints(shop).await, Vec::<String>::new());
}

/// The breaches that an audit finds, and the products whose units are not conserved.
pub async fn complaints(shop: &Shop) -> Vec<String> {
    let mut complaints = breaches(shop, BEFORE_EVERY_CHANGE).await;
    complaints.extend(not_conserved(&shop.dump().await, &BTreeMap::new()));
    complaints
}

/// The products of a table whose units are not conserved. `adjusted` has the units that were added to a stock.
pub fn not_conserved(dump: &[Value], adjusted: &BTreeMap<String, i64>) -> Vec<String> {
    let mut complaints = Vec::new();
    let of = |kind: &'static str| dump.iter().filter(move |item| item["EntityType"]["S"] == kind);
    let cancelled: BTreeSet<_> =
        of("order").filter(|order| text(order, "status") == "CANCELLED").map(|order| text(order, "orderId")).collect();
    let mut sold: BTreeMap<String, i64> = BTreeMap::new();
    for line in of("orderItem").filter(|line| !cancelled.contains(&text(line, "orderId"))) {
        *sold.entry(text(line, "productId")).or_default() += number(&line["quantity"]);
    }
    // Credited units are back in stock, except those of returns that cannot be sold again.
    for order in of("order").filter(|order| !cancelled.contains(&text(order, "orderId"))) {
        for credit in order["credits"]["L"].as_array().into_iter().flatten() {
            *sold.entry(text(&credit["M"], "productId")).or_default() -= number(&credit["M"]["units"]);
        }
    }
    let is_lost = |one: &&Value| text(one, "status") == "received" && one["restocked"]["BOOL"] != true;
    for lost in of("return").filter(is_lost) {
        for line in lost["lines"]["L"].as_array().into_iter().flatten() {
            *sold.entry(text(&line["M"], "productId")).or_default() += number(&line["M"]["quantity"]);
        }
    }
    for product in of("product") {
        let id = text(product, "productId");
        let cells = of("stock").chain(of("stockCell")).filter(|cell| text(cell, "productId") == id);
        let available: i64 = cells.map(|cell| number(&cell["available"])).sum();
        let units = sold.get(&id).copied().unwrap_or_default();
        let supplied = number(&product["initialStock"]) + adjusted.get(&id).copied().unwrap_or_default();
        if available + units != supplied {
            complaints
                .push(format!("{id}: {units} units sold and {available} in stock are not the {supplied} supplied"));
        }
    }
    complaints
}

/// A horizon before every change, so that no change has to be counted.
pub const BEFORE_EVERY_CHANGE: &str = "0000-01-01";

/// The breaches that an audit finds if changes before `counted_until` must be counted.
pub async fn breaches(shop: &Shop, counted_until: &str) -> Vec<String> {
    let table = [("TABLE_NAME".to_owned(), shop.table().to_owned())];
    breaches_of(&shop.operator().with(table), counted_until).await
}

/// The same, of the table of this environment.
pub async fn breaches_of(environment: &Environment, counted_until: &str) -> Vec<String> {
    let horizon = counted_until.parse().expect("a moment");
    let report = audit(environment, horizon, |_| ()).await.expect("the table can be read");
    report.breaches.iter().map(ToString::to_string).collect()
}
