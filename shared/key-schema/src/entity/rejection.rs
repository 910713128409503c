//! Why an order cannot be placed.

use serde::{Deserialize, Serialize};

use crate::value::{DiscountCode, GiftCardCode, Money, ProductId};

/// The state of the shop does not allow the order. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
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
    /// The order comes to another total than the customer expects, or leaves more to the bank card than the customer
    /// allows.
    PriceChanged {
        /// The order's total.
        total: Money,
        /// What the bank card would have to pay, if that is more than the customer allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<Money>,
    },
    /// The discount code does not exist, or not now.
    DiscountInvalid {
        /// The code.
        code: DiscountCode,
    },
    /// The discount code has no uses left.
    DiscountExhausted {
        /// The code.
        code: DiscountCode,
    },
    /// The gift card does not exist, or is in another currency.
    GiftCardInvalid {
        /// Its code.
        code: GiftCardCode,
    },
    /// The gift card does not hold what the order would take from it.
    GiftCardBalance {
        /// Its code.
        code: GiftCardCode,
    },
    /// The idempotency key belongs to another request.
    KeyReused,
}
