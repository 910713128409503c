//! What guests together may hold without paying: a share of each product's units, and of each code's uses.

use key_schema::entity::{OrderStatus, Rejection};
use key_schema::value::{DiscountCode, ProductId};

use super::quote::Quote;
use super::read::ItemsRead;
use super::request::RequestedLine;
use crate::GuestShare;

/// The limits for an order of a guest that waits for its payment.
///
/// An identity of a guest costs nothing, so no limit by identity bounds what strangers hold. The units on sale and the
/// uses left are those that were read, and what guests hold is checked by the transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuestLimits<'a> {
    share: GuestShare,
    items: &'a ItemsRead,
}

impl<'a> GuestLimits<'a> {
    /// The limits of this order. `None`: it is of a customer, or paid.
    pub(crate) fn of(share: GuestShare, quote: &Quote, items: &'a ItemsRead) -> Option<Self> {
        let is_held = items.guest.is_some() && OrderStatus::when_placed(&quote.payments).is_open();
        is_held.then_some(Self { share, items })
    }

    /// Checks that the order keeps to the limits.
    ///
    /// # Errors
    /// Guests would hold more than their share of a product or of a code. To a guest, the rest is not there.
    pub(crate) fn check(&self, quote: &Quote, asked: &[RequestedLine]) -> Result<(), Rejection> {
        for (line, RequestedLine { product_id, quantity }) in asked.iter().enumerate() {
            let left = self.units_left(product_id);
            if left < quantity.get().into() {
                let available = u64::try_from(left).unwrap_or_default();
                return Err(Rejection::OutOfStock { line, product: product_id.clone(), available });
            }
        }
        let mut counted = quote.codes.iter().filter(|used| used.counted);
        match counted.find(|used| self.uses_held(&used.code) > self.most_uses(&used.code)) {
            Some(used) => Err(Rejection::DiscountExhausted { code: used.code.clone() }),
            None => Ok(()),
        }
    }

    /// The units of the product that guests may hold already, if one is to take `quantity` more.
    pub(crate) fn most_units(&self, product: &ProductId, quantity: i64) -> i64 {
        self.units_held(product) + self.units_left(product) - quantity
    }

    /// The uses of the code that guests may hold already, if one is to use it once more.
    pub(crate) fn most_uses(&self, code: &DiscountCode) -> i64 {
        let Some(discount) = self.items.discounts.get(code) else { return 0 };
        let left = i64::from(discount.max_uses.unwrap_or(u32::MAX)) - i64::from(discount.uses);
        self.share.of(left, self.uses_held(code)) - 1
    }

    fn uses_held(&self, code: &DiscountCode) -> i64 {
        self.items.discounts.get(code).map_or(0, |discount| discount.held_by_guests.max(0))
    }

    fn units_left(&self, product: &ProductId) -> i64 {
        let available = self.items.available(product).unwrap_or_default();
        let (available, held) = (i64::try_from(available).unwrap_or(i64::MAX), self.units_held(product));
        self.share.of(available, held) - held
    }

    fn units_held(&self, product: &ProductId) -> i64 {
        self.items.stock.get(product).map_or(0, |stock| stock.held_by_guests.max(0))
    }
}
