//! Assembling the items of one read.

use proptest::prelude::*;

use super::parts::{any_parts, sample};
use crate::entity::{Order, OrderItem, WholeOrder};
use crate::layout::{
    InCustomer, InGiftCard, InOrder, InProduct, InStock, InViews, Index, Item, Key, ORDERS_OF_PRODUCT,
    ORDERS_OF_STATUS, OrderState, ProfileOrOrder, Query, Stored as _, Torn, WholeProduct, in_shards,
};
use crate::value::TimeRange;

/// The entity of this kind among `$entities`, if there is one.
macro_rules! found {
    ($entities:expr, $kind:ident) => {
        $entities.iter().find_map(|entity| match entity {
            Item::$kind(found) => Some(found.clone()),
            _ => None,
        })
    };
}

/// The items of these kinds among `$entities`, as the collection's enum.
macro_rules! items {
    ($entities:expr, $collection:ident: $($kind:ident)+) => {
        $entities.iter().filter_map(|entity| match entity {
            $(Item::$kind(found) => Some($collection::$kind(found.clone())),)+
            _ => None,
        })
    };
}

proptest! {
    #[test]
    fn a_collection_is_assembled_from_any_items_in_any_order_unless_its_main_item_is_missing(
        parts in any_parts(), kept in prop::collection::vec(any::<bool>(), 30), first in any::<prop::sample::Index>(),
    ) {
        let mut all = parts.entities();
        let count = all.len();
        all.rotate_left(first.index(count));
        let mut keep = kept.into_iter().cycle();
        all.retain(|_| keep.next().unwrap_or(true));

        let customer = items!(all, InCustomer: Customer Cart Guest CustomerStats).chain([InCustomer::Unknown]).collect();
        let expected = found!(all, Customer).map(|customer| (customer, found!(all, CustomerStats)));
        prop_assert_eq!(InCustomer::assemble(customer), expected);

        let product = items!(all, InProduct: Product ProductDescription Stock ProductStats);
        let product = product.chain([InProduct::Unknown]).collect();
        let expected = found!(all, Product).zip(found!(all, Stock));
        let expected = expected.map(|(product, stock)| WholeProduct {
            product,
            long_description: found!(all, ProductDescription),
            stock,
            stats: found!(all, ProductStats),
        });
        prop_assert_eq!(InProduct::assemble(product), expected);

        let card = items!(all, InGiftCard: GiftCard GiftCardEntry).chain([InGiftCard::Unknown]).collect();
        let entries = found!(all, GiftCardEntry).into_iter().collect();
        prop_assert_eq!(InGiftCard::assemble(card), found!(all, GiftCard).map(|card| (card, entries)));

        let overview = items!(all, ProfileOrOrder: Customer Order).chain([ProfileOrOrder::Unknown]).collect();
        let orders = found!(all, Order).into_iter().collect();
        prop_assert_eq!(ProfileOrOrder::assemble(overview), found!(all, Customer).map(|customer| (customer, orders)));

        let views = items!(all, InViews: Product ProductStats ViewShard).collect();
        let count = found!(all, ViewShard).map_or(0, |shard| shard.views);
        let expected = found!(all, Product).map(|_| (count, found!(all, ProductStats)));
        prop_assert_eq!(InViews::assemble(views), expected);
    }

    #[test]
    fn the_position_of_an_order_in_a_list_in_shards_is_its_sort_key(parts in any_parts()) {
        let all = parts.entities();
        let sort_key = |keys: Vec<Key>| keys.into_iter().find(|key| key.index == Index::Gsi1).map(|key| key.sort);
        let (order, line) = (found!(all, Order).expect("an order"), found!(all, OrderItem).expect("a line"));
        prop_assert_eq!(Some(order.position()), sort_key(order.index_keys()));
        prop_assert_eq!(Some(order.position()), sort_key(line.index_keys()));
        let of_customer = line.index_keys().into_iter().find(|key| key.index == Index::Gsi2).expect("a key");
        prop_assert!(of_customer.sort.starts_with(&(order.position_of_lines() + "#")));
    }

    /// A read that finds neither a complete order nor none of its items has seen a part of a transaction.
    #[test]
    fn an_order_is_complete_or_queued_or_torn(parts in any_parts(), lines in 0..3_u8, of in 0..3_u8, kept: [bool; 8]) {
        let all = parts.entities();
        let [order, invoice, flag, queued, returned, is_returned, addressed, has_address] = kept;
        let given_back = found!(all, Return).expect("one of each kind");
        let with = |order: Order| Order {
            line_count: of,
            return_statuses: is_returned.then_some(given_back.status).into_iter().collect(),
            has_address,
            shipment_statuses: Vec::new(),
            ..order
        };
        let header = found!(all, Order).filter(|_| order).map(with);
        let line = found!(all, OrderItem).expect("one of each kind");
        let (invoice, flag) = (found!(all, Invoice).filter(|_| invoice), found!(all, OrderFlag).filter(|_| flag));
        let queued = found!(all, QueuedOrder).filter(|_| queued);
        let mut items: Vec<_> = (0..lines).map(|_| InOrder::OrderItem(OrderItem { ..line.clone() })).collect();
        items.push(InOrder::Unknown);
        items.extend(Some(given_back.clone()).filter(|_| returned).map(InOrder::Return));
        items.extend(header.clone().map(InOrder::Order));
        let address = found!(all, OrderAddress).filter(|_| addressed);
        items.extend(address.clone().map(InOrder::OrderAddress));
        items.extend(invoice.clone().map(InOrder::Invoice));
        items.extend(flag.clone().map(InOrder::OrderFlag));
        items.extend(queued.clone().map(InOrder::QueuedOrder));

        let expected = match (header, invoice) {
            (Some(order), Some(invoice)) if lines == of && returned == is_returned && addressed == has_address => {
                let returns = Some(given_back).filter(|_| returned).into_iter().collect();
                let lines = (0..lines).map(|_| line.line.clone()).collect();
                Ok(Some(OrderState::Placed(Box::new(WholeOrder { order, lines, invoice, address, flag, returns, shipments: vec![] }))))
            }
            (None, None) if lines == 0 && !addressed => Ok(queued.map(|queued| OrderState::Queued(Box::new(queued)))),
            _ => Err(Torn),
        };
        prop_assert_eq!(InOrder::assemble(items), expected);
    }
}

