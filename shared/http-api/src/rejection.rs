//! The problem for each rejection of an order. Its members name the line, the product or the code at fault.

use key_schema::entity::Rejection;

use crate::{Kind, Problem};

impl Problem {
    /// The order is rejected.
    pub fn rejected(rejection: Rejection) -> Self {
        match rejection {
            Rejection::UnknownCustomer => {
                Self::new(Kind::NotFound, "The caller has no customer profile. Sign up first: POST /customers.")
            }
            Rejection::UnknownProduct { line, product } => {
                Self::not_found("product").with("line", line).with("productId", product)
            }
            Rejection::MixedCurrencies { line } => {
                Self::new(Kind::Validation, "All lines of an order have the same currency. Order this line separately.")
                    .with("line", line)
            }
            Rejection::TooExpensive => {
                Self::new(Kind::Validation, "The order's total exceeds the greatest possible amount of money.")
            }
            Rejection::Recalled { products } => {
                Self::new(Kind::ProductRecalled, "The shop has recalled products of the order. Order without them.")
                    .with("productIds", products)
            }
            Rejection::OutOfStock { line, product, available } => {
                Self::out_of_stock(&product, available).with("line", line)
            }
            Rejection::OpenUnits { open, allowed } => Self::new(
                Kind::OpenUnits,
                format!(
                    "{open} units of your orders wait for payment. With this order, they would be more than {allowed}. Pay or \
                     cancel an order first, or order fewer units."
                ),
            )
            .with("open", open)
            .with("allowed", allowed),
            Rejection::PriceChanged { total, card: None } => {
                Self::new(Kind::PriceChanged, "Show the new total to the customer, and order again under a new key.")
                    .with("total", total)
            }
            Rejection::PriceChanged { total, card: Some(card) } => Self::new(
                Kind::PriceChanged,
                "The bank card would pay more than maxCardAmount. Ask the customer, and order again under a new key.",
            )
            .with("total", total)
            .with("cardAmount", card),
            Rejection::UnknownAddress { address } => Self::not_found("address").with("addressId", address),
            Rejection::NotShipped { country, method: Some(method) } => Self::new(
                Kind::NotShipped,
                "The shop does not ship this order to the country by this method. A quote without a method lists those that it has.",
            )
            .with("country", country)
            .with("shippingMethod", method),
            Rejection::NotShipped { country, method: None } => Self::new(
                Kind::NotShipped,
                "The shop does not ship this order to the country: no zone has it, or the order is too heavy for it.",
            )
            .with("country", country),
            Rejection::CartChanged { cart } => Self::new(
                Kind::CartChanged,
                "The cart has become an order already, or it has another version or other lines than the order. Read the cart.",
            )
            .with("cart", cart),
            Rejection::DiscountInvalid { code } => {
                Self::new(Kind::DiscountInvalid, "The discount code does not exist, is not valid now or for these products and this sum, or cannot be combined.")
                    .with("code", code)
            }
            Rejection::DiscountExhausted { code } => {
                Self::new(Kind::DiscountExhausted, "The discount code has no uses left.").with("code", code)
            }
            // The problem does not name the card: that would reveal, without a payment, that the cards before it exist.
            Rejection::GiftCardInvalid { code: _ } => Self::new(
                Kind::GiftCardInvalid,
                "A gift card of the order does not exist, is blocked, has expired, or has another currency. Check each: GET \
                 /gift-cards/{code}.",
            ),
            Rejection::GiftCardBalance { code } => Self::new(
                Kind::GiftCardBalance,
                "The gift card is empty. Order again with maxCardAmount, or without this gift card.",
            )
            .with("code", code),
            Rejection::KeyReused => Self::new(
                Kind::IdempotencyKeyReused,
                "This Idempotency-Key belongs to an order with another body. Use a new key for a new order.",
            ),
        }
    }
}
