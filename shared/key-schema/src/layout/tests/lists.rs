//! The lists of orders and the counts of views: the items of each list, and their order.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;

use super::parts::{Parts, any_parts, between};
use super::strategies::any_time;
use crate::entity::{Entity as _, Order, ViewShard};
use crate::layout::{
    Bound, CUSTOMER_BY_ID, Direction, FLAGGED_ORDERS, InViews, Index, Item, Key, ORDERS_OF_CUSTOMER, ORDERS_OF_STATUS,
    PRODUCT_BY_ID, PROFILE_AND_ORDERS, ProfileOrOrder, Query, SortRange, Stored as _, VIEWS_OF_PRODUCT,
};
use crate::value::{TimeRange, Timestamp};

/// The entries that a walk through the range returns, in its order.
fn walk<T>(query: &Query<T>, range: &SortRange, entities: &[Item]) -> Vec<(Key, Item)> {
    let Query { declared, partition, .. } = query;
    let entries = entities.iter().flat_map(|entity| entity.keys().into_iter().map(move |key| (key, entity.clone())));
    let mut seen: Vec<_> = entries
        .filter(|(key, _)| {
            key.index == declared.place.index && key.partition == *partition && range.contains(&key.sort)
        })
        .collect();
    seen.sort_by(|(a, _), (b, _)| match declared.direction {
        Direction::Ascending => a.sort.cmp(&b.sort),
        Direction::Descending => b.sort.cmp(&a.sort),
    });
    seen
}

fn kinds(seen: &[(Key, Item)]) -> Vec<&'static str> {
    seen.iter().map(|(_, entity)| entity.kind()).collect()
}

/// A customer's profile, and orders with all of their items, each with a different id.
fn shop(of: &[Parts]) -> Vec<Item> {
    let mut ids = BTreeSet::new();
    let mut all = Vec::new();
    for parts in of.iter().filter(|parts| ids.insert(parts.order.clone())) {
        let parts = Parts { customer: of[0].customer.clone(), ..parts.clone() };
        let is_new = |entity: &Item| all.is_empty() || !matches!(entity, Item::Customer(_));
        let more: Vec<_> = parts.entities().into_iter().filter(is_new).collect();
        all.extend(more);
    }
    all
}

