//! Admin operations on cells.

use shop::cells::lay_out;

use super::{adjust, change, conserved, in_cells, shop, units};
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn units_are_distributed_over_the_cells_and_shown_as_one_sum() {
    let shop = shop(20).await;
    assert_eq!(units(&shop).await, [3, 3, 3, 3, 2, 2, 2, 2]);
    let product = shop.nobody().get("/products/thing").await.expect(200);
    assert_eq!((&product["available"], &product["cells"]), (&json!(20), &json!(8)));
    conserved(&shop, 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_creation_is_a_replay_only_with_the_same_number_of_cells() {
    let shop = shop(20).await;
    let again = in_cells(&shop, 20, 8).await;
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    again.expect(201);
    for cells in [1, 7] {
        in_cells(&shop, 20, cells).await.problem(Kind::AlreadyExists);
    }
    for cells in [0, 33] {
        assert_eq!(
            in_cells(&shop, 20, cells).await.problem(Kind::Validation)["detail"],
            "cells: cells must be 1 to 32"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stock_keeps_its_units_when_the_number_of_cells_changes() {
    let shop = Shop::with_ada().await;
    let before = shop.product("thing", 1000, 21).await;
    let mut version = 1;
    for cells in [8, 3, 32, 1, 2] {
        let product = change(&shop.admin(), json!({ "cells": cells })).await.expect(200);
        version += 1;
        assert_eq!((&product["available"], &product["version"]), (&json!(21), &json!(version)));
        assert_eq!(units(&shop).await.len(), cells);
        conserved(&shop, 21).await;
        // Repeating the request changes nothing.
        let dump = shop.dump().await;
        change(&shop.admin(), json!({ "cells": cells })).await.expect(200);
        assert_eq!(shop.dump().await, dump);
    }
    let mut after = change(&shop.admin(), json!({ "cells": 1 })).await.expect(200);
    after["version"] = json!(1);
    after["stats"] = before["stats"].clone();
    assert_eq!(after, before, "nothing is left of the cells");
}

#[tokio::test(flavor = "multi_thread")]
async fn setting_the_same_number_of_cells_redistributes_the_units() {
    let shop = shop(21).await;
    let path = "/products/thing";
    let again = || async {
        let body = json!({ "cells": 8 });
        shop.admin().patch(path, "\"1\"", body).await
    };
    lay_out(&shop, "thing", &[20, 0, 0, 1, 0, 0, 0, 0]).await;
    // A retry with the old version is a replay.
    for _ in 0..2 {
        assert_eq!(again().await.expect(200)["version"], 2);
        assert_eq!(units(&shop).await, [3, 3, 3, 3, 3, 2, 2, 2]);
    }
    // If units were transferred since, they are redistributed again.
    lay_out(&shop, "thing", &[3, 3, 3, 3, 3, 0, 0, 6]).await;
    assert_eq!(again().await.expect(200)["version"], 2);
    assert_eq!(units(&shop).await.iter().max(), Some(&3));
    conserved(&shop, 21).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_price_is_the_price_in_every_cell() {
    let shop = shop(8).await;
    change(&shop.admin(), json!({ "price": eur(900), "cells": 5 })).await.expect(200);
    change(&shop.admin(), json!({ "price": eur(800) })).await.expect(200);
    conserved(&shop, 8).await;
    for at in 0..8 {
        let order = shop.customer("ada").order(&format!("k{at}"), things(1)).await.expect(201);
        assert_eq!(order["total"], eur(800));
    }
    conserved(&shop, 8).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn added_units_are_distributed_and_removed_units_come_from_every_cell() {
    let shop = shop(4).await;
    assert_eq!(adjust(&shop.admin(), "*", 12).await.expect(200)["available"], 16);
    assert_eq!(units(&shop).await, [2; 8]);
    assert_eq!(adjust(&shop.admin(), "*", -15).await.expect(200)["available"], 1);
    let problem = adjust(&shop.admin(), "*", -2).await.problem(Kind::OutOfStock);
    assert_eq!((&problem["productId"], &problem["available"]), (&json!("thing"), &json!(1)));
    assert_eq!(adjust(&shop.admin(), "*", -1).await.expect(200)["available"], 0);
    assert_eq!(units(&shop).await, [0; 8]);
    conserved(&shop, 0).await;
}
