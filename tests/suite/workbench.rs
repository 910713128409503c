//! Data models of NoSQL Workbench: Till's own come back exactly, and those of others as far as they go.

use std::path::Path;

use local::history::{Amounts, Finding, Options, Outcome, Placement, Summary, export_model, import_model};

use crate::history::{Temporary, environment, exported};
use crate::prelude::*;

const EUROS: &str = "EUR";

/// What an import of a model says: its totals, the findings, and the refused records with their reasons.
struct Imported {
    summary: Summary,
    findings: Vec<String>,
    refused: Vec<(u64, String)>,
}

async fn imported(shop: &Shop, file: &Path, options: &Options) -> Imported {
    let amounts = Amounts { currency: EUROS.to_owned().try_into().expect("a currency"), decimals: 2 };
    let (mut findings, mut refused) = (Vec::new(), Vec::new());
    let note = |finding: &Finding| {
        findings.push(finding.to_string());
        Ok(())
    };
    let tell = |outcome: &Outcome| {
        if let Placement::Refused(reason) = &outcome.result {
            refused.push((outcome.line, reason.clone()));
        }
        Ok(())
    };
    let summary = import_model(&environment(shop), file, amounts, options, note, tell).await.expect("an import");
    refused.sort();
    Imported { summary, findings, refused }
}

fn open() -> Options {
    Options { open: true, ..Options::default() }
}

/// The model of a shop makes the same shop, whose model is the same file.
pub async fn assert_round_trip(shop: &Shop) {
    let history = exported(shop).await;
    let model = export_model(&environment(shop), &history).expect("a model");
    let other = Shop::open().await;
    let file = Temporary::with("model.json", &model);
    let Imported { summary, findings, refused } = imported(&other, &file.0, &open()).await;
    assert_eq!((findings, refused), (vec![], vec![]));
    assert_eq!((summary.new, summary.same), (history.lines().count() as u64, 0));
    let again = exported(&other).await;
    assert!(again == history, "the history of the imported model is another one");
    assert!(export_model(&environment(&other), &again).expect("a model") == model, "the model is another file");
    // A second import changes nothing.
    let Imported { summary, .. } = imported(&other, &file.0, &open()).await;
    assert_eq!((summary.new, summary.same), (0, history.lines().count() as u64));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_of_an_empty_shop_has_the_design_and_is_refused_without_items() {
    let shop = Shop::open().await;
    let model = export_model(&environment(&shop), "").expect("a model");
    let json: Value = serde_json::from_str(&model).expect("JSON");
    let table = &json["DataModel"][0];
    let facets = table["TableFacets"].as_array().expect("facets");
    let patterns = key_schema::layout::PATTERNS.len();
    assert_eq!(facets.len(), key_schema::layout::ENTITIES.len() + patterns);
    let order = facets.iter().find(|facet| facet["FacetName"] == "order").expect("a facet");
    assert_eq!(
        order["KeyAttributeAlias"],
        json!({ "PartitionKeyAlias": "o#{orderId}", "SortKeyAlias": "o#{orderId}" })
    );
    let of_status = facets.iter().find(|facet| facet["FacetName"].as_str().is_some_and(|it| it.starts_with("15-")));
    let alias = &of_status.expect("a facet")["KeyAttributeAlias"]["PartitionKeyAlias"];
    assert_eq!(alias, "GSI1: s#{status}#{shard}");
    let names: std::collections::BTreeSet<_> = facets.iter().map(|facet| facet["FacetName"].to_string()).collect();
    assert_eq!(names.len(), facets.len(), "a name is there twice");
    let file = Temporary::with("empty.json", &model);
    let amounts = Amounts { currency: EUROS.to_owned().try_into().expect("a currency"), decimals: 2 };
    let refused = import_model(&environment(&shop), &file.0, amounts, &open(), |_| Ok(()), |_| Ok(())).await;
    assert_eq!(refused.expect_err("no items").to_string(), "the model has no sample data");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_was_edited_is_compared_with_itself() {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.gift_card("GIFT-FOR-ADA-1", 5000).await;
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 2 }], "giftCards": ["GIFT-FOR-ADA-1"] });
    shop.customer("ada").order("one", body).await.expect(201);
    let model = export_model(&environment(&shop), &exported(&shop).await).expect("a model");
    let mut json: Value = serde_json::from_str(&model).expect("JSON");
    let items = json["DataModel"][0]["TableData"].as_array_mut().expect("items");
    let of = |items: &[Value], kind: &str| items.iter().position(|it| it["EntityType"]["S"] == kind).expect("an item");
    // The balance is not what the order leaves, a claim is missing, and there is a cart.
    let card = of(items, "giftCard");
    items[card]["balance"]["M"]["amount"]["N"] = json!("1");
    let claim = of(items, "emailClaim");
    items.remove(claim);
    items.push(json!({ "PK": { "S": "c#ada" }, "SK": { "S": "cart" }, "EntityType": { "S": "cart" } }));
    let file = Temporary::with("edited.json", &json.to_string());
    let other = Shop::open().await;
    let Imported { findings, refused, summary } = imported(&other, &file.0, &open()).await;
    assert_eq!((summary.new, refused), (4, vec![]));
    let said: Vec<_> = findings.iter().map(|text| text.split_once(": ").map_or(&**text, |(_, rest)| rest)).collect();
    assert_eq!(said.len(), 3, "{findings:#?}");
    assert!(said.iter().any(|text| text.starts_with("does not add up: balance is ")), "{findings:#?}");
    assert!(said.iter().any(|text| text.starts_with("left out: no record")), "{findings:#?}");
    assert!(findings.iter().any(|text| text.starts_with("made up: the item (email#ada@example.com")), "{findings:#?}");
    assert_eq!(exported(&other).await, exported(&shop).await, "what follows from the other items is taken");
}

