//! A price with tiers.

use rust_decimal::Decimal;
use serde::Deserialize;

/// A price for a number of units, possibly with tiers.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "Stated")]
pub struct Price {
    usd: Decimal,
    per: Decimal,
    tiers: Vec<Tier>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Stated {
    usd: Decimal,
    per: Decimal,
    #[serde(default)]
    tiers: Vec<Tier>,
    #[expect(dead_code, reason = "it is for readers of the list, and a test checks it")]
    source: String,
}

/// The price of `per` units above this number.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tier {
    beyond: Decimal,
    usd: Decimal,
}

impl Price {
    /// The cost of this many units in a month, over all tiers, not rounded.
    pub fn of(&self, quantity: Decimal) -> Decimal {
        let (mut cost, mut from, mut usd) = (Decimal::ZERO, Decimal::ZERO, self.usd);
        for tier in self.tiers.iter().take_while(|tier| tier.beyond < quantity) {
            cost += (tier.beyond - from) * usd;
            (from, usd) = (tier.beyond, tier.usd);
        }
        (cost + (quantity - from) * usd) / self.per
    }
}

impl TryFrom<Stated> for Price {
    type Error = String;

    fn try_from(stated: Stated) -> Result<Self, String> {
        let Stated { usd, per, tiers, .. } = stated;
        if per <= Decimal::ZERO {
            return Err(format!("a price for {per} units says nothing"));
        }
        if std::iter::once(usd).chain(tiers.iter().map(|tier| tier.usd)).any(|usd| usd < Decimal::ZERO) {
            return Err("a price is negative".to_owned());
        }
        if !tiers.is_sorted_by(|one, next| one.beyond < next.beyond)
            || tiers.iter().any(|tier| tier.beyond < Decimal::ZERO)
        {
            return Err("each tier begins beyond the one before".to_owned());
        }
        Ok(Self { usd, per, tiers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    fn price(text: &str) -> Price {
        read(text).unwrap()
    }

    fn dollars(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn numbers_are_read_as_they_stand() {
        let price = price("{ usd: 0.0000133334, per: 1, source: x }");
        assert_eq!(price.of(dollars("1000000")), dollars("13.3334"));
    }

    #[test]
    fn a_tier_is_for_what_is_beyond_it() {
        let price =
            price("{ usd: 1.00, per: 1000, source: x, tiers: [{ beyond: 2000, usd: 0.5 }, { beyond: 4000, usd: 0 }] }");
        for (quantity, cost) in [("0", "0"), ("2000", "2"), ("3000", "2.5"), ("4000", "3"), ("9000", "3")] {
            assert_eq!(price.of(dollars(quantity)), dollars(cost), "{quantity}");
        }
    }
}
