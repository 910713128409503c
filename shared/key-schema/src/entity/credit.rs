//! Credits: the units of an order that were cancelled or returned, and the money for them.
//!
//! The money is made of cumulative values. The discount is divided among the lines by rounding its share of the first
//! line, of the first two lines, and so on; a line's share is the difference of two of these. The credit for some units
//! of a line is the value of all its credited units less the value of those credited before. So rounding neither loses
//! nor creates a minor unit: however an order is credited, all of its units together bring back exactly its total less
//! its shipping.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{LineTax, OrderLine};
use crate::value::{Money, ProductId, Quantity, RequestHash, Timestamp};

#[cfg(test)]
pub(super) mod tests;

/// The credited units of one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Credit {
    /// The product of the line.
    pub product_id: ProductId,
    /// The number of units that were cancelled or returned.
    pub units: u32,
    /// The price of these units before the discount, in minor units. The product's revenue is less by this amount.
    pub gross: i64,
    /// The amount credited for these units, in minor units: their price less their share of the discount, with the tax
    /// that came on top of it.
    pub amount: i64,
}

/// Money that the shop gives back without units: because something was wrong with the goods, or the price of shipping.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Allowance {
    /// The hash of the idempotency key. Absent if this is the price of shipping, which goes back with the last unit of
    /// an order that is returned as a whole.
    pub key: Option<RequestHash>,
    /// In minor units.
    pub amount: i64,
    /// The reason in words. Absent after an erasure, and of shipping.
    pub reason: Option<String>,
    pub at: Timestamp,
}

/// Some units of one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineUnits {
    /// The product of the line.
    pub product_id: ProductId,
    /// The number of units.
    pub quantity: Quantity,
}

impl LineUnits {
    /// These units in the order of an order's lines. A product that is in no line comes last.
    pub fn in_order(units: &[Self], lines: &[OrderLine]) -> Vec<Self> {
        let at = |of: &Self| lines.iter().position(|line| line.product_id == of.product_id).unwrap_or(lines.len());
        let mut units = units.to_vec();
        units.sort_by_cached_key(at);
        units
    }
}

/// A line has fewer units left than were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortfall {
    /// The product that was asked for.
    pub product_id: ProductId,
    /// The number of units that the order has left of this product: zero if it has no such line.
    pub left: u32,
}

impl Credit {
    /// The credits of an order with these lines and this discount, after `units` of each line were credited. A line
    /// without credited units has no credit.
    ///
    /// The result depends on the numbers of units alone, not on the order in which they were credited.
    pub fn of(lines: &[OrderLine], discount: Money, units: impl Fn(&ProductId) -> u32) -> Vec<Self> {
        let nets = net_amounts(lines, discount);
        let credits = lines.iter().zip(nets).map(|(line, net)| {
            let paid = net + line.tax.map_or(0, LineTax::on_top);
            let units = units(&line.product_id).min(line.quantity.get());
            Self {
                product_id: line.product_id.clone(),
                units,
                gross: line.unit_price.amount() * i64::from(units),
                amount: value_of(paid, units, line.quantity),
            }
        });
        credits.filter(|credit| credit.units > 0).collect()
    }
}

/// The amount of each line less its discount, in minor units. With the taxes of the lines that come on top, the sum is the
/// order's total less its shipping.
///
/// The discount is spread over all lines, unless the lines say what is taken off each. A line that does not is then one
/// without a discount.
pub fn net_amounts(lines: &[OrderLine], discount: Money) -> Vec<i64> {
    let amounts: Vec<_> = lines.iter().map(|line| line.amount.amount()).collect();
    let shares = if lines.iter().any(|line| line.discount.is_some()) {
        lines.iter().map(|line| line.discount.map_or(0, Money::amount)).collect()
    } else {
        shares(discount, &amounts)
    };
    amounts.iter().zip(shares).map(|(amount, share)| amount - share).collect()
}

/// The share of each of these amounts in a discount that is spread over them, in minor units. A share is at most its amount,
/// and the shares add up to the discount, if that is at most the sum of the amounts.
pub fn shares(discount: Money, amounts: &[i64]) -> Vec<i64> {
    let sum: i128 = amounts.iter().copied().map(i128::from).sum();
    let (mut gross, mut spread) = (0, 0);
    let of_each = amounts.iter().map(|amount| {
        gross += i128::from(*amount);
        let share = share_of(discount, gross, sum) - spread;
        spread += share;
        share
    });
    of_each.collect()
}

/// The part of the discount that falls on `gross` of `subtotal`, rounded half to even, as the discount itself is.
fn share_of(discount: Money, gross: i128, subtotal: i128) -> i64 {
    if subtotal == 0 {
        return 0;
    }
    let (whole, rest) =
        (i128::from(discount.amount()) * gross / subtotal, i128::from(discount.amount()) * gross % subtotal);
    let up = 2 * rest > subtotal || (2 * rest == subtotal && whole % 2 == 1);
    // At most the discount, which is an i64.
    i64::try_from(whole + i128::from(up)).unwrap_or(i64::MAX)
}

/// The value of `units` out of a line of `quantity` for which this amount was paid, rounded down.
fn value_of(paid: i64, units: u32, quantity: Quantity) -> i64 {
    let value = i128::from(paid) * i128::from(units) / i128::from(quantity.get());
    // At most `paid`, which is an i64.
    i64::try_from(value).unwrap_or(i64::MAX)
}