proptest! {
    #[test]
    fn the_orders_of_a_customer_never_include_the_profile(
        of in vec(any_parts(), 1..5), a in proptest::option::of(any_time()), b in proptest::option::of(any_time()),
    ) {
        let (entities, customer) = (shop(&of), &of[0].customer);
        let range = if a.zip(b).is_some_and(|(a, b)| a > b) { between(b, a) } else { between(a, b) };
        let pattern = ORDERS_OF_CUSTOMER.ask((customer, &range));
        let all = walk(&pattern, &pattern.range, &entities);
        prop_assert!(kinds(&all).iter().all(|kind| *kind == Order::TYPE), "{:?}", all);
        prop_assert!(all.windows(2).all(|pair| placed(&pair[0].1) >= placed(&pair[1].1)), "newest first");
        for (at, (key, _)) in all.iter().enumerate() {
            prop_assert_eq!(&walk(&pattern, &pattern.rest(Some(&key.sort)), &entities), &all[at + 1..]);
        }
    }

    #[test]
    fn the_profile_comes_first_and_then_the_orders_newest_first(of in vec(any_parts(), 1..5)) {
        let (entities, customer) = (shop(&of), &of[0].customer);
        let pattern = PROFILE_AND_ORDERS.ask(customer);
        let all = walk(&pattern, &pattern.range, &entities);
        let (first, orders) = all.split_first().expect("the profile");
        prop_assert!(matches!(first.1, Item::Customer(_)));
        let placed = TimeRange::default();
        let alone = ORDERS_OF_CUSTOMER.ask((customer, &placed));
        prop_assert_eq!(orders, walk(&alone, &alone.range, &entities), "the same orders as without the profile");
        prop_assert_eq!(walk(&pattern, &pattern.rest(Some(&first.0.sort)), &entities), orders, "the profile comes only once");

        let read = all.iter().map(|(_, entity)| serde_dynamo::from_item(entity.item()));
        let read: Vec<ProfileOrOrder> = read.collect::<Result<_, _>>().expect("what the pattern declares");
        let (profile, newest) = ProfileOrOrder::assemble(read).expect("a profile");
        prop_assert_eq!(&profile.customer_id, customer);
        prop_assert_eq!(newest.iter().map(Order::key).collect::<Vec<_>>(), table_keys(orders));
    }

    #[test]
    fn the_shards_of_all_statuses_have_each_order_once_and_sorted_by_time(of in vec(any_parts(), 1..5)) {
        let entities = shop(&of);
        let asked: BTreeSet<_> = of.iter().map(|parts| (parts.status.to_string(), parts.shard)).collect();
        let mut seen = Vec::new();
        for (status, shard) in asked {
            let status = of.iter().find(|parts| parts.status.to_string() == status).expect("one of them").status;
            let pattern = ORDERS_OF_STATUS.ask((&status, &shard, &TimeRange::default()));
            let all = walk(&pattern, &pattern.range, &entities);
            prop_assert!(all.windows(2).all(|pair| placed(&pair[0].1) <= placed(&pair[1].1)), "oldest first");
            seen.extend(table_keys(&all));
        }
        let orders = entities.iter().filter(|entity| matches!(entity, Item::Order(_)));
        let orders: Vec<_> = orders.map(|order| order.keys().swap_remove(0)).collect();
        prop_assert_eq!(seen.len(), orders.len());
        prop_assert!(orders.iter().all(|order| seen.contains(order)));
    }

    #[test]
    fn the_flagged_orders_are_exactly_the_flags(of in vec(any_parts(), 1..5)) {
        let entities = shop(&of);
        let all = walk(&FLAGGED_ORDERS.ask(()), &FLAGGED_ORDERS.ask(()).range, &entities);
        let is_flag = |entity: &Item| matches!(entity, Item::OrderFlag(_));
        prop_assert!(all.iter().all(|(_, entity)| is_flag(entity)), "{:?}", all);
        prop_assert_eq!(all.len(), entities.iter().filter(|entity| is_flag(entity)).count());
    }

    #[test]
    fn every_shard_of_the_views_has_a_partition_of_its_own(
        parts in any_parts(), shards in any::<u8>(),
    ) {
        let product = &parts.product;
        let keys = ViewShard::keys_of(product, shards);
        prop_assert_eq!(keys.len(), 2 + usize::from(shards));
        prop_assert!(keys.iter().all(|key| key.index == Index::Table));
        let of_product = PRODUCT_BY_ID.ask(product).partition;
        let (counts, parts): (Vec<_>, Vec<_>) = keys.iter().partition(|key| key.partition == of_product);
        prop_assert_eq!(counts.len(), 2);
        prop_assert!(counts[0].sort != counts[1].sort, "a batch must not have a key twice");
        let partitions: BTreeSet<_> = parts.iter().map(|key| &key.partition).collect();
        prop_assert_eq!(partitions.len(), usize::from(shards));
    }

    #[test]
    fn the_views_of_a_product_are_the_sum_of_its_shards(parts in any_parts(), counts in vec(0..1_u64 << 50, 0..5)) {
        let entities = parts.entities().into_iter().filter(|entity| !matches!(entity, Item::ViewShard(_)));
        let items = entities.filter_map(|entity| serde_dynamo::from_item(entity.item()).ok());
        let mut items: Vec<InViews> = items.collect();
        items.retain(|item| *item != InViews::Unknown);
        prop_assert_eq!(items.len(), 2, "the product and its stats");
        for (views, shard) in counts.iter().zip(0..) {
            let shard = Item::ViewShard(ViewShard {
                product_id: parts.product.clone(),
                shard,
                views: *views,
            });
            items.push(serde_dynamo::from_item(shard.item()).expect("a shard"));
        }
        let (views, stats) = InViews::assemble(items.clone()).expect("there is a product");
        prop_assert_eq!(views, counts.iter().sum::<u64>());
        prop_assert!(stats.is_some());
        items.retain(|item| !matches!(item, InViews::Product(_)));
        prop_assert!(InViews::assemble(items).is_none());
    }

    #[test]
    fn a_customer_has_as_many_items_as_the_pattern_declares(parts in any_parts()) {
        let pattern = CUSTOMER_BY_ID.ask(&parts.customer);
        let all = walk(&pattern, &pattern.range, &parts.entities());
        prop_assert_eq!(Bound::AtMost(u16::try_from(all.len()).expect("a few")), CUSTOMER_BY_ID.declared.bound);
    }
}

/// A BatchGetItem has at most 100 keys, and a deployment at most 64 shards.
#[test]
fn the_views_of_a_product_are_one_batch() {
    let product = "teapot".parse().expect("an id");
    let most = ViewShard::keys_of(&product, 64).len();
    assert_eq!(VIEWS_OF_PRODUCT.bound, Bound::AtMost(u16::try_from(most).expect("a few")));
    assert!(most <= 100);
}

fn table_keys(seen: &[(Key, Item)]) -> Vec<Key> {
    seen.iter().map(|(_, entity)| entity.keys().swap_remove(0)).collect()
}

fn placed(entity: &Item) -> Option<Timestamp> {
    match entity {
        Item::Order(order) => Some(order.placed_at),
        _ => None,
    }
}
