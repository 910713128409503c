//! The shops that are explored.

use key_schema::entity::{Customer, GiftCard, Product, Stock, StockCell};
use key_schema::layout::Stored as Entity;
use key_schema::value::{Money, Quantity};
use ordering::{Basket, OrderRequest, PlaceOrder, RequestedLine};
use table::write_item;

use super::actor::now;
use super::{Left, Role, Shop};
use crate::table::{Place, Table};

/// A known bug. A law that finds none of them proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The order's header is written whether or not it is there.
    HeaderIsOverwritten,
    /// Units are taken whether or not they are there.
    StockIsNotChecked,
    /// A gift card is charged whatever it holds.
    CardIsNotChecked,
    /// A message places its order although the order was refused.
    RefusalIsForgotten,
    /// A transaction without an answer is taken for one that was cancelled.
    UnansweredIsCancelled,
}

impl Bug {
    /// Which writes lose their condition.
    pub(super) fn condition(self) -> Option<fn(&Place) -> bool> {
        match self {
            Self::HeaderIsOverwritten => Some(|place| place.0.starts_with("o#") && place.0 == place.1),
            Self::StockIsNotChecked => Some(|place| &*place.1 == "stock" || place.0.contains("thing#")),
            Self::CardIsNotChecked => Some(|place| place.0.starts_with("g#") && place.0 == place.1),
            Self::RefusalIsForgotten => Some(|place| place.0.starts_with("o#") && place.1.starts_with("queued")),
            Self::UnansweredIsCancelled => None,
        }
    }
}

/// The shops that `cargo test` explores: every state of each.
pub fn small() -> Vec<Shop> {
    vec![copies(), cells(), queue(), cards()]
}

/// The same with more that goes wrong.
pub fn large() -> Vec<Shop> {
    let more = |shop: Shop| {
        let Left { lost, late, throttles, deliveries } = shop.left;
        let deliveries = deliveries + u8::from(deliveries > 0);
        Shop { left: Left { lost: lost + 1, late: late + 1, throttles, deliveries }, ..shop }
    };
    small().into_iter().map(more).collect()
}

/// Two copies of one request and two other buyers want the last unit. One answer is lost, one transaction is late.
pub(super) fn copies() -> Shop {
    copies_of(1)
}

/// The same with so many units.
pub(super) fn copies_of(units: u64) -> Shop {
    let asks = vec![ask("ada", 1, &[]), ask("bob", 1, &[])];
    let roles = [0, 0, 1, 1].map(|ask| Role::Request { ask });
    let left = Left { lost: 1, late: 1, ..Left::default() };
    Shop::new("copies", stocked(&[units], &[]), asks, roles.into(), left)
}

/// One unit lies in one of two cells, and two orders want it. One of them is sent twice.
pub(super) fn cells() -> Shop {
    let asks = vec![ask("ada", 1, &[]), ask("bob", 1, &[])];
    let roles = [0, 1, 1].map(|ask| Role::Request { ask });
    let left = Left { lost: 1, late: 1, ..Left::default() };
    Shop::new("cells", stocked(&[1, 0], &[]), asks, roles.into(), left)
}

/// A request that waits and another buyer want the last unit, and one comes back. The message is delivered twice.
pub(super) fn queue() -> Shop {
    let asks = vec![ask("ada", 1, &[]), ask("bob", 1, &[])];
    let roles = vec![Role::RequestLater { ask: 0 }, Role::Request { ask: 1 }, Role::Restock { ask: 1 }];
    let left = Left { deliveries: 2, ..Left::default() };
    Shop::new("queue", stocked(&[1], &[]), asks, roles, left)
}

/// Two orders are to be paid with the same two gift cards. One of them empties the first card, and the other is refused.
pub(super) fn cards() -> Shop {
    let cards = ["GIFT", "MORE"];
    let asks = vec![ask("ada", 1, &cards), ask("bob", 1, &cards)];
    let roles = [0, 0, 1].map(|ask| Role::Request { ask });
    let left = Left { lost: 1, late: 1, ..Left::default() };
    Shop::new("cards", stocked(&[2], &[("GIFT", 100), ("MORE", 30)]), asks, roles.into(), left)
}

fn ask(customer: &str, quantity: i64, cards: &[&str]) -> PlaceOrder {
    let request = OrderRequest {
        lines: vec![RequestedLine {
            product_id: "thing".parse().expect("an id"),
            quantity: Quantity::try_from(quantity).expect("a quantity"),
        }],
        discount_code: None,
        gift_cards: cards.iter().map(|code| code.parse().expect("a code")).collect(),
        expected_total: None,
        max_card_amount: None,
    };
    PlaceOrder {
        customer: customer.parse().expect("an id"),
        key: "k".parse().expect("a key"),
        basket: Basket::try_from(request).expect("a basket"),
    }
}

/// A table with one product, whose units lie in these cells, these gift cards, and two customers.
fn stocked(cells: &[u64], cards: &[(&str, i64)]) -> Table {
    let mut table = Table::default();
    let product_id = || "thing".parse().expect("an id");
    for id in ["ada", "bob"] {
        insert(
            &mut table,
            &Customer {
                customer_id: id.parse().expect("an id"),
                username: id.parse().expect("a name"),
                email: format!("{id}@example.com").parse().expect("an address"),
                name: id.to_owned(),
                created_at: now(),
                version: 1,
            },
        );
    }
    insert(
        &mut table,
        &Product {
            product_id: product_id(),
            name: "The thing".to_owned(),
            description: String::new(),
            category: "things".parse().expect("a category"),
            price: eur(100),
            initial_stock: u32::try_from(cells.iter().sum::<u64>()).expect("few"),
            version: 1,
        },
    );
    let count = i64::try_from(cells.len()).expect("few").try_into().expect("a number of cells");
    for (cell, available) in (0..).zip(cells.iter().copied()) {
        if cell == 0 {
            insert(&mut table, &Stock::new(product_id(), available, eur(100), count));
        } else {
            insert(&mut table, &StockCell::new(product_id(), cell, available, eur(100)));
        }
    }
    for (code, amount) in cards {
        insert(
            &mut table,
            &GiftCard {
                code: code.parse().expect("a code"),
                balance: eur(*amount),
                initial: eur(*amount),
                created_at: now(),
            },
        );
    }
    table
}

fn insert<T: Entity>(table: &mut Table, entity: &T) {
    table.insert(entity.key().into(), write_item(entity).expect("an item"));
}

fn eur(amount: i64) -> Money {
    Money::new(amount, "EUR".to_owned().try_into().expect("a currency")).expect("an amount")
}
