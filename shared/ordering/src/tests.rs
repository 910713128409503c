//! The laws of a quote, over any shop and any basket.

use key_schema::entity::{Customer, Discount, GiftCard, OrderLine, Payment, Product, Stock, WholeStock};
use key_schema::value::{Cells, Currency, Money, OrderId, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::{Basket, BasketError, Found, OrderRequest, Quote, RequestedLine};

fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("an amount")
}

fn now() -> Timestamp {
    "2026-11-21T09:30:00Z".parse().expect("a time")
}

/// A shop with these prices and gift-card balances, a discount code, and everything in stock.
fn shop(prices: &[i64], cards: &[i64], percent: Option<i64>) -> (OrderRequest, Found) {
    let id = |prefix: char, at: usize| format!("{prefix}{at}");
    let mut found = Found {
        customer: Some(Customer {
            customer_id: "ada".parse().expect("an id"),
            username: "ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
            name: "Ada".to_owned(),
            created_at: now(),
            version: 1,
        }),
        ..Found::default()
    };
    let mut request = OrderRequest {
        lines: vec![],
        discount_code: None,
        gift_cards: vec![],
        expected_total: None,
        max_card_amount: None,
    };
    for (at, price) in prices.iter().enumerate() {
        let product_id: key_schema::value::ProductId = id('p', at).parse().expect("an id");
        let product = Product {
            product_id: product_id.clone(),
            name: "A thing".to_owned(),
            description: String::new(),
            category: "things".parse().expect("a category"),
            price: eur(*price),
            initial_stock: 10_000,
            version: 1,
        };
        found.products.insert(product_id.clone(), product);
        let stock = Stock::new(product_id.clone(), 10_000, eur(*price), Cells::ONE);
        found.stock.insert(product_id.clone(), stock);
        let quantity = i64::try_from(at % 7 + 1).expect("small").try_into().expect("a quantity");
        request.lines.push(RequestedLine { product_id, quantity });
    }
    for (at, balance) in cards.iter().enumerate() {
        let code: key_schema::value::GiftCardCode = id('g', at).parse().expect("a code");
        let card = GiftCard { code: code.clone(), balance: eur(*balance), initial: eur(*balance), created_at: now() };
        found.gift_cards.insert(code.clone(), card);
        request.gift_cards.push(code);
    }
    if let Some(percent) = percent {
        let code: key_schema::value::DiscountCode = "d0".parse().expect("a code");
        found.discount = Some(Discount {
            code: code.clone(),
            percent: percent.try_into().expect("a percentage"),
            from: None,
            to: None,
            max_uses: None,
            uses: 0,
            created_at: now(),
        });
        request.discount_code = Some(code);
    }
    (request, found)
}

fn sum(amounts: impl Iterator<Item = Money>) -> i64 {
    amounts.map(Money::amount).sum()
}

proptest! {
    /// Lines less discount = gift cards plus card, to the minor unit.
    #[test]
    fn totals_always_add_up(
        prices in vec(0i64..2_000_000, 1..=40),
        cards in vec(1i64..5_000_000, 0..=4),
        percent in proptest::option::of(1i64..=100),
    ) {
        let (request, found) = shop(&prices, &cards, percent);
        let basket = Basket::try_from(request).expect("a basket");
        let quote = Quote::of(&basket, &found, now()).expect("everything is there");

        let lines = sum(quote.lines.iter().map(|line| line.amount));
        let paid = sum(quote.payments.iter().map(Payment::amount));
        prop_assert_eq!(quote.subtotal.amount(), lines);
        prop_assert_eq!(quote.total.amount(), lines - quote.discount.amount());
        prop_assert_eq!(paid, quote.total.amount());
        prop_assert!(quote.payments.iter().all(|payment| !payment.amount().is_zero()), "nobody pays nothing");
    }

    /// No gift card pays more than it holds, and the bank card pays only once all of them are empty.
    #[test]
    fn gift_cards_are_never_overdrawn_and_go_first(
        prices in vec(0i64..2_000, 1..=5), cards in vec(1i64..5_000, 1..=4),
    ) {
        let (request, found) = shop(&prices, &cards, None);
        let basket = Basket::try_from(request).expect("a basket");
        let quote = Quote::of(&basket, &found, now()).expect("everything is there");

        let mut emptied = 0;
        for payment in &quote.payments {
            match payment {
                Payment::GiftCard { code, amount, .. } => {
                    let balance = found.gift_cards[code].balance;
                    prop_assert!(amount.amount() <= balance.amount());
                    emptied += usize::from(*amount == balance);
                }
                Payment::Card { .. } => prop_assert_eq!(emptied, cards.len()),
            }
        }
    }
}