/// A cell of a stock that cannot be read is left out, and does no harm to other products. What belongs to a record that
/// breaks a law is named with the record, and everything else that no record has by itself.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_item_of_a_model_is_left_out_and_the_others_come_in() {
    let shop = Shop::with_ada().await;
    for product in ["one", "two"] {
        shop.product(product, 1000, 10).await;
    }
    let model = export_model(&environment(&shop), &exported(&shop).await).expect("a model");
    let mut json: Value = serde_json::from_str(&model).expect("JSON");
    let items = json["DataModel"][0]["TableData"].as_array_mut().expect("items");
    let product = items.iter_mut().find(|it| it["PK"]["S"] == "p#one" && it["EntityType"]["S"] == "product");
    product.expect("a product")["price"]["M"]["amount"]["N"] = json!("-1");
    let text = |text: &str| json!({ "S": text });
    items.push(json!({ "PK": text("p#two#1"), "SK": text("p#two#1"), "EntityType": text("stockCell") }));
    items.push(json!({ "PK": text("c#bob"), "SK": text("cart"), "EntityType": text("cart") }));
    let file = Temporary::with("damaged.json", &json.to_string());
    let other = Shop::open().await;
    let Imported { findings, summary, .. } = imported(&other, &file.0, &open()).await;
    let said = |key: &str| findings.iter().filter(|text| text.contains(key)).count();
    assert_eq!((said("(p#two#1, "), said("(c#bob, cart)")), (1, 1), "{findings:#?}");
    assert!(said("(p#one, ") > 0, "{findings:#?}");
    assert_eq!(summary.new, 2, "the customer and the other product: {findings:#?}");
}

/// Imports the model of somebody else, with a change of its tables, and writes nothing.
async fn checked(name: &str, change: impl FnOnce(&mut Vec<Value>)) -> Imported {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workbench/a-shop.json");
    let mut model: Value = serde_json::from_str(&std::fs::read_to_string(file).expect("a file")).expect("JSON");
    change(model["DataModel"].as_array_mut().expect("tables"));
    let file = Temporary::with(name, &model.to_string());
    imported(&Shop::open().await, &file.0, &Options { check: true, ..Options::default() }).await
}