#[test]
fn a_stock_has_the_number_of_cells_in_its_first_cell() {
    let all = sample().entities();
    let (first, cell) = (found!(all, Stock).expect("a stock"), found!(all, StockCell).expect("a cell"));
    let cells = |count: i64| count.try_into().expect("a number of cells");
    let first = crate::entity::Stock { cells: cells(3), available: 5, transferred: 7, ..first };
    let cell = crate::entity::StockCell { cell: 1, available: 2, transferred: -7, price: first.price, ..cell };
    let whole = |asked: i64, cell: &crate::entity::StockCell| {
        InStock::assemble(cells(asked), vec![InStock::StockCell(cell.clone()), InStock::Stock(first.clone())])
    };
    let same = crate::entity::StockCell { price_version: first.price_version, ..cell.clone() };
    let read = whole(3, &same).expect("a stock");
    assert_eq!((read.units, read.transferred, read.behind), (vec![5, 2, 0], vec![7, -7, 0], vec![]));
    let older = crate::entity::StockCell { price_version: first.price_version + 1, ..cell.clone() };
    assert_eq!(whole(3, &older).expect("a stock").behind, [1]);
    let dearer = crate::value::Money::nearest(first.price.amount() + 1, first.price.currency());
    assert_eq!(whole(3, &crate::entity::StockCell { price: dearer, ..same.clone() }).expect("a stock").behind, [1]);
    // The read may include a cell that was removed in the meantime.
    let removed = crate::entity::StockCell { cell: 3, ..same.clone() };
    assert_eq!(whole(3, &removed).expect("a stock").units, [5, 0, 0]);
    assert_eq!(whole(2, &same), Err(Some(first.clone())), "another number of cells was expected");
    assert_eq!(InStock::assemble(cells(3), vec![InStock::StockCell(same)]), Err(None), "there is no first cell");
    assert_eq!(crate::entity::StockCell::keys_of(&first.product_id, cells(3)).len(), 3);
}

#[test]
fn a_sharded_list_reads_each_shard_once() {
    let (all, placed) = (sample(), TimeRange::default());
    let orders = in_shards(3, |shard| ORDERS_OF_STATUS.ask((&all.status, &shard, &placed)));
    let shards = |list: &Query<_>| list.partition.rsplit('#').next().map(str::to_owned);
    assert!(orders.iter().filter_map(shards).eq(["0", "1", "2"]));
    let product = "teapot".parse().expect("an id");
    let lines = in_shards(3, |shard| ORDERS_OF_PRODUCT.ask((&product, &shard, &placed)));
    assert!(lines.iter().map(|list| list.partition.as_str()).eq(["p#teapot", "p#teapot#1", "p#teapot#2"]));
}
