use key_schema::entity::{Cart, Customer, CustomerAddresses, CustomerStats, Guest, ImageUrls, WholeOrder};
use serde::Serialize;
use utoipa::ToSchema;

use super::{AddressesView, CustomerView, FlagView, GuestView, OrderView, StoredCartView};

/// An item of the export of a customer: either the profile with the address book and the cart, or an
/// order with its flag. In the export of a guest, the first item has the guest, beside the newest order.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, ToSchema)]
#[schema(as = Exported)]
pub struct ExportedView {
    customer: Option<CustomerView>,
    guest: Option<GuestView>,
    addresses: Option<AddressesView>,
    cart: Option<StoredCartView>,
    order: Option<Box<OrderView>>,
    /// The mark by which staff see the order. Customers see it here alone, because the text may be about them.
    flag: Option<FlagView>,
}

impl ExportedView {
    /// The profile with its sums, the address book and the cart.
    pub fn profile(
        customer: Customer,
        stats: Option<CustomerStats>,
        addresses: Option<CustomerAddresses>,
        cart: Option<Cart>,
    ) -> Self {
        Self {
            customer: Some(CustomerView::new(customer, stats)),
            addresses: addresses.map(AddressesView::from),
            cart: cart.map(StoredCartView::from),
            ..Self::default()
        }
    }

    /// Adds the guest whose export begins with this item.
    #[must_use]
    pub fn of_guest(self, guest: Guest) -> Self {
        Self { guest: Some(guest.into()), ..self }
    }

    /// An order with everything that belongs to it.
    pub fn order(mut whole: WholeOrder, urls: &dyn ImageUrls) -> Self {
        let flag = whole.flag.take().map(FlagView::from);
        Self { order: Some(Box::new(OrderView::of_customer(whole, urls))), flag, ..Self::default() }
    }
}
