//! Money: whole minor units of a currency, never a float.

use std::fmt;

use iso_currency::Currency as IsoCurrency;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Invalid, Percent};

/// The greatest amount: the greatest integer that every JSON client reads exactly (2^53 - 1).
const MOST: i64 = (1 << 53) - 1;

/// The greatest amount of a price, of a gift card's balance or of an order's total: 10^12 minor units.
///
/// The sum of nine million orders of this amount fits into an `i64`. Greater amounts from before this limit existed can
/// still be read.
pub const MOST_CHARGED: i64 = 1_000_000_000_000;

/// An amount of money, in minor units (cents): never negative, at most 2^53 - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "Unchecked", deny_unknown_fields)]
pub struct Money {
    /// The amount in minor units.
    #[schema(minimum = 0, maximum = 9_007_199_254_740_991i64, example = 1999)]
    amount: i64,
    currency: Currency,
}

/// Money before validation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    amount: i64,
    currency: Currency,
}

impl TryFrom<Unchecked> for Money {
    type Error = Invalid;

    fn try_from(Unchecked { amount, currency }: Unchecked) -> Result<Self, Invalid> {
        Self::new(amount, currency).ok_or_else(|| Invalid::new(format!("amount must be 0 to {MOST}, in minor units")))
    }
}

/// An amount of money that the shop may charge, in minor units (cents): at most 10^12.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(try_from = "Money", deny_unknown_fields)]
pub struct Charge {
    /// The amount in minor units.
    #[schema(minimum = 0, maximum = 1_000_000_000_000i64, example = 1999)]
    amount: i64,
    currency: Currency,
}

impl TryFrom<Money> for Charge {
    type Error = Invalid;

    fn try_from(money: Money) -> Result<Self, Invalid> {
        let refused = || Invalid::new(format!("amount must be at most {MOST_CHARGED}, in minor units"));
        let Money { amount, currency } = money;
        money.is_chargeable().then_some(Self { amount, currency }).ok_or_else(refused)
    }
}

impl From<Charge> for Money {
    fn from(Charge { amount, currency }: Charge) -> Self {
        Self { amount, currency }
    }
}

impl Money {
    /// Whether the shop may charge this amount: it is at most [`MOST_CHARGED`].
    pub fn is_chargeable(self) -> bool {
        self.amount <= MOST_CHARGED
    }

    /// `amount` minor units; `None` if it is negative or greater than 2^53 - 1.
    pub fn new(amount: i64, currency: Currency) -> Option<Self> {
        (0..=MOST).contains(&amount).then_some(Self { amount, currency })
    }

    /// `amount` minor units, or the nearest valid amount.
    pub fn nearest(amount: i64, currency: Currency) -> Self {
        Self { amount: amount.clamp(0, MOST), currency }
    }

    /// Zero in a currency.
    pub fn zero(currency: Currency) -> Self {
        Self { amount: 0, currency }
    }

    /// The amount in minor units.
    pub fn amount(self) -> i64 {
        self.amount
    }

    pub fn currency(self) -> Currency {
        self.currency
    }

    /// Whether the amount is zero.
    pub fn is_zero(self) -> bool {
        self.amount == 0
    }

    /// The sum; `None` if it exceeds the greatest amount or the currencies differ.
    pub fn checked_add(self, other: Self) -> Option<Self> {
        (self.currency == other.currency).then(|| Self::new(self.amount + other.amount, self.currency))?
    }

    /// The difference; `None` if it is negative or the currencies differ.
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        (self.currency == other.currency).then(|| Self::new(self.amount - other.amount, self.currency))?
    }

    /// The product; `None` if it exceeds the greatest amount.
    pub fn checked_mul(self, times: u32) -> Option<Self> {
        Self::new(self.amount.checked_mul(times.into())?, self.currency)
    }

    /// The percentage of this amount, rounded half to even to the minor unit.
    #[must_use]
    pub fn percent(self, percent: Percent) -> Self {
        // At most 2^53 x 100, which is less than 2^63.
        let hundredths = self.amount * i64::from(percent.get());
        let (whole, rest) = (hundredths / 100, hundredths % 100);
        let up = rest > 50 || (rest == 50 && whole % 2 == 1);
        Self { amount: whole + i64::from(up), currency: self.currency }
    }

    /// The smaller of the two amounts; `None` if the currencies differ.
    pub fn checked_min(self, other: Self) -> Option<Self> {
        (self.currency == other.currency).then_some(if self.amount <= other.amount { self } else { other })
    }
}

