//! Invariants of a quote, for any shop and any basket.

mod codes;
mod rates;

use key_schema::entity::{
    Customer, Discount, GiftCard, OrderLine, Payment, Prices, Product, Reduction, Rejection, Stock, WholeStock,
    tax_on_top,
};
use key_schema::value::{Cells, Currency, Money, OrderId, ProductId, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

use self::rates::{germany, ship, taxes};
use crate::{Basket, BasketError, ItemsRead, NewOrder, Quote, RequestedLine, TaxRules};

pub(crate) fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("an amount")
}

pub(crate) fn now() -> Timestamp {
    "2026-11-21T09:30:00Z".parse().expect("a time")
}

/// A shop with these prices and gift-card balances, a discount code, and 10,000 units of every product, and a request
/// for all of them.
pub(crate) fn shop(prices: &[i64], cards: &[i64], percent: Option<i64>) -> (NewOrder, ItemsRead) {
    let id = |prefix: char, at: usize| format!("{prefix}{at}");
    let mut items = ItemsRead {
        customer: Some(Customer {
            customer_id: "ada".parse().expect("an id"),
            username: "ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
            name: "Ada".to_owned(),
            created_at: now(),
            version: 1,
            erased_at: None,
            guests: Vec::new(),
        }),
        ..ItemsRead::default()
    };
    let mut order = NewOrder {
        lines: vec![],
        discount_code: None,
        gift_cards: vec![],
        expected_total: None,
        max_card_amount: None,
        pay_later: false,
        ship_to: None,
        cart: None,
        discount_codes: vec![],
        shipping_method: None,
    };
    for (at, price) in prices.iter().enumerate() {
        let product_id: key_schema::value::ProductId = id('p', at).parse().expect("an id");
        let category = "things".parse().expect("a category");
        let product = Product {
            initial_stock: 10_000,
            ..Product::new(product_id.clone(), "A thing".to_owned(), category, eur(*price))
        };
        items.products.insert(product_id.clone(), product);
        let stock = Stock::new(product_id.clone(), 10_000, eur(*price), Cells::ONE);
        items.stock.insert(product_id.clone(), stock);
        let quantity = i64::try_from(at % 7 + 1).expect("small").try_into().expect("a quantity");
        order.lines.push(RequestedLine { product_id, quantity });
    }
    for (at, balance) in cards.iter().enumerate() {
        let code: key_schema::value::GiftCardCode = id('g', at).parse().expect("a code");
        let card = GiftCard::new(code.clone(), eur(*balance), now());
        items.gift_cards.insert(code.clone(), card);
        order.gift_cards.push(code);
    }
    if let Some(percent) = percent {
        let discount = discount("d0", percent);
        order.discount_code = Some(discount.code.clone());
        items.discounts.insert(discount.code.clone(), discount);
    }
    (order, items)
}

/// A code of all lines, for one code alone.
fn discount(code: &str, percent: i64) -> Discount {
    Discount {
        code: code.parse().expect("a code"),
        reduction: Reduction::Percent(percent.try_into().expect("a percentage")),
        category: None,
        min_subtotal: None,
        combinable: false,
        from: None,
        to: None,
        max_uses: None,
        uses: 0,
        held_by_guests: 0,
        revoked: false,
        version: 1,
        created_at: now(),
    }
}

fn sum(amounts: impl Iterator<Item = Money>) -> i64 {
    amounts.map(Money::amount).sum()
}

