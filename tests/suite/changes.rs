//! Changes of products and stock with optimistic locking.

use shop::{every_removal, openapi};

use crate::history::copied;
use crate::prelude::*;

async fn patch(client: &Client, if_match: &str, body: Value) -> Reply {
    client.patch("/products/thing", if_match, body).await
}

async fn adjust(client: &Client, if_match: &str, delta: i64) -> Reply {
    let body = json!({ "delta": delta });
    client.post_if("/products/thing/stock", if_match, body).await
}

async fn shop() -> Shop {
    Shop::selling("thing", 1000, 10).await
}

/// The role of `PATCH /products/{productId}` allows the attributes that are listed in the code, which is easily forgotten.
#[tokio::test(flavor = "multi_thread")]
async fn every_member_of_a_product_can_be_set_changed_alone_copied_and_removed() {
    let shop = shop().await;
    shop.product("main", 1000, 10).await;
    let changes = every_change("main");
    let changes = changes.as_object().expect("an object");
    let members = |schema: &str| &openapi::document()["components"]["schemas"][schema]["properties"];
    let (of_change, of_new) = (members("ProductChanges"), members("NewProduct"));
    assert_eq!(changes.keys().collect::<BTreeSet<_>>(), of_change.as_object().expect("an object").keys().collect());
    for (member, value) in changes {
        let product = patch(&shop.admin(), "*", json!({ member: value })).await.expect(200);
        assert_eq!(product[member], *value);
    }
    let new = changes.iter().filter(|(member, _)| of_new.get(member).is_some());
    let new: Value = new.map(|(member, value)| (member.clone(), value.clone())).collect();
    shop.create("new", new.clone()).await;
    let other = Shop::open().await;
    copied(&shop, &other).await;
    invariants::hold(&other).await;
    for (id, set) in [("thing", &Value::from(changes.clone())), ("new", &new)] {
        let product = other.nobody().get(&format!("/products/{id}")).await.expect(200);
        set.as_object().expect("an object").iter().for_each(|(member, value)| assert_eq!(product[member], *value));
    }
    for (member, nothing) in every_removal("thing").as_object().expect("an object") {
        let product = patch(&shop.admin(), "*", json!({ member: nothing })).await.expect(200);
        assert_eq!(product[member], Value::Null, "{member}");
    }
}

/// The price of the product and its copy in the stock.
async fn prices(shop: &Shop) -> [Value; 2] {
    let product = shop.item("p#thing", "p#thing").await;
    let stock = shop.item("p#thing", "stock").await;
    [product["price"]["M"]["amount"]["N"].clone(), stock["price"]["M"]["amount"]["N"].clone()]
}

