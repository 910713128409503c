//! The initial data of the shops.

use key_schema::entity::{Customer, Discount, GiftCard, Product, Reduction, Stock, StockCell};
use key_schema::layout::Stored as Entity;
use key_schema::value::{Money, Quantity};
use ordering::{Basket, NewOrder, OrderRequest, RequestedLine};
use table::write_item;

use super::actor::now;
use crate::table::Table;

/// An order of this many things, paid with these gift cards.
pub(super) fn request(customer: &str, quantity: i64, cards: &[&str]) -> OrderRequest {
    request_with(customer, quantity, cards, None)
}

pub(super) fn request_with_code(customer: &str, code: &str) -> OrderRequest {
    request_with(customer, 1, &[], Some(code))
}

fn request_with(customer: &str, quantity: i64, cards: &[&str], code: Option<&str>) -> OrderRequest {
    let order = NewOrder {
        lines: vec![RequestedLine {
            product_id: "thing".parse().expect("an id"),
            quantity: Quantity::try_from(quantity).expect("a quantity"),
        }],
        discount_code: code.map(|code| code.parse().expect("a code")),
        gift_cards: cards.iter().map(|code| code.parse().expect("a code")).collect(),
        expected_total: None,
        max_card_amount: None,
        pay_later: false,
        ship_to: None,
        cart: None,
        discount_codes: vec![],
        shipping_method: None,
    };
    OrderRequest {
        customer: customer.parse().expect("an id"),
        key: "k".parse().expect("a key"),
        basket: Basket::try_from(order).expect("a basket"),
    }
}

/// A table with one product with these cells, these gift cards, and two customers.
pub(super) fn stocked(cells: &[u64], cards: &[(&str, i64)]) -> Table {
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
                erased_at: None,
                guests: vec![],
            },
        );
    }
    insert(
        &mut table,
        &Product {
            initial_stock: u32::try_from(cells.iter().sum::<u64>()).expect("few"),
            ..Product::new(product_id(), "The thing".to_owned(), "things".parse().expect("a category"), eur(100))
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
        insert(&mut table, &GiftCard::new(code.parse().expect("a code"), eur(*amount), now()));
    }
    table
}

/// Adds a discount code that one order may use, and that makes it free.
pub(super) fn with_code(mut table: Table, code: &str) -> Table {
    insert(
        &mut table,
        &Discount {
            code: code.parse().expect("a code"),
            reduction: Reduction::Percent(100.try_into().expect("a percentage")),
            min_subtotal: None,
            category: None,
            combinable: false,
            from: None,
            to: None,
            max_uses: Some(1),
            uses: 0,
            held_by_guests: 0,
            revoked: false,
            version: 1,
            created_at: now(),
        },
    );
    table
}

fn insert<T: Entity>(table: &mut Table, entity: &T) {
    table.insert(entity.key().into(), write_item(entity).expect("an item"));
}

fn eur(amount: i64) -> Money {
    Money::new(amount, "EUR".to_owned().try_into().expect("a currency")).expect("an amount")
}
