//! The prices, the discount and the payments of an order, computed without I/O.

use std::collections::HashMap;

use key_schema::entity::{
    Address, CardPayment, ChosenMethod, CodeUse, CustomerStats, Destination, LineTax, OfferedMethod, OrderLine,
    OrderStatus, Payment, PaymentStatus, Rejection, TaxRate, shares, tax_lines, tax_on_top, weight_of,
};
use key_schema::value::{Category, Money, Timestamp};

use super::read::ItemsRead;
use super::request::{Basket, NewOrder};
use super::tax_engine::TaxRequest;
use crate::settings::{Taxed, TaxedBy};
use crate::{MaxOpenUnits, TaxRules};

#[cfg(test)]
pub(crate) mod tests;

/// The amounts of an order. `subtotal` is the sum of the lines, `total` is `subtotal` less `discount` plus `shipping` and the
/// `tax` on top, and the payments add up to `total`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quote {
    /// The lines, in the order of the request.
    pub lines: Vec<OrderLine>,
    /// The sum of the lines.
    pub subtotal: Money,
    /// The amount that the discount codes take off.
    pub discount: Money,
    /// The discount codes, in the order in which they apply. Their amounts add up to `discount`.
    pub codes: Vec<CodeUse>,
    /// The tax of shipping.
    pub shipping_tax: Option<LineTax>,
    /// The tax of lines and shipping that comes on top of the prices. `None` if they include it.
    pub tax: Option<Money>,
    /// The price of shipping. `None` if the order has no address, or the shop no shipping rates.
    pub shipping: Option<Money>,
    /// The method by which the order is shipped, exactly if there is a price of shipping.
    pub shipping_method: Option<ChosenMethod>,
    /// The methods from which to choose.
    pub shipping_methods: Vec<OfferedMethod>,
    /// The address to which the order is shipped.
    pub address: Option<Address>,
    /// The amount to pay.
    pub total: Money,
    /// The payments. None of them is zero: an order with a total of zero has no payments.
    pub payments: Vec<Payment>,
}

impl Quote {
    /// The quote for a basket, from the items that were read.
    ///
    /// # Errors
    /// The first reason why the order cannot be placed. The transaction checks everything again.
    pub fn of(basket: &Basket, items: &ItemsRead, rules: &TaxRules, now: Timestamp) -> Result<Self, Rejection> {
        if items.has_customer(now) {
            Self::for_anybody(basket, items, rules, now)
        } else {
            Err(Rejection::UnknownCustomer)
        }
    }

    /// The quote for a basket, whoever orders it.
    ///
    /// # Errors
    /// The first reason why nobody can order it.
    pub(crate) fn for_anybody(
        basket: &Basket,
        items: &ItemsRead,
        rules: &TaxRules,
        now: Timestamp,
    ) -> Result<Self, Rejection> {
        let order = basket.order();
        is_of_cart(order, items, now)?;
        let mut goods = Goods::of(order, items, now)?;
        let shipping_tax = goods.tax(items, rules)?;
        let Goods { lines, subtotal, discount, codes, net: goods, address, shipping, shipping_methods, .. } = goods;
        let (shipping, shipping_method) = shipping.map(|chosen| (chosen.price, chosen.into())).unzip();
        let tax = tax_on_top(&lines, shipping_tax, goods.currency());
        let mut more = [shipping, tax].into_iter().flatten();
        let total = more.try_fold(goods, Money::checked_add);
        let total = total.filter(|total| total.is_chargeable()).ok_or(Rejection::TooExpensive)?;
        if order.expected_total.is_some_and(|expected| expected != total) {
            return Err(Rejection::PriceChanged { total, card: None });
        }
        let payments = payments(order, items, total, now)?;
        Ok(Self {
            lines,
            subtotal,
            discount,
            codes,
            shipping_tax,
            tax,
            shipping,
            shipping_method,
            shipping_methods,
            address,
            total,
            payments,
        })
    }

    /// The request to the shop's tax engine about the basket. `None` if there is no engine, or no quote whatever it responds.
    pub(crate) fn tax_request(
        basket: &Basket,
        items: &ItemsRead,
        rules: &TaxRules,
        now: Timestamp,
    ) -> Option<TaxRequest> {
        // Only a shop with an engine computes its goods for the request.
        let rules = rules.taxed().filter(|rules| rules.by == TaxedBy::Engine)?;
        Some(Goods::of(basket.order(), items, now).ok()?.tax_request(items, rules))
    }

