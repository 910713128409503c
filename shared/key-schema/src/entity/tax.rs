//! Tax: the rates, and the tax of each line of an order.
//!
//! The tax of a line is computed from the line's amount less its share of the discount, and rounded to the minor unit by
//! itself. The tax of a rate is the sum over its lines. So the lines, the rates and the order add up, and each line of an
//! invoice can be checked by itself.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::OrderLine;
use super::credit::net_amounts;
use crate::value::{Category, Country, Currency, Invalid, Money, Timestamp};

#[cfg(test)]
mod tests;

/// A tax rate in hundredths of a percent: 1900 is 19 %. At most 100 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "i64")]
#[schema(value_type = u32, minimum = 0, maximum = 10_000, example = 1900)]
pub struct TaxRate(u16);

impl TaxRate {
    /// 100 %.
    const WHOLE: i128 = 10_000;

    /// The tax of this amount, which includes it or not.
    pub fn tax(self, amount: Money, prices: Prices) -> LineTax {
        let tax = match prices {
            Prices::IncludeTax => self.included_in(amount.amount()),
            Prices::ExcludeTax => self.on(amount.amount()),
        };
        // At most the amount.
        let amount = Money::nearest(tax, amount.currency());
        LineTax { rate: self, amount, added: prices == Prices::ExcludeTax, by_engine: false }
    }

    /// The tax in an amount that includes it, in minor units, rounded half to even.
    fn included_in(self, amount: i64) -> i64 {
        let rate = i128::from(self.0);
        rounded(i128::from(amount) * rate, Self::WHOLE + rate)
    }

    /// The tax on an amount, in minor units, rounded half to even.
    fn on(self, amount: i64) -> i64 {
        rounded(i128::from(amount) * i128::from(self.0), Self::WHOLE)
    }
}

impl TryFrom<i64> for TaxRate {
    type Error = Invalid;

    fn try_from(number: i64) -> Result<Self, Invalid> {
        let rate = u16::try_from(number).ok().filter(|rate| i128::from(*rate) <= Self::WHOLE);
        rate.map(Self).ok_or_else(|| Invalid::new("a tax rate must be 0 to 10000 hundredths of a percent"))
    }
}

/// The rate as people write it: `19 %`, `5.5 %`.
impl fmt::Display for TaxRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hundredths = format!("{}.{:02}", self.0 / 100, self.0 % 100);
        write!(f, "{} %", hundredths.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// `dividend / divisor`, rounded half to even. The quotient is at most an amount of money, and so an `i64`.
fn rounded(dividend: i128, divisor: i128) -> i64 {
    let (whole, rest) = (dividend / divisor, dividend % divisor);
    let up = 2 * rest > divisor || (2 * rest == divisor && whole % 2 == 1);
    i64::try_from(whole + i128::from(up)).unwrap_or(i64::MAX)
}

/// The tax of one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineTax {
    /// The rate.
    pub rate: TaxRate,
    /// The tax on the line's amount less its share of the discount.
    pub amount: Money,
    /// Whether the tax comes on top of the prices. If not, the prices include it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub added: bool,
    /// Whether an outside tax engine said the amount. Its rate may be finer than `rate`, which is then rounded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_engine: bool,
}

impl LineTax {
    /// The part of the tax that comes on top of the line's amount, in minor units.
    pub fn on_top(self) -> i64 {
        if self.added { self.amount.amount() } else { 0 }
    }

    /// Whether this is the tax of this amount at its rate, or one that an outside engine can say: at most the amount.
    pub fn is_right_for(self, amount: Money) -> bool {
        let prices = if self.added { Prices::ExcludeTax } else { Prices::IncludeTax };
        if self.by_engine {
            self.amount.checked_min(amount) == Some(self.amount)
        } else {
            self == self.rate.tax(amount, prices)
        }
    }
}

/// The tax of all lines of one rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Tax)]
pub struct RateTax {
    /// The rate.
    pub rate: TaxRate,
    /// The amount that is taxed: the lines of this rate less the discount, without the tax.
    pub net: Money,
    /// The tax.
    pub tax: Money,
}

impl RateTax {
    /// The part of this that falls on an amount with its tax, in minor units.
    pub(super) fn part(self, amount: i64) -> Self {
        let (net, tax) = (i128::from(self.net.amount()), i128::from(self.tax.amount()));
        let tax = if net + tax == 0 { 0 } else { rounded(tax * i128::from(amount), net + tax) };
        let money = |amount| Money::nearest(amount, self.net.currency());
        Self { rate: self.rate, net: money(amount - tax), tax: money(tax) }
    }
}

