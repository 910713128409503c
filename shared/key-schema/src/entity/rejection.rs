//! The reasons for which an order cannot be placed.

use serde::{Deserialize, Serialize};

use crate::value::{AddressId, CartVersion, Country, DiscountCode, GiftCardCode, Money, ProductId, ShippingMethodId};

/// The reason why the state of the shop does not allow an order. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Rejection {
    /// The customer has no profile.
    UnknownCustomer,
    /// A product is not in the catalogue.
    UnknownProduct {
        /// The index of the line.
        line: usize,
        product: ProductId,
    },
    /// A line's price is in another currency than the first line's.
    MixedCurrencies {
        /// The index of the line.
        line: usize,
    },
    /// The sum exceeds the greatest amount of money.
    TooExpensive,
    /// The shop has recalled products of the order.
    Recalled {
        /// The recalled products, in the order of the lines.
        products: Vec<ProductId>,
    },
    /// Too few units are left.
    OutOfStock {
        /// The index of the line.
        line: usize,
        product: ProductId,
        /// The number of units left.
        available: u64,
    },
    /// The order's total is not the one that the customer expects, or the bank card would have to pay more than the
    /// customer allows.
    PriceChanged {
        /// The order's total.
        total: Money,
        /// The amount for the bank card, if it exceeds what the customer allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        card: Option<Money>,
    },
    /// With this order, the customer would have more open units than the shop allows.
    OpenUnits {
        /// The units in the customer's orders that wait for payment.
        open: u64,
        /// The most that the shop allows.
        allowed: u64,
    },
    /// The customer's address book has no such address.
    UnknownAddress { address: AddressId },
    /// The shop does not ship the order to this country, or not by the method that it names.
    NotShipped {
        country: Country,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        method: Option<ShippingMethodId>,
    },
    /// The customer's cart no longer has the version that the order names, or it has other lines than the order.
    CartChanged { cart: CartVersion },
    /// The discount code does not exist, or is not valid now.
    DiscountInvalid { code: DiscountCode },
    /// The discount code has no uses left.
    DiscountExhausted { code: DiscountCode },
    /// The gift card does not exist, is blocked, has expired, or is in another currency.
    GiftCardInvalid { code: GiftCardCode },
    /// The gift card's balance is too low.
    GiftCardBalance { code: GiftCardCode },
    /// The idempotency key belongs to a different request.
    KeyReused,
}

impl Rejection {
    /// The last part of the problem's type, as in `/problems/out-of-stock`: the reason without codes. Anybody who has a gift
    /// card's code can spend the card.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::UnknownCustomer | Self::UnknownProduct { .. } | Self::UnknownAddress { .. } => "not-found",
            Self::MixedCurrencies { .. } | Self::TooExpensive => "validation",
            Self::Recalled { .. } => "product-recalled",
            Self::OpenUnits { .. } => "open-units",
            Self::OutOfStock { .. } => "out-of-stock",
            Self::PriceChanged { .. } => "price-changed",
            Self::NotShipped { .. } => "not-shipped",
            Self::CartChanged { .. } => "cart-changed",
            Self::DiscountInvalid { .. } => "discount-invalid",
            Self::DiscountExhausted { .. } => "discount-exhausted",
            Self::GiftCardInvalid { .. } => "gift-card-invalid",
            Self::GiftCardBalance { .. } => "gift-card-balance",
            Self::KeyReused => "idempotency-key-reused",
        }
    }

    /// The product for which the order is refused, if it is one.
    pub fn product(&self) -> Option<&ProductId> {
        match self {
            Self::UnknownProduct { product, .. } | Self::OutOfStock { product, .. } => Some(product),
            Self::Recalled { products } => products.first(),
            _ => None,
        }
    }
}