    /// The quote, if its total is at most `max_total`.
    ///
    /// # Errors
    /// The price has changed.
    pub(crate) fn at_most(self, max_total: Option<Money>) -> Result<Self, Rejection> {
        match max_total {
            Some(most) if !is_within(self.total, most) => {
                Err(Rejection::PriceChanged { total: self.total, card: None })
            }
            _ => Ok(self),
        }
    }

    /// The quote, if the customer with these stats may place its order under the cap of open units.
    ///
    /// # Errors
    /// The customer would have too many open units.
    pub(crate) fn within(self, max: MaxOpenUnits, stats: Option<&CustomerStats>) -> Result<Self, Rejection> {
        if OrderStatus::when_placed(&self.payments).is_open() {
            max.admits(self.units(), stats)?;
        }
        Ok(self)
    }

    /// The number of units of all lines together. At most 40 lines of 10,000 units.
    pub(crate) fn units(&self) -> u32 {
        self.lines.iter().map(|line| line.quantity.get()).sum()
    }
}

fn is_within(amount: Money, most: Money) -> bool {
    amount.checked_min(most) == Some(amount)
}

fn lines(order: &NewOrder, items: &ItemsRead) -> Result<(Vec<OrderLine>, Money), Rejection> {
    let recalled = items.recalled(order);
    if !recalled.is_empty() {
        return Err(Rejection::Recalled { products: recalled });
    }
    let mut lines = Vec::with_capacity(order.lines.len());
    let mut subtotal: Option<Money> = None;
    for (line, asked) in order.lines.iter().enumerate() {
        let id = &asked.product_id;
        let (Some(product), Some(stock)) = (items.products.get(id), items.stock.get(id)) else {
            return Err(Rejection::UnknownProduct { line, product: id.clone() });
        };
        if let Some(available) = items.available(id).filter(|available| *available < asked.quantity.get().into()) {
            return Err(Rejection::OutOfStock { line, product: id.clone(), available });
        }
        // The price in the stock, not in the product: the transaction checks that one.
        let amount = stock.price.checked_mul(asked.quantity.get()).ok_or(Rejection::TooExpensive)?;
        let sum = subtotal.unwrap_or(Money::zero(amount.currency()));
        if sum.currency() != amount.currency() {
            return Err(Rejection::MixedCurrencies { line });
        }
        subtotal = Some(sum.checked_add(amount).ok_or(Rejection::TooExpensive)?);
        lines.push(OrderLine {
            image: product.images.first().cloned(),
            attributes: product.attributes.clone(),
            ..OrderLine::new(id.clone(), product.name.clone(), asked.quantity, stock.price, amount)
        });
    }
    if subtotal.is_some_and(|subtotal| !subtotal.is_chargeable()) {
        return Err(Rejection::TooExpensive);
    }
    // A basket has at least one line.
    subtotal.map(|subtotal| (lines, subtotal)).ok_or(Rejection::TooExpensive)
}

/// An order before its taxes.
struct Goods {
    lines: Vec<OrderLine>,
    subtotal: Money,
    discount: Money,
    codes: Vec<CodeUse>,
    /// `subtotal` less `discount`.
    net: Money,
    destination: Option<Destination>,
    address: Option<Address>,
    shipping: Option<OfferedMethod>,
    shipping_methods: Vec<OfferedMethod>,
}

impl Goods {
    fn of(order: &NewOrder, items: &ItemsRead, now: Timestamp) -> Result<Self, Rejection> {
        let (mut lines, subtotal) = lines(order, items)?;
        let Discounts { total: discount, codes } = Discounts::of(order, items, &mut lines, subtotal, now)?;
        let net = subtotal.checked_sub(discount).ok_or(Rejection::TooExpensive)?;
        let named = order.ship_to.as_ref().map(|ship_to| items.destination(ship_to)).transpose();
        let (destination, address) = named.map_err(|address| Rejection::UnknownAddress { address })?.unzip();
        let (shipping, shipping_methods) = shipping(order, items, net, destination.as_ref())?;
        let address = address.flatten();
        Ok(Self { lines, subtotal, discount, codes, net, destination, address, shipping, shipping_methods })
    }