fn item(tables: &mut [Value], number: usize) -> &mut Value {
    &mut tables[0]["TableData"][number - 1]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_a_line_that_cannot_be_read_is_left_out_as_a_whole() {
    for (name, value) in [("Price", "cheap"), ("Quantity", "two"), ("Quantity", "0")] {
        let Imported { summary, findings, .. } =
            checked("lines.json", |tables| item(tables, 9)[name] = json!({ "S": value })).await;
        assert_eq!(summary.new, 5, "{name}: {findings:#?}");
        let others: Vec<_> = [7, 8, 10].iter().flat_map(|at| about(&findings, *at)).collect();
        assert_eq!(others, ["left out: a line of its order is left out"; 3], "{name}");
        assert!(about(&findings, 9)[0].starts_with("left out: "), "{name}: {findings:#?}");
    }
    let Imported { summary, findings, .. } =
        checked("lines.json", |tables| item(tables, 5)["Stock"] = json!({ "S": "some" })).await;
    assert!(about(&findings, 5).contains(&"left out: stock is no whole number"), "{findings:#?}");
    assert!(summary.new < 6);
}

/// A value that happens to be a part of the key is a value, and an id may have any character.
#[tokio::test(flavor = "multi_thread")]
async fn keys_and_values_are_told_apart_by_their_attributes() {
    let Imported { summary, findings, .. } = checked("keys.json", |tables| {
        item(tables, 8)["SK"] = json!({ "S": "2" });
        item(tables, 8)["ProductId"] = json!({ "S": "2001" });
        item(tables, 21)["SK"] = json!({ "S": "a, b" });
    })
    .await;
    assert_eq!(summary.new, 6, "{findings:#?}");
    assert!(about(&findings, 8).iter().all(|text| !text.contains("quantity")), "{findings:#?}");
    // In the order of the items.
    let numbers = findings.iter().filter_map(|text| text.strip_prefix("AShop, item ")?.split(' ').next());
    let numbers: Vec<usize> = numbers.map(|number| number.parse().expect("a number")).collect();
    assert!(numbers.is_sorted() && numbers.last() == Some(&21), "{numbers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_in_several_tables_is_read_as_one() {
    let Imported { summary, findings, .. } = checked("tables.json", |tables| {
        let mut orders = tables[0].clone();
        orders["TableName"] = json!("Orders");
        let items = tables[0]["TableData"].as_array_mut().expect("items");
        orders["TableData"] = json!(items.split_off(6));
        // The lines of the second order are in a third table.
        let mut lines = orders.clone();
        lines["TableName"] = json!("Lines");
        let line = orders["TableData"].as_array_mut().expect("items").remove(5);
        lines["TableData"] = json!([line]);
        tables.extend([orders, lines]);
    })
    .await;
    assert_eq!(summary.new, 6, "{findings:#?}");
}

/// The sentences of `findings` about an item, without its name.
fn about(findings: &[String], item: usize) -> Vec<&str> {
    let begin = format!("AShop, item {item} (");
    let of_item = findings.iter().filter(|text| text.starts_with(&begin));
    of_item.map(|text| text.split_once("): ").expect("a key").1).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_of_somebody_else_is_imported_as_far_as_it_goes() {
    let shop = Shop::open().await;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workbench/a-shop.json");
    let check = Options { check: true, ..Options::default() };
    let checked = imported(&shop, &file, &check).await;
    assert!(shop.dump().await.is_empty());
    let Imported { summary, findings, refused } = imported(&shop, &file, &Options::default()).await;
    assert_eq!((checked.findings, checked.refused), (findings.clone(), refused.clone()), "a check says the same");
    assert_eq!((summary.new, summary.same), (6, 0), "two customers, two products, two orders: {refused:?}");

    // A field of the format, and each item.
    assert!(findings.contains(&"not used: the field AShop.Colour".to_owned()), "{findings:#?}");
    let expected: [(usize, &[&str]); 14] = [
        (
            1,
            &[
                "made up: the username ada, from the e-mail address",
                "made up: the time of the sign-up, 2023-04-25T17:37:00.000Z",
            ],
        ),
        (
            2,
            &[
                "made up: the username ada-1002, from the e-mail address",
                "made up: the time of the sign-up, 2023-04-25T17:37:00.000Z",
            ],
        ),
        (3, &["left out: a customer needs an e-mail address, which cannot be made up"]),
        (4, &["made up: the currency of 19.90", "made up: the category uncategorised", "made up: a stock of 0 units"]),
        (5, &["made up: the currency of 5", "made up: the category Cups---Mugs", "not used: Detail.Colour"]),
        (6, &["left out: a product needs a price, which cannot be made up"]),
        (
            7,
            &[
                "made up: the time zone of 2023-04-25T19:10:00: UTC",
                "made up: the status DELIVERED, because it has an invoice or a payment, and history is closed",
                "made up: a payment of 4480 EUR (minor units) that came",
                "not used: GSI1-SK",
            ],
        ),
        (10, &["made up: the time zone of 2023-04-25T19:18:00: UTC", "made up: the currency of 44.80"]),
        (
            11,
            &[
                "does not add up: its lines are 1500 EUR (minor units), and its invoice says 1600 EUR (minor units)",
                "made up: the status DELIVERED, because it has an invoice or a payment, and history is closed",
                "made up: a payment of 1600 EUR (minor units) that came",
            ],
        ),
        (16, &["made up: the currency of 4", "not used: Type"]),
        (
            17,
            &[
                "made up: the currency of 6",
                "made up: that all payments of the order are one: Till has one besides gift cards",
                "not used: Type",
            ],
        ),
        (
            18,
            &[
                "made up: the status PENDING, because it has neither invoice nor payment",
                "made up: a payment of 500 EUR (minor units) that has not come",
            ],
        ),
        (20, &["left out: the order itself is not there"]),
        (21, &["left out: it is no customer, product, order, line, invoice or payment"]),
    ];
    for (item, expected) in expected {
        assert_eq!(about(&findings, item), expected, "item {item}");
    }
    let [(11, unbalanced), (18, unpaid)] = &refused[..] else { panic!("{refused:?}") };
    assert!(!unbalanced.is_empty() && unpaid.starts_with("it is PENDING"), "{refused:?}");

    let history = exported(&shop).await;
    let lines: Vec<Value> = history.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let order = lines.iter().find(|line| line["orderId"] == "3001").expect("an order");
    assert_eq!(order["customerId"], "1001");
    assert_eq!(order["total"], json!({ "amount": 4480, "currency": "EUR" }));
    assert_eq!((&order["invoiceId"], &order["issuedAt"]), (&json!("4001"), &json!("2023-04-25T19:18:00.000Z")));
    let shipped = lines.iter().find(|line| line["orderId"] == "3003").expect("an order");
    assert_eq!((&shipped["status"], &shipped["card"]["transfer"]["reference"]), (&json!("SHIPPED"), &json!("5001")));
    // What was imported is a shop like any other.
    assert_round_trip(&shop).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_model_changes_nothing() {
    let shop = Shop::open().await;
    let amounts = Amounts { currency: EUROS.to_owned().try_into().expect("a currency"), decimals: 2 };
    for (name, text) in [("text", "no JSON"), ("list", "[]"), ("other", "{\"ModelName\": \"x\"}")] {
        let file = Temporary::with(name, text);
        let refused = import_model(&environment(&shop), &file.0, amounts, &open(), |_| Ok(()), |_| Ok(())).await;
        let why = refused.expect_err("no model").to_string();
        assert!(why.ends_with("is no model of NoSQL Workbench"), "{why}");
    }
    assert!(shop.dump().await.is_empty());
}