#[tokio::test(flavor = "multi_thread")]
async fn if_match_names_the_versions_that_a_change_may_replace() {
    let shop = shop().await;
    let admin = shop.admin();
    let customer = |if_match: &'static str| {
        let client = shop.customer("ada");
        async move {
            let headers: Vec<_> = (!if_match.is_empty()).then_some(("if-match", if_match)).into_iter().collect();
            client.send(Method::PATCH, "/customers/ada", &headers, Some(json!({ "name": "A" }).to_string())).await
        }
    };
    let before = shop.dump().await;
    for (path, body) in [("/products/thing", json!({ "name": "B" })), ("/products/thing/stock", json!({ "delta": 1 }))]
    {
        let method = if path.ends_with("stock") { Method::POST } else { Method::PATCH };
        admin.send(method, path, &[], Some(body.to_string())).await.problem(Kind::PreconditionRequired);
    }
    customer("").await.problem(Kind::PreconditionRequired);
    for malformed in ["1", "\"1", "\"1\" \"2\"", "*, \"1\""] {
        patch(&admin, malformed, json!({ "name": "B" })).await.problem(Kind::Validation);
        adjust(&admin, malformed, 1).await.problem(Kind::Validation);
        customer(malformed).await.problem(Kind::Validation);
    }
    for stale in ["\"7\"", "W/\"7\"", "\"abc\"", "\"7\", \"8\""] {
        assert_eq!(patch(&admin, stale, json!({ "name": "B" })).await.problem(Kind::VersionConflict)["version"], 1);
        adjust(&admin, stale, 1).await.problem(Kind::VersionConflict);
        customer(stale).await.problem(Kind::VersionConflict);
    }
    assert_eq!(shop.dump().await, before, "what is refused changes nothing");

    assert_eq!(patch(&admin, "*", json!({ "name": "B" })).await.header("etag"), Some("\"2\""));
    // A cache that compresses an answer weakens its tag. The tag still names the version.
    assert_eq!(adjust(&admin, "\"1\", W/\"2\"", 1).await.header("etag"), Some("\"3\""));
    assert_eq!(customer("*").await.header("etag"), Some("\"2\""));
    // And `*` matches nothing if the product does not exist.
    admin.patch("/products/none", "*", json!({ "name": "B" })).await.problem(Kind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_price_changes_the_product_and_its_copy_together() {
    let shop = shop().await;
    let changed = patch(&shop.admin(), "\"1\"", json!({ "price": eur(1500), "category": "others" })).await.expect(200);
    assert_eq!(changed["price"], eur(1500));
    assert_eq!(changed["version"], 2);
    assert_eq!(prices(&shop).await, ["1500", "1500"]);
    assert!(shop.nobody().walk("/products?category=things", 10).await.is_empty());
    assert_eq!(shop.nobody().walk("/products?category=others", 10).await.len(), 1);
    let order = basket("thing", 1);
    assert_eq!(shop.customer("ada").order("k", order).await.expect(201)["total"], eur(1500));
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_many_changes_of_one_version_succeeds() {
    let shop = shop().await;
    let replies =
        at_once(0..20, async |at| patch(&shop.admin(), "\"1\"", json!({ "price": eur(2000 + at) })).await).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    for loser in replies.into_iter().filter(|reply| reply.status != 200) {
        loser.problem(Kind::VersionConflict);
    }
    let [price, copy] = prices(&shop).await;
    assert_eq!(price, copy);
}

#[tokio::test(flavor = "multi_thread")]
async fn units_are_added_once_and_never_taken_below_zero() {
    let shop = shop().await;
    let admin = shop.admin();
    assert_eq!(adjust(&admin, "\"1\"", 5).await.expect(200)["available"], 15);
    adjust(&admin, "\"1\"", 5).await.problem(Kind::VersionConflict);
    assert_eq!(shop.available("thing").await, 15);
    let problem = adjust(&admin, "\"2\"", -16).await.problem(Kind::OutOfStock);
    assert_eq!(problem["available"], 15);
    assert_eq!(adjust(&admin, "\"2\"", -15).await.expect(200)["available"], 0);
    for delta in [0, 1_000_001, -1_000_001] {
        adjust(&admin, "\"3\"", delta).await.problem(Kind::Validation);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_of_many_adjustments_of_one_version_succeeds() {
    let shop = shop().await;
    let replies = at_once(0..20, async |_| adjust(&shop.admin(), "\"1\"", 5).await).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    assert_eq!(shop.available("thing").await, 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_sales_and_adjustments_lose_no_unit() {
    let shop = shop().await;
    let mut busy = JoinSet::new();
    for at in 0..20 {
        let (ada, admin) = (shop.customer("ada"), shop.admin());
        busy.spawn(async move {
            if at % 2 == 0 {
                let order = basket("thing", 1);
                let reply = ada.order(&format!("k{at}"), order).await;
                if reply.status == 201 { -1 } else { 0 }
            } else {
                let delta = if at % 4 == 1 { 3 } else { -2 };
                let reply = adjust(&admin, "*", delta).await;
                if reply.status == 200 { delta } else { 0 }
            }
        });
    }
    let moved: i64 = busy.join_all().await.into_iter().sum();
    assert_eq!(i64::try_from(shop.available("thing").await).expect("small"), 10 + moved);
}
