//! Audit and export read a table of any layout, and during a migration the one that leads.

use key_schema::entity::Phase;
use lambda::Environment;
use local::history::export;
use serde_json::json;

use super::MigratingShop;
use crate::invariants::{BEFORE_EVERY_CHANGE, breaches_of};

async fn exported(environment: &Environment) -> String {
    let mut out = Vec::new();
    export(environment, &mut out, |_| ()).await.expect("the table can be read");
    String::from_utf8(out).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn both_tables_are_audited_and_exported_alike_and_during_a_migration_the_one_that_leads() {
    let migrating = MigratingShop::open().await;
    let shop = &migrating.shop;
    migrating.enter(Phase::Both).await;
    for customer in ["ada", "bob"] {
        shop.sign_up(customer).await;
    }
    shop.product("pot", 1000, 100).await;
    shop.discount("TEN", 10, None).await;
    shop.admin()
        .post("/gift-cards", json!({ "code": "CARD-0000000001", "balance": shop::eur(5000) }))
        .await
        .expect(201);
    let lines = json!([{ "productId": "pot", "quantity": 2 }]);
    for (customer, key) in [("ada", "first"), ("bob", "second"), ("ada", "third")] {
        let body = json!({ "lines": lines, "discountCode": "TEN", "giftCards": ["CARD-0000000001"] });
        shop.customer(customer).order(key, body).await.expect(201);
    }
    let of = |table: &str, layout: &str| {
        let variables = [("TABLE_NAME", table), ("TABLE_LAYOUT", layout)];
        shop.operator().with(variables.map(|(name, value)| (name.to_owned(), value.to_owned())))
    };
    let [first, next] = [of(shop.table(), "v1"), of(&migrating.next, "v2")];
    for table in [&first, &next] {
        assert_eq!(breaches_of(table, BEFORE_EVERY_CHANGE).await, Vec::<String>::new());
    }
    let file = exported(&first).await;
    assert_eq!(file.lines().count(), 2 + 1 + 1 + 1 + 3, "{file}");
    assert!(exported(&next).await == file, "the other table is exported as another file");
    assert!(!breaches_of(&of(&migrating.next, "v1"), BEFORE_EVERY_CHANGE).await.is_empty(), "keys of another layout");

    migrating.enter(Phase::Next).await;
    shop.customer("bob").order("fourth", json!({ "lines": lines })).await.expect(201);
    let [old, new] = [exported(&first).await, exported(&next).await];
    assert!(old == file && new != file);
    assert!(exported(&migrating.environment()).await == new, "the table that leads is exported");
    migrating.enter(Phase::First).await;
    assert!(exported(&migrating.environment()).await == old);
}