impl Money {
    /// The amount in its currency's major unit, such as `19.99 EUR`. If ISO 4217 knows no minor unit of the currency, the
    /// amount stays in minor units, and says so.
    pub fn written(self) -> String {
        let (number, currency) = (self.amount, self.currency.to_string());
        match IsoCurrency::from_code(&currency).and_then(IsoCurrency::exponent) {
            None => self.to_string(),
            Some(0) => format!("{number} {currency}"),
            Some(decimals) => {
                let (unit, width) = (10_i64.pow(decimals.into()), usize::from(decimals));
                format!("{}.{:0width$} {currency}", number / unit, number % unit)
            }
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (minor units)", self.amount, self.currency)
    }
}

/// A currency: three capital letters, as in ISO 4217.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "String", into = "String")]
#[schema(value_type = String, pattern = "^[A-Z]{3}$", example = "EUR")]
pub struct Currency([u8; 3]);

impl TryFrom<String> for Currency {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        match <[u8; 3]>::try_from(text.as_bytes()) {
            Ok(letters) if letters.iter().all(u8::is_ascii_uppercase) => Ok(Self(letters)),
            _ => Err(Invalid::new("currency must be three capital letters, like EUR")),
        }
    }
}

impl From<Currency> for String {
    fn from(currency: Currency) -> Self {
        currency.0.map(char::from).iter().collect()
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|letter| write!(f, "{}", char::from(*letter)))
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
pub(crate) fn eur(amount: i64) -> Money {
    Money::nearest(amount, Currency(*b"EUR"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn half_a_cent_is_rounded_to_even() {
        let half = Percent::try_from(50).expect("a percentage");
        assert_eq!([1, 3, 5, 7].map(|amount| eur(amount).percent(half).amount()), [0, 2, 2, 4]);
    }

    proptest! {
        #[test]
        fn a_percentage_is_rounded_by_at_most_half_a_unit(amount in 0..=MOST, percent in 1i64..=100) {
            let share = eur(amount).percent(Percent::try_from(percent).expect("a percentage")).amount();
            let off = (i128::from(share) * 100 - i128::from(amount) * i128::from(percent)).abs();
            prop_assert!(off <= 50 && share <= amount);
        }

        #[test]
        fn subtraction_undoes_addition(a in 0..MOST, b in 0..MOST) {
            match eur(a).checked_add(eur(b)) {
                Some(sum) => prop_assert_eq!(sum.checked_sub(eur(b)), Some(eur(a))),
                None => prop_assert!(a + b > MOST),
            }
        }
    }

    #[test]
    fn amounts_in_different_currencies_cannot_be_combined() {
        let dollars = Money::zero(Currency(*b"USD"));
        assert_eq!(eur(1).checked_add(dollars), None);
        assert_eq!(eur(1).checked_sub(dollars), None);
        assert_eq!(eur(1).checked_min(dollars), None);
    }

    #[test]
    fn an_amount_is_from_zero_to_2_to_the_53_minus_1() {
        let euro = Currency(*b"EUR");
        let new = |amount| Money::new(amount, euro).map(Money::amount);
        let most = 9_007_199_254_740_991;
        assert_eq!([-1, 0, most, most + 1].map(new), [None, Some(0), Some(most), None]);
        assert_eq!([-1, 7, i64::MAX].map(|amount| Money::nearest(amount, euro).amount()), [0, 7, most]);
        assert_eq!((eur(0).is_zero(), eur(1).is_zero(), Money::zero(euro)), (true, false, eur(0)));
        assert_eq!(eur(7).to_string(), "7 EUR (minor units)");
    }

    #[test]
    fn an_amount_over_the_limit_cannot_be_charged() {
        for (amount, is_chargeable) in [(0, true), (1_000_000_000_000, true), (1_000_000_000_001, false)] {
            assert_eq!(eur(amount).is_chargeable(), is_chargeable);
            assert_eq!(Charge::try_from(eur(amount)).map(Money::from).ok(), is_chargeable.then_some(eur(amount)));
        }
    }

    #[test]
    fn sums_differences_and_products_stay_money() {
        let euro = Currency(*b"EUR");
        assert_eq!((eur(5).checked_sub(eur(5)), eur(5).checked_sub(eur(6))), (Some(eur(0)), None));
        assert_eq!((eur(MOST).checked_add(eur(0)), eur(MOST).checked_add(eur(1))), (Some(eur(MOST)), None));
        assert_eq!((eur(5).checked_mul(3), eur(MOST).checked_mul(2)), (Some(eur(15)), None));
        assert_eq!(eur(MOST).checked_mul(u32::MAX), None, "the product exceeds an i64");
        assert_eq!((eur(5).checked_min(eur(6)), eur(6).checked_min(eur(5))), (Some(eur(5)), Some(eur(5))));
        assert_eq!(eur(5).currency(), euro);
    }

    #[test]
    fn a_currency_is_three_capital_letters() {
        let currency = |text: &str| Currency::try_from(text.to_owned());
        assert_eq!(currency("EUR").map(String::from), Ok("EUR".to_owned()));
        assert_eq!(format!("{0} {0:?}", Currency(*b"EUR")), "EUR EUR");
        for text in ["", "EU", "EURO", "eur", "EU1", "E\u{dc}"] {
            assert!(currency(text).is_err(), "{text}");
        }
    }
}