#[test]
fn what_one_transaction_cannot_hold_is_too_large() {
    let (request, _) = shop(&[1; 41], &[], None);
    assert!(matches!(Basket::try_from(request), Err(BasketError::TooLarge(_))));
    let (request, _) = shop(&[1], &[1; 5], None);
    assert!(matches!(Basket::try_from(request), Err(BasketError::TooLarge(_))));
    let (request, _) = shop(&[1; 40], &[1; 4], Some(1));
    assert!(Basket::try_from(request).is_ok());
}

#[test]
fn nothing_and_the_same_thing_twice_are_no_baskets() {
    let (mut request, _) = shop(&[1], &[1], None);
    request.gift_cards.push(request.gift_cards[0].clone());
    assert!(matches!(Basket::try_from(request.clone()), Err(BasketError::Invalid(_))));
    request.gift_cards.pop();
    request.lines.push(request.lines[0].clone());
    assert!(matches!(Basket::try_from(request.clone()), Err(BasketError::Invalid(_))));
    request.lines.clear();
    assert!(matches!(Basket::try_from(request), Err(BasketError::Invalid(_))));
}

#[test]
fn spaces_and_absent_options_do_not_make_another_request() {
    let hash = |json: &str| {
        let request: OrderRequest = serde_json::from_str(json).expect("a request");
        Basket::try_from(request).expect("a basket").hash().clone()
    };
    let plain = hash(r#"{"lines":[{"productId":"a","quantity":1}]}"#);
    assert_eq!(
        plain,
        hash(r#"{"giftCards": [], "lines": [ {"quantity": 1, "productId": "a"} ], "discountCode": null}"#)
    );
    assert_ne!(plain, hash(r#"{"lines":[{"productId":"a","quantity":2}]}"#));
}

/// The figures of docs/decisions.md, "A hot stock is divided into cells": 8,000 units in 8 cells are sold one at a
/// time.
#[test]
fn hardly_an_order_finds_its_cell_empty_while_the_first_has_enough() {
    let (mut looks, mut fails) = (0, 0);
    let (_, mut found) = shop(&[100], &[], None);
    let (product, first) = found.stock.iter().next().map(|(id, stock)| (id.clone(), stock.clone())).expect("a stock");
    let mut whole =
        WholeStock::shared_out(product.clone(), first.price, 8_000, 8.try_into().expect("a number of cells"));
    for at in 0..8_000 {
        let order = OrderId::of(&"ada".parse().expect("an id"), &at.to_string().parse().expect("a key"));
        let line = OrderLine {
            product_id: product.clone(),
            name: String::new(),
            quantity: 1.try_into().expect("a quantity"),
            unit_price: first.price,
            amount: first.price,
        };
        found.stock.insert(product.clone(), whole.first());
        found.cells.clear();
        let unseen = found.cell_of(&order, &line).expect("its own");
        let is_scarce = whole.units[0] < 1;
        let is_empty = whole.units[usize::from(unseen)] < 1;
        if is_scarce || is_empty {
            looks += 1;
            fails += usize::from(!is_scarce);
            found.cells.insert(product.clone(), whole.clone());
        }
        let cell = found.cell_of(&order, &line).expect("there is one left");
        whole.units[usize::from(cell)] -= 1;
    }
    assert_eq!(whole.available(), 0);
    assert_eq!((fails, looks), (90, 116));
}

#[test]
fn an_order_takes_two_units_for_each_write_and_one_for_each_entry_of_an_index() {
    let units = |prices: &[i64], cards: &[i64], percent| {
        let units = Basket::try_from(shop(prices, cards, percent).0).expect("a basket").write_units();
        let mut indexes: Vec<_> = units.indexes.into_iter().collect();
        indexes.sort_by(|(a, _), (b, _)| a.cmp(b));
        (units.table, indexes)
    };
    let entries = |count: f64| vec![("GSI1".to_owned(), count), ("GSI2".to_owned(), count)];
    // Header and invoice; of each line the item and the stock; of a code its uses; of a gift card its balance and its entry.
    assert_eq!(units(&[100], &[], None), (8.0, entries(3.0)));
    assert_eq!(units(&[100, 200, 300], &[], Some(10)), (18.0, entries(5.0)));
    assert_eq!(units(&[100, 200], &[5, 6], None), (20.0, entries(4.0)));
}
