//! What holds of every shop at every moment when nothing is under way, whatever has happened before.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::shop::Shop;

fn text(item: &Value, name: &str) -> String {
    item[name]["S"].as_str().unwrap_or_else(|| panic!("no {name} in {item}")).to_owned()
}

fn number(value: &Value) -> i64 {
    value["N"].as_str().unwrap_or_else(|| panic!("no number: {value}")).parse().expect("a whole number")
}

fn amount(item: &Value, name: &str) -> i64 {
    number(&item[name]["M"]["amount"])
}

/// Money, units and uses are conserved; and each profile has its two claims, and each claim its profile. For shops
/// in which nobody adjusts the stock.
pub async fn hold(shop: &Shop) {
    let dump = shop.dump().await;
    let of = |kind: &'static str| dump.iter().filter(move |item| item["EntityType"]["S"] == kind);
    let orders: BTreeMap<String, &Value> = of("order").map(|order| (text(order, "orderId"), order)).collect();
    let is_cancelled = |order: &str| text(orders[order], "status") == "CANCELLED";

    // Units.
    let mut sold: BTreeMap<String, i64> = BTreeMap::new();
    let mut lines: BTreeMap<String, i64> = BTreeMap::new();
    for line in of("orderItem") {
        let order = text(line, "orderId");
        if !is_cancelled(&order) {
            *sold.entry(text(line, "productId")).or_default() += number(&line["quantity"]);
        }
        *lines.entry(order).or_default() += amount(line, "amount");
    }
    for product in of("product") {
        let id = text(product, "productId");
        let stock = of("stock").find(|stock| text(stock, "productId") == id).expect("every product has its stock");
        assert_eq!(stock["price"], product["price"], "{id}: the copy of the price");
        let supplied = number(&product["initialStock"]);
        let units = sold.get(&id).copied().unwrap_or_default();
        assert!(number(&stock["available"]) >= 0);
        assert_eq!(number(&stock["available"]) + units, supplied, "{id}: units sold and in stock are those supplied");
    }

    // Gift cards.
    for card in of("giftCard") {
        let code = text(card, "code");
        let entries = of("giftCardEntry").filter(|entry| text(entry, "code") == code);
        let mut spent = 0;
        for entry in entries {
            let captured = text(entry, "status") == "captured";
            assert_eq!(captured, !is_cancelled(&text(entry, "orderId")), "{entry}");
            spent += if captured { amount(entry, "amount") } else { 0 };
        }
        assert_eq!(amount(card, "balance") + spent, amount(card, "initial"), "{code}: balance and entries");
    }

    // Discount codes.
    for discount in of("discount") {
        let code = text(discount, "code");
        let uses = orders.iter().filter(|(id, order)| order["discountCode"]["S"] == code && !is_cancelled(id)).count();
        assert_eq!(number(&discount["uses"]), i64::try_from(uses).expect("few"), "{code}: uses");
        if discount["maxUses"].is_object() {
            assert!(number(&discount["uses"]) <= number(&discount["maxUses"]));
        }
    }

    // Orders and their payments.
    assert_eq!(of("invoice").count(), orders.len());
    for invoice in of("invoice") {
        let order = orders[&text(invoice, "orderId")];
        let status = text(order, "status");
        assert_eq!(amount(order, "subtotal"), lines[&text(order, "orderId")]);
        assert_eq!(amount(order, "total"), amount(order, "subtotal") - amount(order, "discount"));
        let payments = invoice["payments"]["L"].as_array().expect("payments");
        let paid: i64 = payments.iter().map(|payment| amount(&payment["M"], "amount")).sum();
        assert_eq!(paid, amount(order, "total"), "payments are the total");
        for payment in payments {
            let expected = match (status.as_str(), text(&payment["M"], "type").as_str()) {
                ("CANCELLED", _) => "refunded",
                ("PENDING", "card") => "authorized",
                _ => "captured",
            };
            assert_eq!(text(&payment["M"], "status"), expected, "{status}: {payment}");
        }
    }

    claims_hold(&dump);
}

/// Each profile has its two claims, and each claim its profile.
pub fn claims_hold(dump: &[Value]) {
    let of = |kind: &'static str| dump.iter().filter(move |item| item["EntityType"]["S"] == kind);
    let mut owed: Vec<(String, String)> = Vec::new();
    for customer in of("customer") {
        let id = text(customer, "customerId");
        owed.push((format!("email#{}", text(customer, "email").to_lowercase()), id.clone()));
        owed.push((format!("username#{}", text(customer, "username").to_lowercase()), id));
    }
    let claims = of("emailClaim").chain(of("usernameClaim"));
    let mut held: Vec<_> = claims.map(|claim| (text(claim, "PK"), text(claim, "customerId"))).collect();
    owed.sort();
    held.sort();
    assert_eq!(owed, held, "the claims are those of the profiles");
}
