//! Stripe's minor units, which are not everywhere those of ISO 4217.
//!
//! <https://docs.stripe.com/currencies#zero-decimal>, <https://docs.stripe.com/currencies#special-cases>

use key_schema::value::{Currency, Money};

/// The currencies in which Stripe charges cards.
pub const CURRENCIES: &str = "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd bwp byn \
    bzd cad cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd hkd hnl htg huf \
    idr ils inr isk jmd jod jpy kes kgs khr kmf krw kwd kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mur mvr mwk \
    mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos \
    srd std szl thb tjs tnd top try ttd twd tzs uah ugx usd uyu uzs vnd vuv wst xaf xcd xcg xof xpf yer zar zmw";

/// Stripe writes two decimals for currencies that have none: 5 ISK is 500, and only multiples of 100 are charged.
const HUNDREDTHS: [&str; 2] = ["ISK", "UGX"];

/// Stripe writes no decimals for a currency that has two in ISO 4217.
const WHOLE: [&str; 1] = ["MGA"];

/// Stripe takes amounts with three decimals only if the last one is 0.
const TENTHS: [&str; 5] = ["BHD", "JOD", "KWD", "OMR", "TND"];

/// Whether Stripe charges every amount in this currency. Discounts and taxes make any amount of a price.
pub(crate) fn is_charged(currency: Currency) -> bool {
    let name = currency.to_string();
    let is_charged = CURRENCIES.split(' ').any(|charged| charged.eq_ignore_ascii_case(&name));
    is_charged && !WHOLE.contains(&&*name) && !TENTHS.contains(&&*name)
}

/// The amount as Stripe writes it. `None` if Stripe does not charge this amount in this currency.
pub(super) fn to_stripe(money: Money) -> Option<i64> {
    let (amount, currency) = (money.amount(), money.currency().to_string());
    let is_one_of = |currencies: &[&str]| currencies.contains(&currency.as_str());
    match () {
        () if is_one_of(&HUNDREDTHS) => amount.checked_mul(100),
        () if is_one_of(&WHOLE) => (amount % 100 == 0).then_some(amount / 100),
        () if is_one_of(&TENTHS) => (amount % 10 == 0).then_some(amount),
        () => Some(amount),
    }
}

/// The amount that Stripe writes so, in minor units of ISO 4217. `None` if it is negative or too great.
pub(super) fn from_stripe(amount: i64, currency: &str) -> Option<Money> {
    // Stripe spells currencies in lower case.
    let name = currency.to_ascii_uppercase();
    let is_one_of = |currencies: &[&str]| currencies.contains(&name.as_str());
    let amount = match () {
        () if is_one_of(&HUNDREDTHS) => amount / 100,
        () if is_one_of(&WHOLE) => amount.checked_mul(100)?,
        () => amount,
    };
    Money::new(amount, Currency::try_from(name).ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn money(amount: i64, currency: &str) -> Money {
        Money::new(amount, Currency::try_from(currency.to_owned()).expect("a currency")).expect("an amount")
    }

    #[test]
    fn an_amount_is_written_in_the_minor_units_of_stripe_and_read_back() {
        for (amount, currency, expected) in [
            (1999, "EUR", Some(1999)),
            (500, "JPY", Some(500)),
            (5, "ISK", Some(500)),
            (5, "UGX", Some(500)),
            (700, "MGA", Some(7)),
            (701, "MGA", None),
            (1230, "KWD", Some(1230)),
            (1234, "KWD", None),
        ] {
            let money = money(amount, currency);
            assert_eq!(to_stripe(money), expected, "{money}");
            if let Some(written) = expected {
                assert_eq!(from_stripe(written, &currency.to_ascii_lowercase()), Some(money));
            }
        }
        let charged = ["EUR", "JPY", "ISK", "MGA", "KWD", "IRR"].map(|name| is_charged(money(0, name).currency()));
        assert_eq!(charged, [true, true, true, false, false, false]);
        for (amount, currency) in [(-1, "eur"), (i64::MIN, "isk"), (i64::MAX, "mga"), (i64::MAX, "eur"), (1, "e")] {
            assert_eq!(from_stripe(amount, currency), None, "{amount} {currency}");
        }
    }
}
