//! What guests together may hold without paying: a share of each product's units, and of each code's uses.

use key_schema::entity::{Order, Rejection};
use key_schema::value::{CustomerId, DiscountCode, ProductId};

use super::read::ItemsRead;
use super::request::RequestedLine;
use crate::GuestShare;

/// The limits for an order of a guest.
///
/// An identity of a guest costs nothing, so no limit by identity bounds what strangers hold. The units on sale and the
/// uses left are those that were read, and what guests hold is checked by the transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GuestLimits<'a> {
    share: GuestShare,
    items: &'a ItemsRead,
}

impl<'a> GuestLimits<'a> {
    /// The limits of an order of this customer. `None`: the customer is no guest.
    pub(crate) fn of(customer: &CustomerId, share: GuestShare, items: &'a ItemsRead) -> Option<Self> {
        customer.is_guest().then_some(Self { share, items })
    }

    /// The same limits if what the order takes is held without a payment.
    pub(crate) fn if_held(self, order: &Order) -> Option<Self> {
        order.is_held_by_guest().then_some(self)
    }

    /// The rejection as it is told to a guest, for whom what guests may not hold is not there.
    pub(crate) fn told(&self, rejection: Rejection) -> Rejection {
        match rejection {
            Rejection::OutOfStock { line, product, available } => {
                let left = u64::try_from(self.units_left(&product)).unwrap_or_default();
                Rejection::OutOfStock { line, product, available: available.min(left) }
            }
            other => other,
        }
    }

    /// Checks that the order keeps to the limits.
    ///
    /// # Errors
    /// Guests would hold more than their share of a product or of a code.
    pub(crate) fn check(&self, order: &Order, asked: &[RequestedLine]) -> Result<(), Rejection> {
        for (line, RequestedLine { product_id, quantity }) in asked.iter().enumerate() {
            let available = u64::try_from(self.units_left(product_id)).unwrap_or_default();
            if available < quantity.get().into() {
                return Err(Rejection::OutOfStock { line, product: product_id.clone(), available });
            }
        }
        match order.counted_codes().find(|code| self.uses_held(code) > self.most_uses(code)) {
            Some(code) => Err(Rejection::DiscountExhausted { code: code.clone() }),
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
