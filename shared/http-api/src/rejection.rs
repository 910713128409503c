//! Each way for an order to be rejected, by its own type and with what is at fault.

use key_schema::entity::Rejection;

use crate::{Kind, Problem};

impl From<Rejection> for Problem {
    fn from(rejection: Rejection) -> Self {
        match rejection {
            Rejection::UnknownCustomer => {
                Self::new(Kind::NotFound, "The caller has no customer profile. Sign up first: POST /customers.")
            }
            Rejection::UnknownProduct { line, product } => {
                Self::not_found("product").with("line", line).with("productId", product)
            }
            Rejection::MixedCurrencies { line } => {
                Self::new(Kind::Validation, "One order has one currency. Order this line apart.").with("line", line)
            }
            Rejection::TooExpensive => Self::new(Kind::Validation, "The order's total is beyond any amount of money."),
            Rejection::OutOfStock { line, product, available } => {
                Self::new(Kind::OutOfStock, format!("Only {available} can be had."))
                    .with("line", line)
                    .with("productId", product)
                    .with("available", available)
            }
            Rejection::PriceChanged { total, card: None } => {
                Self::new(Kind::PriceChanged, "Show the customer the new total and ask again.").with("total", total)
            }
            Rejection::PriceChanged { total, card: Some(card) } => Self::new(
                Kind::PriceChanged,
                "The bank card would have to pay more than maxCardAmount. Show the customer and ask again.",
            )
            .with("total", total)
            .with("cardAmount", card),
            Rejection::DiscountInvalid { code } => {
                Self::new(Kind::DiscountInvalid, "There is no such discount code at this time.").with("code", code)
            }
            Rejection::DiscountExhausted { code } => {
                Self::new(Kind::DiscountExhausted, "The discount code has no uses left.").with("code", code)
            }
            // Which of several is not said: that would tell that those before it exist, without spending them.
            Rejection::GiftCardInvalid { code: _ } => Self::new(
                Kind::GiftCardInvalid,
                "A gift card of the order does not exist in the order's currency. GET /gift-cards/{code} shows each.",
            ),
            Rejection::GiftCardBalance { code } => Self::new(
                Kind::GiftCardBalance,
                "The gift card was spent elsewhere. Look at its balance and ask again.",
            )
            .with("code", code),
            Rejection::KeyReused => Self::new(
                Kind::IdempotencyKeyReused,
                "This Idempotency-Key belongs to an order with another body. Use a new key for a new order.",
            ),
        }
    }
}
