//! Why an order cannot be placed.

use key_schema::value::{DiscountCode, GiftCardCode, Money, ProductId};

/// The state of the shop does not allow the order. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The customer has no profile.
    UnknownCustomer,
    /// A product is not in the catalogue.
    UnknownProduct {
        /// Index of the line at fault.
        line: usize,
        /// The product.
        product: ProductId,
    },
    /// A line is priced in another currency than the first.
    MixedCurrencies {
        /// Index of the line at fault.
        line: usize,
    },
    /// The sum is beyond what an amount can hold.
    TooExpensive,
    /// Not enough units are left.
    OutOfStock {
        /// Index of the line at fault.
        line: usize,
        /// The product.
        product: ProductId,
        /// How many are left.
        available: u64,
    },
    /// The order comes to another total than the customer expects.
    PriceChanged {
        /// What it comes to.
        total: Money,
    },
    /// The discount code does not exist, or not now.
    DiscountInvalid(DiscountCode),
    /// The discount code has no uses left.
    DiscountExhausted(DiscountCode),
    /// The gift card does not exist, or is in another currency.
    GiftCardInvalid(GiftCardCode),
    /// The gift card does not hold what the order would take from it.
    GiftCardBalance(GiftCardCode),
    /// The idempotency key belongs to another request.
    KeyReused,
}
