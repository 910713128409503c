use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

const CROWD: Crowd = Crowd { products: 50, customers: 20, skew: 1.0 };

fn tastes() -> Arc<Tastes> {
    Arc::new(Tastes::of(CROWD).unwrap())
}

/// A shopper's requests in a shop that accepts every order.
fn asked(number: u64, seed: u64, mix: Mix, count: usize) -> Vec<Ask> {
    let mut shopper = Shopper::new(number, seed, mix, tastes());
    let asks = (0..count).map(|_| {
        let ask = shopper.next();
        if let Ask::PlaceOrder(order) = &ask {
            shopper.remember(Placed { id: order.key.clone(), order: Arc::clone(order) });
        }
        ask
    });
    asks.collect()
}

fn mixes() -> impl Strategy<Value = Mix> {
    prop::sample::select(Mix::value_variants())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_seed_says_what_is_asked(seed: u64, mix in mixes()) {
        prop_assert_eq!(asked(0, seed, mix, 300), asked(0, seed, mix, 300));
        prop_assert_ne!(asked(0, seed, mix, 300), asked(0, seed.wrapping_add(1), mix, 300));
    }

    #[test]
    fn requests_only_name_existing_products_and_customers(seed: u64, mix in mixes()) {
        for ask in asked(0, seed, mix, 300) {
            match ask {
                Ask::ReadProduct(product) | Ask::ViewProduct(product) => prop_assert!(product < CROWD.products),
                Ask::ListProducts { category } => prop_assert!(category * CATEGORY_SIZE < CROWD.products),
                Ask::PutCart { customer, .. } | Ask::ListOrders { customer } | Ask::ReadOverview { customer } => {
                    prop_assert!(customer < CROWD.customers);
                }
                Ask::PlaceOrder(order) => {
                    let products: BTreeSet<usize> = order.lines.iter().map(|line| line.product).collect();
                    prop_assert_eq!(products.len(), order.lines.len(), "a product is in two lines");
                    prop_assert!(order.lines.iter().all(|line| line.product < CROWD.products && line.quantity > 0));
                }
                Ask::RepeatOrder(_) | Ask::ReadOrder(_) | Ask::CancelOrder(_) => {}
            }
        }
    }

    #[test]
    fn no_two_orders_have_the_same_key_and_none_is_cancelled_twice(seed: u64, mix in mixes()) {
        let mut keys = BTreeSet::new();
        let mut cancelled = BTreeSet::new();
        for ask in asked(0, seed, mix, 1000).into_iter().chain(asked(1, seed, mix, 1000)) {
            match ask {
                Ask::PlaceOrder(order) => prop_assert!(keys.insert(order.key.clone())),
                Ask::CancelOrder(placed) => prop_assert!(cancelled.insert(placed.id)),
                _ => {}
            }
        }
    }
}

#[test]
fn every_kind_comes_as_often_as_the_mix_says() {
    const COUNT: u32 = 20_000;
    for mix in Mix::value_variants() {
        assert_eq!(mix.shares().iter().map(|(_, share)| share).sum::<u32>(), 100, "{mix:?}");
        let mut counts: BTreeMap<Kind, u32> = BTreeMap::new();
        for ask in asked(0, 1, *mix, COUNT as usize) {
            *counts.entry(ask.kind()).or_default() += 1;
        }
        for (kind, share) in mix.shares() {
            let (expected, found) = (f64::from(COUNT * share) / 100.0, f64::from(counts[kind]));
            // Six standard deviations.
            assert!((found - expected).abs() < 6.0 * expected.sqrt() + 1.0, "{mix:?}: {found} of {kind:?}");
        }
    }
}

#[test]
fn favourites_are_asked_for_most() {
    let mut counts = vec![0; CROWD.products];
    for ask in asked(0, 1, Mix::Browse, 20_000) {
        if let Ask::ReadProduct(product) = ask {
            counts[product] += 1;
        }
    }
    assert!(counts[0] > counts[1] && counts[1] > counts[3] && counts[3] > 3 * counts[49], "{counts:?}");
}

#[test]
fn whoever_has_no_order_yet_places_one() {
    let mut shopper = Shopper::new(0, 1, Mix::Order, tastes());
    let kinds: BTreeSet<Kind> = (0..200).map(|_| shopper.next().kind()).collect();
    assert_eq!(kinds, BTreeSet::from([Kind::PlaceOrder, Kind::ListOrders]));
}
