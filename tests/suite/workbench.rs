//! The models of NoSQL Workbench that Till writes come back exactly, also if somebody has edited them.

use local::history::{Outcome, Placement, Summary, export_model, import_model};

use crate::history::{Temporary, environment, exported, open};
use crate::prelude::*;

async fn model(shop: &Shop) -> String {
    export_model(&environment(shop)).await.expect("a model").0
}

/// The totals of an import, and what it says about items and refused records.
async fn imported(shop: &Shop, file: &Temporary) -> Result<(Summary, Vec<String>), String> {
    let (mut differences, mut refused) = (Vec::new(), Vec::new());
    let note = |difference| {
        differences.push(difference);
        Ok(())
    };
    let tell = |outcome: &Outcome| {
        if let Placement::Refused(reason) = &outcome.result {
            refused.push(reason.clone());
        }
        Ok(())
    };
    let summary = import_model(&environment(shop), &file.0, &open(), note, tell).await;
    Ok((summary.map_err(|error| format!("{error:#}"))?, [differences, refused].concat()))
}

/// The model of a shop makes the same shop, whose model is the same file.
pub async fn assert_round_trip(shop: &Shop) {
    let (history, model_of_shop) = (exported(shop).await, model(shop).await);
    let other = Shop::open().await;
    let file = Temporary::with("model.json", &model_of_shop);
    let (summary, said) = imported(&other, &file).await.expect("an import");
    assert_eq!(said, Vec::<String>::new());
    assert_eq!((summary.new, summary.same), (history.lines().count() as u64, 0));
    assert!(exported(&other).await == history, "the history of the imported model is another one");
    assert!(model(&other).await == model_of_shop, "the model is another file");
    // A second import changes nothing.
    let (summary, _) = imported(&other, &file).await.expect("an import");
    assert_eq!((summary.new, summary.same), (0, history.lines().count() as u64));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_of_an_empty_shop_has_the_design() {
    let json: Value = serde_json::from_str(&model(&Shop::open().await).await).expect("JSON");
    let facets = json["DataModel"][0]["TableFacets"].as_array().expect("facets");
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
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_was_edited_is_compared_with_itself() {
    let shop = Shop::selling("thing", 1000, 10).await;
    shop.gift_card("GIFT-FOR-ADA-1", 1500).await;
    let body = json!({ "lines": [{ "productId": "thing", "quantity": 2 }], "giftCards": ["GIFT-FOR-ADA-1"] });
    let order = shop.customer("ada").order("one", body).await.expect(201);
    let payments = order["invoice"]["payments"].as_array().expect("payments").iter().map(|payment| &payment["amount"]);
    assert_eq!(payments.collect::<Vec<_>>(), [&eur(1500), &eur(500)], "a gift card and a card");
    let mut json: Value = serde_json::from_str(&model(&shop).await).expect("JSON");
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
    let (summary, said) = imported(&other, &file).await.expect("an import");
    assert_eq!((summary.new, said.len()), (4, 3), "{said:#?}");
    assert_eq!(said[0], "(c#ada, cart): left out, because no record has it");
    assert!(said[1].starts_with("(email#ada@example.com, "), "{said:#?}");
    assert!(said[2].contains(": balance is "), "{said:#?}");
    assert_eq!(exported(&other).await, exported(&shop).await, "what follows from the other items is taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_model_changes_nothing() {
    let shop = Shop::open().await;
    let no_item = r#"{"DataModel": [{"TableData": [{"Id": {"S": "1"}}]}]}"#;
    let damaged = r#"{"DataModel": [{"TableData": [
        {"PK": {"S": "p#one"}, "SK": {"S": "p#one"}, "EntityType": {"S": "product"}}]}]}"#;
    for (text, expected) in [
        ("no JSON", "is no model of NoSQL Workbench"),
        ("[]", "is no model of NoSQL Workbench"),
        (r#"{"ModelName": "x"}"#, "is no model of NoSQL Workbench"),
        (r#"{"DataModel": [{"TableName": "x"}]}"#, "has no data"),
        (no_item, "item 1: PutItem was refused"),
        (damaged, "a product cannot be read"),
    ] {
        let refused = imported(&shop, &Temporary::with("other.json", text)).await.expect_err("no model");
        assert!(refused.contains(expected), "{refused}");
    }
    assert!(shop.dump().await.is_empty());
}