    fn price_of_shipping(&self) -> Option<Money> {
        self.shipping.as_ref().map(|chosen| chosen.price)
    }

    fn tax_request(&self, items: &ItemsRead, rules: &Taxed) -> TaxRequest {
        TaxRequest::of(rules, &self.lines, self.discount, (self.price_of_shipping(), self.destination.as_ref()), items)
    }

    /// Puts its tax on each line. Returns the tax of shipping.
    fn tax(&mut self, items: &ItemsRead, rules: &TaxRules) -> Result<Option<LineTax>, Rejection> {
        let Some(rules) = rules.taxed() else { return Ok(None) };
        if rules.by == TaxedBy::Rates {
            return self.tax_by_rates(items, rules);
        }
        // The request to the engine was made of the same items at the same moment, so its response is to this request.
        let response = items.tax_response.as_ref();
        let taxes = response.and_then(|response| response.taxes_of(&self.tax_request(items, rules)));
        let (taxes, shipping) = taxes.ok_or(Rejection::TooExpensive)?;
        for (line, tax) in self.lines.iter_mut().zip(taxes) {
            line.tax = Some(*tax);
        }
        Ok(shipping)
    }

    /// Puts its tax on each line, if the shop has rates for the country of the address, or without an address for its own.
    /// Returns the tax of shipping.
    fn tax_by_rates(&mut self, items: &ItemsRead, rules: &Taxed) -> Result<Option<LineTax>, Rejection> {
        let Some(taxes) = &items.taxes else { return Ok(None) };
        let country = self.destination.as_ref().map_or(&rules.country, |destination| &destination.country);
        let Some(taxes) = taxes.of(country) else { return Ok(None) };
        let rates = self.lines.iter().map(|line| match items.products.get(&line.product_id) {
            Some(product) => taxes.rate(&product.category),
            // Each line was made of a product.
            None => taxes.standard,
        });
        let rates: Vec<TaxRate> = rates.collect();
        tax_lines(&mut self.lines, self.discount, &rates, rules.prices).ok_or(Rejection::TooExpensive)?;
        Ok(self.price_of_shipping().map(|shipping| taxes.standard.tax(shipping, rules.prices)))
    }
}

struct Discounts {
    /// What all codes take off together.
    total: Money,
    /// What each of them takes off, in the order in which they apply.
    codes: Vec<CodeUse>,
}

impl Discounts {
    /// The discounts of these lines, whose sum is `subtotal`. If the order has several codes, or one of a category, each line
    /// is told what is taken off it. Otherwise its share follows from the total, as in every release.
    ///
    /// The category of a product is the one that was read. The transaction does not check it.
    fn of(
        order: &NewOrder,
        items: &ItemsRead,
        lines: &mut [OrderLine],
        subtotal: Money,
        now: Timestamp,
    ) -> Result<Self, Rejection> {
        let currency = subtotal.currency();
        let sum = |amounts: Vec<i64>| Money::new(amounts.iter().sum(), currency).ok_or(Rejection::TooExpensive);
        let amounts: Vec<_> = lines.iter().map(|line| line.amount.amount()).collect();
        let mut left = amounts.clone();
        let mut codes = Vec::new();
        let (is_only, mut is_of_all) = (order.codes().nth(1).is_none(), true);
        for code in order.codes() {
            let invalid = || Rejection::DiscountInvalid { code: code.clone() };
            let discount = items.discounts.get(code).ok_or_else(invalid)?;
            is_of_all &= discount.category.is_none();
            let is_in = |line: &OrderLine, category: &Category| {
                items.products.get(&line.product_id).is_some_and(|product| product.category == *category)
            };
            let applies = |at: &usize| discount.category.as_ref().is_none_or(|category| is_in(&lines[*at], category));
            let of_code: Vec<_> = (0..lines.len()).filter(applies).collect();
            if of_code.is_empty() || !(is_only || discount.combinable) {
                return Err(invalid());
            }
            let of = |amounts: &[i64]| of_code.iter().map(|at| amounts[*at]).collect::<Vec<_>>();
            let amount = discount.off(sum(of(&amounts))?, sum(of(&left))?, now)?;
            for (at, share) in of_code.iter().zip(shares(amount, &of(&left))) {
                left[*at] -= share;
            }
            codes.push(CodeUse { code: code.clone(), amount, counted: discount.is_limited() });
        }
        let off: Vec<_> = amounts.iter().zip(left).map(|(amount, left)| amount - left).collect();
        if !(is_only && is_of_all) {
            for (line, off) in lines.iter_mut().zip(&off).filter(|(_, off)| **off > 0) {
                line.discount = Money::new(*off, currency);
            }
        }
        Ok(Self { total: sum(off)?, codes })
    }
}

