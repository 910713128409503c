//! Several discount codes, and codes of a category.

use key_schema::entity::net_amounts;
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

proptest! {
    /// Each code takes off what the codes before have left of its lines, and no more. What the lines say is taken off them is
    /// what the codes take off.
    #[test]
    fn the_discounts_of_several_codes_add_up(
        prices in vec(0i64..2_000_000, 1..=40),
        codes in vec((any::<bool>(), 1i64..3_000_000, proptest::option::of(0usize..2)), 1..=3),
        tax in proptest::option::of(any::<bool>()),
    ) {
        let (mut order, mut items) = shop(&prices, &[], None);
        let category = |at: usize| ["cups", "pots"][at].parse().expect("a category");
        for (at, product) in items.products.values_mut().enumerate() {
            product.category = category(at % 2);
        }
        let applies = |code: &(bool, i64, Option<usize>), items: &ItemsRead| {
            items.products.values().any(|product| code.2.is_none_or(|at| product.category == category(at)))
        };
        for (at, code) in codes.iter().enumerate() {
            let (is_percent, amount, of) = *code;
            let discount = discount(&format!("d{at}"), if is_percent { amount % 100 + 1 } else { 1 });
            let reduction = if is_percent { discount.reduction } else { Reduction::Amount(eur(amount)) };
            let code = discount.code.clone();
            let discount = Discount { reduction, category: of.map(category), combinable: true, ..discount };
            items.discounts.insert(code.clone(), discount);
            order.discount_codes.push(code);
        }
        items.taxes = tax.map(|_| taxes(1900));
        let prices = tax.map(|includes| if includes { Prices::IncludeTax } else { Prices::ExcludeTax });
        let rules = prices.map_or(TaxRules::default(), |prices| TaxRules::new(germany(), prices));
        let basket = Basket::try_from(order).expect("a basket");
        let quote = Quote::of(&basket, &items, &rules, now());
        if !codes.iter().all(|code| applies(code, &items)) {
            let is_invalid = matches!(quote, Err(Rejection::DiscountInvalid { .. }));
            prop_assert!(is_invalid, "a code of which the order has no line");
            return Ok(());
        }
        let quote = quote.expect("everything is there");
        prop_assert_eq!(sum(quote.codes.iter().map(|used| used.amount)), quote.discount.amount());
        let says = codes.len() > 1 || codes[0].2.is_some();
        let of_lines = sum(quote.lines.iter().filter_map(|line| line.discount));
        prop_assert_eq!(of_lines, if says { quote.discount.amount() } else { 0 });
        for line in &quote.lines {
            let off = line.discount.map_or(0, Money::amount);
            prop_assert!((0..=line.amount.amount()).contains(&off));
            let category = &items.products[&line.product_id].category;
            let is_reduced = items.discounts.values().any(|code| code.category.as_ref().is_none_or(|of| of == category));
            prop_assert!(off == 0 || is_reduced, "a line of which no code is");
        }
        prop_assert!(net_amounts(&quote.lines, quote.discount).iter().all(|net| *net >= 0));
        let tax = quote.tax.map_or(0, Money::amount);
        prop_assert_eq!(quote.total.amount(), quote.subtotal.amount() - quote.discount.amount() + tax);
    }
}

#[test]
fn codes_are_combined_only_if_all_of_them_may_be() {
    let names = || ["d1", "d2"].map(|code| code.parse().expect("a code"));
    let combined = |combinable: [bool; 2]| {
        quoted(|order, items| {
            for (code, combinable) in ["d1", "d2"].into_iter().zip(combinable) {
                let discount = Discount { combinable, ..discount(code, 50) };
                items.discounts.insert(discount.code.clone(), discount);
            }
            (order.discount_code, order.discount_codes) = (None, names().into());
        })
    };
    let both = combined([true, true]).expect("both may be");
    let amounts: Vec<_> = both.codes.iter().map(|used| used.amount.amount() * 1000 / both.subtotal.amount()).collect();
    assert_eq!(amounts, [500, 250], "the second one takes off a half of what the first one has left");
    let [first, second] = names();
    assert_eq!(combined([true, false]), Err(Rejection::DiscountInvalid { code: second }));
    assert_eq!(combined([false, true]), Err(Rejection::DiscountInvalid { code: first }));
}

#[test]
fn a_request_names_its_codes_in_one_field_and_each_once() {
    let basket = |one: Option<&str>, several: &[&str]| {
        let (mut order, _) = shop(&[1], &[], None);
        order.discount_code = one.map(|code| code.parse().expect("a code"));
        order.discount_codes = several.iter().map(|code| code.parse().expect("a code")).collect();
        Basket::try_from(order)
    };
    assert!(basket(None, &["A", "B", "C"]).is_ok());
    assert!(matches!(basket(None, &["A", "B", "C", "D"]), Err(BasketError::TooLarge(_))));
    assert!(matches!(basket(None, &["A", "A"]), Err(BasketError::Invalid(_))));
    assert!(matches!(basket(Some("A"), &["B"]), Err(BasketError::Invalid(_))));
}
