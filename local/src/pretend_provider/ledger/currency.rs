//! The currencies that Stripe charges cards in, and their amounts. <https://docs.stripe.com/currencies>

use payments::stripe::amount::CURRENCIES;

use super::{Form, Refused};

/// The currencies without a smaller unit. `isk` and `ugx` have none either, but their amounts are written with two decimals.
const ZERO_DECIMAL: &str = "bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf";

/// The currencies whose amounts have two decimals that must be 0.
const WHOLE: [&str; 2] = ["isk", "ugx"];

/// The currencies with three decimals, of which the last one must be 0.
const THREE_DECIMAL: [&str; 5] = ["bhd", "jod", "kwd", "omr", "tnd"];

/// The least amounts that Stripe charges a card with, in minor units, of the currencies whose least amount is not
/// [`LEAST`]. <https://docs.stripe.com/currencies#minimum-and-maximum-charge-amounts>
const LEAST_OF: [(&str, i64); 14] = [
    ("aed", 200),
    ("bgn", 100),
    ("czk", 1500),
    ("dkk", 250),
    ("gbp", 30),
    ("hkd", 400),
    ("huf", 17_500),
    ("mxn", 1000),
    ("myr", 200),
    ("nok", 300),
    ("pln", 200),
    ("ron", 200),
    ("sek", 300),
    ("thb", 1000),
];

/// The least amount of the other currencies, such as EUR, USD, CHF and JPY.
const LEAST: i64 = 50;

/// The largest amount that Stripe charges, in minor units.
const MOST: i64 = 99_999_999;

/// The number in this field. `None` if there is no such field.
pub(super) fn number(form: &Form, field: &str) -> Result<Option<i64>, Refused> {
    form.get(field).map(|text| text.parse().map_err(|_| Refused::not_an_integer(text))).transpose()
}

/// The amount, if Stripe takes it in this currency.
pub(super) fn checked(amount: i64, currency: &str) -> Result<i64, Refused> {
    if amount <= 0 {
        return Err(Refused::not_an_integer(&amount.to_string()));
    }
    if WHOLE.contains(&currency) && amount % 100 != 0 {
        let message = format!("An amount in {currency} must be a multiple of 100.");
        return Err(Refused::early(400, Some("invalid_charge_amount_no_decimal_compatible"), message));
    }
    if THREE_DECIMAL.contains(&currency) && amount % 10 != 0 {
        return Err(Refused::not_an_integer(&format!(
            "{amount} (the last digit of an amount in {currency} must be 0)"
        )));
    }
    Ok(amount)
}

/// The amount and the currency that a card is to be charged with.
pub(super) fn charge(form: &Form) -> Result<(i64, &str), Refused> {
    let currency = form.get("currency").ok_or_else(|| Refused::parameter_missing("currency"))?;
    if !CURRENCIES.split(' ').any(|charged| charged == currency) {
        let message = format!("Invalid currency: {currency}. Stripe currently supports these currencies: {CURRENCIES}");
        return Err(Refused::early(400, None, message));
    }
    let amount = number(form, "amount")?.ok_or_else(|| Refused::parameter_missing("amount"))?;
    let amount = checked(amount, currency)?;
    let least = LEAST_OF.iter().find(|(name, _)| name == currency).map_or(LEAST, |(_, least)| *least);
    let refused = |code: &'static str, relation: &str, limit: i64| {
        let limit = shown(limit, currency);
        Err(Refused::early(400, Some(code), format!("Amount must be {relation} {limit}")))
    };
    match amount {
        _ if amount < least => refused("amount_too_small", "at least", least),
        _ if amount > MOST => refused("amount_too_large", "no more than", MOST),
        _ => Ok((amount, currency)),
    }
}

/// An amount in minor units, as a person reads it.
pub(in super::super) fn shown(amount: i64, currency: &str) -> String {
    let decimals = match currency {
        _ if ZERO_DECIMAL.split(' ').any(|zero| zero == currency) => return format!("{amount} {currency}"),
        _ if THREE_DECIMAL.contains(&currency) => 3,
        _ => 2,
    };
    let unit = 10_i64.pow(decimals);
    format!("{}.{:0width$} {currency}", amount / unit, amount % unit, width = decimals as usize)
}
