//! What the discount codes of an order take off, computed without I/O.

use key_schema::entity::{CodeUse, OrderLine, Rejection, shares};
use key_schema::value::{Category, Money, Timestamp};

use crate::OrderRequest;
use crate::found::Found;

/// The discounts of an order.
pub(crate) struct Discounts {
    /// What all codes take off together.
    pub(crate) total: Money,
    /// What each of them takes off, in the order in which they apply.
    pub(crate) codes: Vec<CodeUse>,
}

impl Discounts {
    /// The discounts of these lines, whose sum is `subtotal`. If the order has several codes, or one of a category, each line
    /// is told what is taken off it. Otherwise its share follows from the total, as in every release.
    ///
    /// The category of a product is the one that was read. The transaction does not check it.
    pub(crate) fn of(
        request: &OrderRequest,
        found: &Found,
        lines: &mut [OrderLine],
        subtotal: Money,
        now: Timestamp,
    ) -> Result<Self, Rejection> {
        let currency = subtotal.currency();
        let sum = |amounts: Vec<i64>| Money::new(amounts.iter().sum(), currency).ok_or(Rejection::TooExpensive);
        let amounts: Vec<_> = lines.iter().map(|line| line.amount.amount()).collect();
        let mut left = amounts.clone();
        let mut codes = Vec::new();
        let (is_only, mut is_of_all) = (request.codes().nth(1).is_none(), true);
        for code in request.codes() {
            let invalid = || Rejection::DiscountInvalid { code: code.clone() };
            let discount = found.discounts.get(code).ok_or_else(invalid)?;
            is_of_all &= discount.category.is_none();
            let is_in = |line: &OrderLine, category: &Category| {
                found.products.get(&line.product_id).is_some_and(|product| product.category == *category)
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
