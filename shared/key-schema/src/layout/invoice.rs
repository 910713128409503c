//! Invoices.

use crate::entity::Invoice;
use crate::value::{CustomerId, InvoiceId, OrderId, TimeRange, Timestamp};

use super::{Key, Pattern, Place, PlaceText, Stored, Template, customer, order};

const ID: Template<InvoiceId> = Template::new("i#{invoiceId}");

const OF_ORDER: Place<OrderId, InvoiceId> = Place::table(order::COLLECTION, ID);
const BY_ID: Place<InvoiceId, InvoiceId> = Place::gsi1(ID, ID);
/// The list of the invoices that wait for a number: a sparse index. An invoice has one key of the index, so the key by its
/// id waits, too. Only imported invoices are looked up there, and they are not in the list.
const UNNUMBERED: Place<u8, (Timestamp, InvoiceId)> =
    Place::gsi1(Template::new("unnumbered#{shard}"), Template::new("{issuedAt}#{invoiceId}"));
const OF_CUSTOMER: Place<CustomerId, (Timestamp, InvoiceId)> =
    Place::gsi2(customer::COLLECTION, Template::new("i#{issuedAt}#{invoiceId}"));

/// The invoice of an order.
pub const INVOICE_OF_ORDER: Pattern<OrderId, Invoice> = OF_ORDER.one(5, "the invoice of an order");
/// An invoice by its id. The id contains the order's id, so the invoice is read from the order's collection.
pub const INVOICE_BY_ID: Pattern<(OrderId, InvoiceId), Invoice> = OF_ORDER.one(7, "an invoice by its id");
/// The payments of an invoice. They are a list in the invoice, so this reads the same item as [`INVOICE_BY_ID`].
pub const PAYMENTS_OF_INVOICE: Pattern<(OrderId, InvoiceId), Invoice> = OF_ORDER.one(8, "the payments of an invoice");
/// An imported invoice by the id that it had in another shop, which does not contain the order's id.
pub const IMPORTED_INVOICE_BY_ID: Pattern<InvoiceId, Invoice> = BY_ID.one(7, "an imported invoice by its id");
/// A customer's invoices, oldest first.
pub const INVOICES_OF_CUSTOMER: Pattern<(CustomerId, TimeRange), Invoice> =
    OF_CUSTOMER.list(9, "the invoices of a customer in a range of time");
/// The invoices of one shard that wait for a number, oldest first.
pub const INVOICES_DUE: Pattern<(u8, TimeRange), Invoice> =
    UNNUMBERED.list(31, "the invoices that wait for a number, shards merged");

impl Stored for Invoice {
    const PLACES: &'static [PlaceText] = &[OF_ORDER.text(), BY_ID.text(), OF_CUSTOMER.text()];
    const INSTEAD: &'static [PlaceText] = &[UNNUMBERED.text()];

    fn key(&self) -> Key {
        OF_ORDER.key(&self.order_id, &self.invoice_id)
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![
            match &self.unnumbered {
                Some(shard) => UNNUMBERED.key(shard, (&self.issued_at, &self.invoice_id)),
                None => BY_ID.key(&self.invoice_id, &self.invoice_id),
            },
            OF_CUSTOMER.key(&self.customer_id, (&self.issued_at, &self.invoice_id)),
        ]
    }
}