/// The method of shipping goods of this price to the destination, and the methods from which it was chosen.
///
/// The rates and the weights are those that were read. The transaction does not check them: all orders would meet at the
/// one item of the rates. `expectedTotal` holds the order to a quote.
fn shipping(
    order: &NewOrder,
    items: &ItemsRead,
    goods: Money,
    destination: Option<&Destination>,
) -> Result<(Option<OfferedMethod>, Vec<OfferedMethod>), Rejection> {
    let rates = items.rates.as_ref().filter(|rates| !rates.zones.is_empty());
    let (Some(Destination { country, .. }), true) = (destination, rates.is_some() || order.shipping_method.is_some())
    else {
        return Ok((None, Vec::new()));
    };
    let weights = order.lines.iter().map(|line| {
        let each = items.products.get(&line.product_id).and_then(|product| product.weight_grams);
        weight_of(line.quantity.get(), each)
    });
    let offers = rates.map_or_else(Vec::new, |rates| rates.offers(country, goods, weights.sum()));
    let wanted = &order.shipping_method;
    let chosen = offers.iter().find(|offer| wanted.as_ref().is_none_or(|wanted| offer.method_id == *wanted)).cloned();
    match chosen {
        Some(_) => Ok((chosen, offers)),
        None => Err(Rejection::NotShipped { country: country.clone(), method: wanted.clone() }),
    }
}

/// The payments. Gift cards pay first, in the order of the request, each at most its balance. The bank card pays the
/// rest.
///
/// If a gift card is empty and the bank card would have to pay instead, the order is refused, unless the request limits
/// the bank card's amount.
fn payments(order: &NewOrder, items: &ItemsRead, total: Money, now: Timestamp) -> Result<Vec<Payment>, Rejection> {
    let mut payments = Vec::new();
    let mut open = total;
    let mut empty = None;
    for code in &order.gift_cards {
        let invalid = || Rejection::GiftCardInvalid { code: code.clone() };
        let card = items.gift_cards.get(code).filter(|card| card.is_spendable(now)).ok_or_else(invalid)?;
        if card.balance.is_zero() {
            empty = empty.or(Some(code));
        }
        let amount = card.balance.checked_min(open).ok_or_else(invalid)?;
        // `amount` is at most `open`, in the same currency.
        open = open.checked_sub(amount).ok_or(Rejection::TooExpensive)?;
        if !amount.is_zero() {
            let status = PaymentStatus::Captured;
            payments.push(Payment::GiftCard { code: code.clone(), amount, status, credited: 0 });
        }
    }
    if !open.is_zero() {
        match (order.max_card_amount, empty) {
            (Some(most), _) if !is_within(open, most) => {
                return Err(Rejection::PriceChanged { total, card: Some(open) });
            }
            (None, Some(code)) => return Err(Rejection::GiftCardBalance { code: code.clone() }),
            _ => {}
        }
        payments.push(Payment::Card(CardPayment::of(open)));
    }
    Ok(payments)
}

/// Checks that the order has the lines of the cart that it names, if it names one. Otherwise products would leave the
/// cart that nobody ordered.
///
/// # Errors
/// There is no such cart now, or it has other lines.
fn is_of_cart(order: &NewOrder, items: &ItemsRead, now: Timestamp) -> Result<(), Rejection> {
    let Some(version) = order.cart else { return Ok(()) };
    let cart = items.cart.as_ref().filter(|cart| !cart.is_absent(now) && cart.is_named(version));
    let asked: HashMap<_, _> = order.lines.iter().map(|line| (&line.product_id, line.quantity)).collect();
    let is_same = cart.is_some_and(|cart| {
        // No product is in two lines, neither of an order nor of a cart.
        cart.lines.len() == asked.len()
            && cart.lines.iter().all(|line| asked.get(&line.product_id) == Some(&line.quantity))
    });
    if is_same { Ok(()) } else { Err(Rejection::CartChanged { cart: version }) }
}