/// Whether the shop's prices include tax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prices {
    /// The customer pays the prices as they are.
    IncludeTax,
    /// Tax comes on top.
    ExcludeTax,
}

/// The tax rates of the shop, as staff write them. There is one such item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taxes {
    /// The rates, a country each. An order to another country is not taxed.
    pub countries: Vec<CountryTaxes>,
    pub updated_at: Timestamp,
    /// The number of times the rates were written, which is the `ETag`.
    pub version: u64,
}

/// The tax rates of one country.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CountryTaxes {
    /// The country.
    pub country: Country,
    /// The rate of shipping, and of all categories that are not listed.
    pub standard: TaxRate,
    /// The rates of other categories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 100)]
    pub categories: Vec<CategoryTax>,
}

/// The tax rate of one category in one country.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CategoryTax {
    /// The category of the products.
    pub category: Category,
    /// The rate.
    pub rate: TaxRate,
}

impl Taxes {
    /// The rates of a country; `None` if the shop has none for it.
    pub fn of(&self, country: &Country) -> Option<&CountryTaxes> {
        self.countries.iter().find(|taxes| taxes.country == *country)
    }
}

impl CountryTaxes {
    /// The rate of a category.
    pub fn rate(&self, category: &Category) -> TaxRate {
        let other = self.categories.iter().find(|other| other.category == *category);
        other.map_or(self.standard, |other| other.rate)
    }
}

/// The taxes of lines, and of shipping if it has a price and a tax: a rate each, the lowest first.
pub(super) fn by_rate(lines: &[OrderLine], discount: Money, shipping: Option<(Money, LineTax)>) -> Vec<RateTax> {
    let of_lines =
        lines.iter().zip(net_amounts(lines, discount)).filter_map(|(line, amount)| Some((amount, line.tax?)));
    let of_shipping = shipping.map(|(price, tax)| (price.amount(), tax));
    let mut sums: BTreeMap<TaxRate, (i64, i64)> = BTreeMap::new();
    for (amount, tax) in of_lines.chain(of_shipping) {
        let included = tax.amount.amount() - tax.on_top();
        let (net, sum) = sums.entry(tax.rate).or_default();
        *net += amount - included;
        *sum += tax.amount.amount();
    }
    let money = |amount| Money::nearest(amount, discount.currency());
    sums.into_iter().map(|(rate, (net, tax))| RateTax { rate, net: money(net), tax: money(tax) }).collect()
}

/// Puts its tax on each line: `rates` has the rate of each, in the order of the lines. `None` if the taxes exceed the greatest
/// amount of money.
pub fn tax_lines(lines: &mut [OrderLine], discount: Money, rates: &[TaxRate], prices: Prices) -> Option<()> {
    let nets = net_amounts(lines, discount);
    for ((line, rate), amount) in lines.iter_mut().zip(rates).zip(nets) {
        line.tax = Some(rate.tax(Money::new(amount, discount.currency())?, prices));
    }
    let sum = lines.iter().filter_map(|line| line.tax).try_fold(0_i64, |sum, tax| sum.checked_add(tax.on_top()))?;
    Money::new(sum, discount.currency()).map(|_| ())
}

/// The tax of lines and shipping that comes on top of the prices; `None` if there is none, or if the sum exceeds the greatest
/// amount of money.
pub fn tax_on_top(lines: &[OrderLine], shipping: Option<LineTax>, currency: Currency) -> Option<Money> {
    let taxes = lines.iter().filter_map(|line| line.tax).chain(shipping);
    let added: Vec<LineTax> = taxes.filter(|tax| tax.added).collect();
    let sum = added.iter().try_fold(0_i64, |sum, tax| sum.checked_add(tax.on_top()))?;
    if added.is_empty() { None } else { Money::new(sum, currency) }
}

/// The lines whose tax is not that of their rate.
pub fn wrongly_taxed(lines: &[OrderLine], discount: Money) -> impl Iterator<Item = &OrderLine> {
    let nets = net_amounts(lines, discount);
    lines.iter().zip(nets).filter_map(move |(line, amount)| {
        let amount = Money::nearest(amount, discount.currency());
        line.tax.filter(|tax| !tax.is_right_for(amount)).map(|_| line)
    })
}