proptest! {
    /// Lines less discount, with the tax on top, equals gift cards plus bank card, to the minor unit.
    #[test]
    fn totals_always_add_up(
        prices in vec(0i64..2_000_000, 1..=40),
        cards in vec(1i64..5_000_000, 0..=4),
        percent in proptest::option::of(1i64..=100),
        tax in proptest::option::of((0i64..=10_000, any::<bool>())),
    ) {
        let (order, mut items) = shop(&prices, &cards, percent);
        items.taxes = tax.map(|(rate, _)| taxes(rate));
        let prices = tax.map(|(_, includes)| if includes { Prices::IncludeTax } else { Prices::ExcludeTax });
        let rules = prices.map_or(TaxRules::default(), |prices| TaxRules::new(germany(), prices));
        let basket = Basket::try_from(order).expect("a basket");
        let quote = Quote::of(&basket, &items, &rules, now()).expect("everything is there");

        let lines = sum(quote.lines.iter().map(|line| line.amount));
        let paid = sum(quote.payments.iter().map(Payment::amount));
        prop_assert_eq!(quote.subtotal.amount(), lines);
        let tax = quote.tax.map_or(0, Money::amount);
        prop_assert_eq!(quote.total.amount(), lines - quote.discount.amount() + tax);
        prop_assert_eq!(quote.tax, tax_on_top(&quote.lines, quote.shipping_tax, quote.total.currency()));
        prop_assert_eq!(quote.tax.is_some(), prices == Some(Prices::ExcludeTax));
        prop_assert!(quote.lines.iter().all(|line| line.tax.is_some() == prices.is_some()));
        prop_assert_eq!(paid, quote.total.amount());
        prop_assert!(quote.payments.iter().all(|payment| !payment.amount().is_zero()), "no payment is zero");
    }

    /// Lines less discount plus shipping equals gift cards plus bank card, whatever the rates are.
    #[test]
    fn totals_with_shipping_always_add_up(
        prices in vec(0i64..2_000_000, 1..=40),
        cards in vec(1i64..5_000_000, 0..=4),
        percent in proptest::option::of(1i64..=100),
        (by_weight, rate, free_from, grams) in (any::<bool>(), 0i64..10_000, proptest::option::of(0i64..3_000_000), 0i64..9_000),
        saved: bool,
    ) {
        let (mut order, mut items) = shop(&prices, &cards, percent);
        ship(&mut order, &mut items, by_weight, rate, free_from, grams, saved);
        let basket = Basket::try_from(order).expect("a basket");
        let quote = Quote::of(&basket, &items, &TaxRules::default(), now()).expect("everything is there");

        let goods = sum(quote.lines.iter().map(|line| line.amount)) - quote.discount.amount();
        let shipping = quote.shipping.expect("a price").amount();
        prop_assert_eq!(shipping, if free_from.is_some_and(|from| goods >= from) { 0 } else { rate });
        prop_assert_eq!(quote.total.amount(), goods + shipping);
        prop_assert_eq!(sum(quote.payments.iter().map(Payment::amount)), goods + shipping);
        prop_assert_eq!(quote.address.map(|address| address.city), Some("Berlin".to_owned()));
    }

    /// No gift card pays more than its balance, and the bank card pays only after all gift cards are used up.
    #[test]
    fn gift_cards_are_never_overdrawn_and_go_first(
        prices in vec(0i64..2_000, 1..=5), cards in vec(1i64..5_000, 1..=4),
    ) {
        let (order, items) = shop(&prices, &cards, None);
        let basket = Basket::try_from(order).expect("a basket");
        let quote = Quote::of(&basket, &items, &TaxRules::default(), now()).expect("everything is there");

        let mut emptied = 0;
        for payment in &quote.payments {
            match payment {
                Payment::GiftCard { code, amount, .. } => {
                    let balance = items.gift_cards[code].balance;
                    prop_assert!(amount.amount() <= balance.amount());
                    emptied += usize::from(*amount == balance);
                }
                Payment::Card { .. } => prop_assert_eq!(emptied, cards.len()),
            }
        }
    }
}

#[test]
fn a_request_that_exceeds_one_transaction_is_too_large() {
    let (order, _) = shop(&[1; 41], &[], None);
    assert!(matches!(Basket::try_from(order), Err(BasketError::TooLarge(_))));
    let (order, _) = shop(&[1], &[1; 5], None);
    assert!(matches!(Basket::try_from(order), Err(BasketError::TooLarge(_))));
    let (order, _) = shop(&[1; 40], &[1; 4], Some(1));
    assert!(Basket::try_from(order).is_ok());
}

#[test]
fn a_basket_has_lines_and_no_product_or_gift_card_twice() {
    let (mut order, _) = shop(&[1], &[1], None);
    order.gift_cards.push(order.gift_cards[0].clone());
    assert!(matches!(Basket::try_from(order.clone()), Err(BasketError::Invalid(_))));
    order.gift_cards.pop();
    order.lines.push(order.lines[0].clone());
    assert!(matches!(Basket::try_from(order.clone()), Err(BasketError::Invalid(_))));
    order.lines.clear();
    assert!(matches!(Basket::try_from(order), Err(BasketError::Invalid(_))));
}

