//! What `docs/from-another-shop/records.py` makes of the made-up exports beside it is a history. `.ci/run` compares the
//! records with what the script makes.

use local::history::Options;
use shop::read;

use super::{AFTER_EVERY_CHANGE, Temporary, assert_valid, copied, imported};
use crate::invariants::breaches;
use crate::prelude::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_export_of_another_shop_becomes_a_history() {
    for (shop_of, orders) in [("shopify", 6), ("woocommerce", 4)] {
        let records = read(&format!("docs/from-another-shop/{shop_of}.ndjson"));
        assert_valid(&records);
        let shop = Shop::open_counted().await;
        let source = Temporary::with("records.ndjson", &records);
        let (summary, refused) = imported(&shop, &source, &Options::default()).await;
        assert_eq!((summary.new, refused), (records.lines().count() as u64, vec![]), "{shop_of}");
        shop.settle().await;
        assert_eq!(breaches(&shop, AFTER_EVERY_CHANGE).await, Vec::<String>::new(), "{shop_of}");
        let placed = records.lines().filter(|line| line.contains("\"type\": \"order\"")).count();
        assert_eq!(placed, orders, "{shop_of}");
        // Further lines are those for which an order has no room, whose lines of one product are one.
        for record in records.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")) {
            let lines = record["lines"].as_array().cloned().unwrap_or_default();
            let products: BTreeSet<_> = lines.iter().filter_map(|line| line["productId"].as_str()).collect();
            assert!(!products.contains("further-lines") || products.len() >= 39, "{record}");
        }
        copied(&shop, &Shop::open().await).await;
    }
}
