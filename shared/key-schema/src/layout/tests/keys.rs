//! The uniqueness and the order of keys.

use proptest::prelude::*;

use super::parts::{Parts, Take, any_parts};
use crate::entity::{InvoiceCounter, ParkedCounts};
use crate::layout::{ENTITIES, Index, Item, Key};
use crate::value::InvoiceId;

proptest! {
    #[test]
    fn different_entities_share_no_key_in_the_table_or_in_an_index(
        parts in any_parts(), other in any_parts(), take in any::<Take>(),
    ) {
        // The two often differ only in a part or two, like two lines of one order.
        let mut alike = parts.clone().mixed_with(other, take);
        alike.invoice = InvoiceId::of(&alike.order);
        for (a, b) in pairs(&parts, &alike) {
            let is_same = identity(&a, &parts) == identity(&b, &alike);
            prop_assert_eq!(a.keys()[0] == b.keys()[0], is_same, "{:?} and {:?}", a, b);
            if !is_same {
                prop_assert!(a.keys().iter().all(|key| !b.keys().contains(key)), "{:?} and {:?}", a, b);
            }
        }
    }

    #[test]
    fn sort_keys_that_begin_with_a_time_sort_by_time(parts in any_parts(), other in any_parts()) {
        for (a, b) in parts.entities().iter().zip(other.entities()) {
            let places = a.places_of_keys().into_iter().zip(b.places_of_keys());
            for (((place, others), ours), theirs) in places.zip(a.keys()).zip(b.keys()) {
                if place == others && is_sorted_by_time(place.sort) && parts.at != other.at {
                    prop_assert_eq!(ours.sort.cmp(&theirs.sort), parts.at.cmp(&other.at), "{:?}", place);
                }
            }
        }
    }

    #[test]
    fn no_entry_of_a_customer_sorts_between_the_newest_order_and_the_profile(order in any_parts(), other in any_parts()) {
        let other = Parts { customer: order.customer.clone(), ..other };
        let is_of_customer = |key: &Key| key.index == Index::Gsi2 && key.partition.starts_with("c#");
        let of_customer = |entity: &Item| entity.keys().into_iter().find(is_of_customer);
        let position = |kind: &str| order.entities().iter().find(|entity| entity.kind() == kind).and_then(of_customer);
        let (profile, newest) = position("customer").zip(position("order")).expect("entries in GSI2");
        prop_assert_eq!(&profile.partition, &newest.partition);
        prop_assert!(newest.sort < profile.sort);
        for entity in other.entities() {
            if let Some(key) = of_customer(&entity).filter(|_| !["customer", "order"].contains(&entity.kind())) {
                prop_assert_eq!(&key.partition, &profile.partition);
                prop_assert!(key.sort < newest.sort || profile.sort < key.sort, "{:?}", key);
            }
        }
    }
}

/// All pairs of an entity of `parts` and an entity of `other`.
fn pairs(parts: &Parts, other: &Parts) -> Vec<(Item, Item)> {
    let others = other.entities();
    parts.entities().into_iter().flat_map(|a| others.iter().map(move |b| (a.clone(), b.clone()))).collect()
}

fn identity(entity: &Item, parts: &Parts) -> (&'static str, Vec<String>) {
    let Parts {
        customer,
        product,
        category,
        order,
        discount,
        gift_card,
        email,
        username,
        shard,
        stream_shard,
        mark,
        return_id,
        shipment_id,
        ..
    } = parts;
    let (day, visitor) = (parts.moment().day(), parts.visitor());
    let ids: Vec<&dyn ToString> = match entity {
        Item::Customer(_)
        | Item::CustomerStats(_)
        | Item::Cart(_)
        | Item::CustomerAddresses(_)
        | Item::Guest(_)
        | Item::IdempotencyRecord(_) => {
            vec![customer]
        }
        Item::EmailClaim(_) => return (entity.kind(), vec![email.to_string().to_lowercase()]),
        Item::UsernameClaim(_) => return (entity.kind(), vec![username.to_string().to_lowercase()]),
        Item::Product(_) | Item::ProductDescription(_) | Item::Stock(_) | Item::ProductStats(_) => {
            vec![product]
        }
        Item::CategoryCount(_) => vec![category],
        Item::ViewShard(_) | Item::StockCell(_) => vec![product, shard],
        Item::ViewMark(_) => vec![&day, product, &visitor],
        Item::Order(_)
        | Item::OrderAddress(_)
        | Item::Invoice(_)
        | Item::PaymentDue(_)
        | Item::OrderFlag(_)
        | Item::QueuedOrder(_) => {
            vec![order]
        }
        Item::OrderItem(_) => vec![order, product],
        Item::Return(_) => vec![order, return_id],
        Item::Shipment(_) => vec![order, shipment_id],
        Item::Discount(_) => vec![discount],
        Item::GiftCard(_) => vec![gift_card],
        Item::GiftCardEntry(_) => vec![gift_card, order],
        Item::DayTotals(_) => vec![&day],
        Item::InvoiceCounter(InvoiceCounter { series, .. }) => vec![series],
        Item::StreamCheckpoint(_) => vec![stream_shard],
        Item::ShippingRates(_) | Item::Taxes(_) | Item::Reconciliation(_) | Item::Migration(_) => vec![],
        Item::Repair(repair) => {
            return (entity.kind(), vec![shard.to_string(), repair.since.to_string(), repair.repair_id.to_string()]);
        }
        Item::ParkedCounts(ParkedCounts { group, list, parked_at, .. }) => {
            vec![group, list, parked_at, stream_shard, mark]
        }
        Item::CopyProgress(_) | Item::FoldLease(_) => vec![shard],
    };
    (entity.kind(), ids.into_iter().map(ToString::to_string).collect())
}

/// Whether the first part of a sort key is a time. The names of all such placeholders end in `At`.
fn is_sorted_by_time(template: &str) -> bool {
    template.split_once('{').and_then(|(_, rest)| rest.split_once('}')).is_some_and(|(name, _)| name.ends_with("At"))
}

#[test]
fn orders_lines_invoices_flags_returns_and_parked_counts_have_lists_by_time() {
    let sorted = ENTITIES.iter().filter(|(_, places)| places.iter().any(|place| is_sorted_by_time(place.sort)));
    assert_eq!(
        sorted.map(|(entity, _)| *entity).collect::<Vec<_>>(),
        ["order", "orderItem", "invoice", "orderFlag", "return", "parkedCounts"]
    );
}