#[test]
fn spaces_and_absent_options_do_not_change_the_hash() {
    let hash = |json: &str| {
        let order: NewOrder = serde_json::from_str(json).expect("an order");
        Basket::try_from(order).expect("a basket").hash().clone()
    };
    let plain = hash(r#"{"lines":[{"productId":"a","quantity":1}]}"#);
    assert_eq!(
        plain,
        hash(r#"{"giftCards": [], "lines": [ {"quantity": 1, "productId": "a"} ], "discountCode": null}"#)
    );
    assert_ne!(plain, hash(r#"{"lines":[{"productId":"a","quantity":2}]}"#));
}

/// Computes the figures of docs/decisions.md, "A hot stock is divided into cells": 8,000 units in 8 cells are sold one
/// at a time.
#[test]
fn few_orders_find_their_cell_empty_while_the_first_cell_has_units() {
    let (mut full_reads, mut failed_attempts) = (0, 0);
    let (_, mut items) = shop(&[100], &[], None);
    let (product, first) = items.stock.iter().next().map(|(id, stock)| (id.clone(), stock.clone())).expect("a stock");
    let mut whole =
        WholeStock::shared_out(product.clone(), first.price, 8_000, 8.try_into().expect("a number of cells"));
    for at in 0..8_000 {
        let order = OrderId::of(&"ada".parse().expect("an id"), &at.to_string().parse().expect("a key"));
        let one = 1.try_into().expect("a quantity");
        let line = OrderLine::new(product.clone(), String::new(), one, first.price, first.price);
        items.stock.insert(product.clone(), whole.first());
        items.cells.clear();
        let own = items.cell_of(&order, &line).expect("its own cell");
        let first_is_empty = whole.units[0] < 1;
        let own_is_empty = whole.units[usize::from(own)] < 1;
        if first_is_empty || own_is_empty {
            full_reads += 1;
            failed_attempts += usize::from(!first_is_empty);
            items.cells.insert(product.clone(), whole.clone());
        }
        let cell = items.cell_of(&order, &line).expect("there is one left");
        whole.units[usize::from(cell)] -= 1;
    }
    assert_eq!(whole.available(), 0);
    assert_eq!((failed_attempts, full_reads), (90, 116));
}

#[test]
fn an_order_takes_two_write_units_for_each_write_and_one_for_each_index_entry() {
    let units = |prices: &[i64], cards: &[i64], percent| {
        let units = Basket::try_from(shop(prices, cards, percent).0).expect("a basket").write_units();
        let mut indexes: Vec<_> = units.indexes.into_iter().collect();
        indexes.sort_by(|(a, _), (b, _)| a.cmp(b));
        (units.table, indexes)
    };
    let entries = |count: f64| vec![("GSI1".to_owned(), count), ("GSI2".to_owned(), count)];
    // Header and invoice; item and stock of each line; the uses of a discount code; balance and entry of a gift card.
    assert_eq!(units(&[100], &[], None), (8.0, entries(3.0)));
    assert_eq!(units(&[100, 200, 300], &[], Some(10)), (18.0, entries(5.0)));
    assert_eq!(units(&[100, 200], &[5, 6], None), (20.0, entries(4.0)));
}

/// Two lines of one unit and of two, a code of 10 %, and a gift card: 1,000 + 2 * 2,000 - 500 = 4,500, of which the
/// gift card pays 500.
fn quoted(change: impl FnOnce(&mut NewOrder, &mut ItemsRead)) -> Result<Quote, Rejection> {
    let (mut order, mut items) = shop(&[1000, 2000], &[500], Some(10));
    change(&mut order, &mut items);
    Quote::of(&Basket::try_from(order).expect("a basket"), &items, &TaxRules::default(), now())
}

fn usd(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("USD".to_owned()).expect("a currency")).expect("an amount")
}

#[test]
fn a_quote_that_exceeds_a_limit_of_its_customer_is_refused() {
    let quote = quoted(|_, _| {}).expect("a quote");
    assert_eq!([quote.subtotal, quote.discount, quote.total], [eur(5000), eur(500), eur(4500)]);
    assert!(!quote.codes[0].counted);
    assert!(quoted(|order, _| order.expected_total = Some(eur(4500))).is_ok());
    for expected in [eur(4499), eur(4501), usd(4500)] {
        let refused = Rejection::PriceChanged { total: eur(4500), card: None };
        assert_eq!(quoted(|order, _| order.expected_total = Some(expected)), Err(refused));
    }
    // The bank card pays what the gift card leaves: 4,000.
    assert!(quoted(|order, _| order.max_card_amount = Some(eur(4000))).is_ok());
    for most in [eur(3999), usd(9000)] {
        let refused = Rejection::PriceChanged { total: eur(4500), card: Some(eur(4000)) };
        assert_eq!(quoted(|order, _| order.max_card_amount = Some(most)), Err(refused));
    }
    // A queued order costs no more than its limit.
    assert_eq!(quote.clone().at_most(None).as_ref(), Ok(&quote));
    assert_eq!(quote.clone().at_most(Some(eur(4500))).as_ref(), Ok(&quote));
    for most in [eur(4499), usd(9000)] {
        let refused = Rejection::PriceChanged { total: eur(4500), card: None };
        assert_eq!(quote.clone().at_most(Some(most)), Err(refused));
    }
}

#[test]
fn an_order_is_refused_if_something_it_needs_is_missing_or_too_expensive() {
    let product = |at: usize| format!("p{at}").parse().expect("an id");
    assert_eq!(quoted(|_, items| items.customer = None), Err(Rejection::UnknownCustomer));
    let unknown = Err(Rejection::UnknownProduct { line: 1, product: product(1) });
    assert_eq!(quoted(|_, items| drop(items.products.remove(&product(1)))), unknown);
    assert_eq!(quoted(|_, items| drop(items.stock.remove(&product(1)))), unknown);
    let left =
        |units: u64| quoted(move |_, items| items.stock.get_mut(&product(1)).expect("a stock").available = units);
    assert!(left(2).is_ok());
    assert_eq!(left(1), Err(Rejection::OutOfStock { line: 1, product: product(1), available: 1 }));
    let in_dollars = quoted(|_, items| items.stock.get_mut(&product(1)).expect("a stock").price = usd(1));
    assert_eq!(in_dollars, Err(Rejection::MixedCurrencies { line: 1 }));
    let dear = quoted(|_, items| items.stock.get_mut(&product(0)).expect("a stock").price = eur(1_000_000_000_000));
    assert_eq!(dear, Err(Rejection::TooExpensive));
}

#[test]
fn an_order_is_out_of_stock_only_if_all_cells_were_read() {
    let product: ProductId = "p1".parse().expect("an id");
    let whole = |units: Vec<u64>| {
        let cells = i64::try_from(units.len()).expect("few").try_into().expect("a number of cells");
        WholeStock { units, ..WholeStock::shared_out(product.clone(), eur(2000), 0, cells) }
    };
    let in_cells = |units: Vec<u64>, are_seen: bool| {
        quoted(|_, items| {
            items.stock.insert(product.clone(), whole(units.clone()).first());
            if are_seen {
                items.add_cells(whole(units));
            }
        })
    };
    assert!(in_cells(vec![0, 0], false).is_ok(), "the other cell was not read");
    assert!(in_cells(vec![1, 1], true).is_ok());
    assert_eq!(
        in_cells(vec![1, 0], true),
        Err(Rejection::OutOfStock { line: 1, product: product.clone(), available: 1 })
    );
}

#[test]
fn a_discount_code_applies_in_its_window_while_it_has_uses_left() {
    let code = || "d0".parse().expect("a code");
    let discount = |change: fn(&mut Discount)| {
        quoted(|order, items| {
            order.discount_code = Some(code());
            change(items.discounts.get_mut(&code()).expect("a code"));
        })
    };
    let limited = discount(|it| (it.max_uses, it.uses) = (Some(2), 1)).expect("one use is left");
    assert!(limited.codes[0].counted);
    assert_eq!(limited.discount, eur(500));
    let unasked = quoted(|order, items| {
        order.discount_code = None;
        items.discounts.get_mut(&code()).expect("a code").max_uses = Some(2);
    });
    assert!(unasked.is_ok_and(|quote| quote.codes.is_empty() && quote.discount == eur(0)));
    let exhausted = discount(|it| (it.max_uses, it.uses) = (Some(2), 2));
    assert_eq!(exhausted, Err(Rejection::DiscountExhausted { code: code() }));
    assert_eq!(discount(|it| it.to = Some(now())), Err(Rejection::DiscountInvalid { code: code() }));
    let unknown = quoted(|order, items| {
        order.discount_code = Some(code());
        items.discounts.clear();
    });
    assert_eq!(unknown, Err(Rejection::DiscountInvalid { code: code() }));
}

#[test]
fn the_bank_card_pays_for_an_empty_gift_card_only_if_the_request_limits_its_amount() {
    let code = || "g0".parse().expect("a code");
    let card = |balance: Money, most: Option<Money>| {
        quoted(move |order, items| {
            items.gift_cards.get_mut(&code()).expect("a card").balance = balance;
            order.max_card_amount = most;
        })
    };
    assert_eq!(card(eur(0), None), Err(Rejection::GiftCardBalance { code: code() }));
    assert!(card(eur(0), Some(eur(4500))).is_ok_and(|quote| quote.payments.len() == 1));
    assert!(card(eur(4500), None).is_ok_and(|quote| quote.payments.len() == 1));
    assert_eq!(card(usd(500), None), Err(Rejection::GiftCardInvalid { code: code() }));
    let unknown = quoted(|_, items| drop(items.gift_cards.remove(&code())));
    assert_eq!(unknown, Err(Rejection::GiftCardInvalid { code: code() }));
}
