//! Invoices.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 5 [`InvoiceOfOrder`] | table | `o#{orderId}` | `i#{invoiceId}` |
//! | 7 [`InvoiceById`], 8 [`PaymentsOfInvoice`] | table | `o#{orderId}` | `i#{invoiceId}` |
//! | 7 [`ImportedInvoiceById`] | GSI1 | `i#{invoiceId}` | `i#{invoiceId}` |
//! | 31 [`InvoicesDue`] | GSI1 | `unnumbered#{shard}` | `{issuedAt}#{invoiceId}` |
//! | 9 [`InvoicesOfCustomer`] | GSI2 | `c#{customerId}` | `i#{issuedAt}#{invoiceId}` |

use crate::entity::{Entity as _, Invoice};
use crate::value::{CustomerId, InvoiceId, OrderId, TimeRange, Timestamp};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
    customer, order,
};

const ID: Template<(InvoiceId,)> = Template::new("i#{invoiceId}");

const OF_ORDER: Place<(OrderId,), (InvoiceId,)> = Place::table(order::COLLECTION, ID);
const BY_ID: Place<(InvoiceId,), (InvoiceId,)> = Place::gsi1(ID, ID);
/// The list of the invoices that wait for a number: a sparse index. An invoice has one key of the index, so the key by its
/// id waits, too. Only imported invoices are looked up there, and they are not in the list.
const UNNUMBERED: Place<(u8,), (Timestamp, InvoiceId)> =
    Place::gsi1(Template::new("unnumbered#{shard}"), Template::new("{issuedAt}#{invoiceId}"));
const OF_CUSTOMER: Place<(CustomerId,), (Timestamp, InvoiceId)> =
    Place::gsi2(customer::COLLECTION, Template::new("i#{issuedAt}#{invoiceId}"));

impl Stored for Invoice {
    const PLACES: &'static [PlaceText] = &[OF_ORDER.text(), BY_ID.text(), OF_CUSTOMER.text()];
    const INSTEAD: &'static [PlaceText] = &[UNNUMBERED.text()];

    fn key(&self) -> Key {
        OF_ORDER.key((&self.order_id,), (&self.invoice_id,))
    }

    fn index_keys(&self) -> Vec<Key> {
        vec![
            match &self.unnumbered {
                Some(shard) => UNNUMBERED.key((shard,), (&self.issued_at, &self.invoice_id)),
                None => BY_ID.key((&self.invoice_id,), (&self.invoice_id,)),
            },
            OF_CUSTOMER.key((&self.customer_id,), (&self.issued_at, &self.invoice_id)),
        ]
    }
}

/// The invoice of an order.
pub struct InvoiceOfOrder<'a> {
    pub order: &'a OrderId,
}

impl AccessPattern for InvoiceOfOrder<'_> {
    type Item = Invoice;

    const DECLARED: Declaration = Declaration {
        number: 5,
        question: "the invoice of an order",
        place: OF_ORDER.text(),
        entities: &[Invoice::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        OF_ORDER.partition.fill((self.order,))
    }

    fn range(&self) -> SortRange {
        OF_ORDER.all()
    }
}

/// An invoice by its id. The id contains the order's id, so the invoice is read from the order's collection.
pub struct InvoiceById<'a> {
    /// The order in the invoice's id.
    pub order: &'a OrderId,
    pub id: &'a InvoiceId,
}

impl AccessPattern for InvoiceById<'_> {
    type Item = Invoice;

    const DECLARED: Declaration = Declaration {
        number: 7,
        question: "an invoice by its id",
        place: OF_ORDER.text(),
        entities: &[Invoice::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        OF_ORDER.partition.fill((self.order,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(OF_ORDER.sort.fill((self.id,)))
    }
}

/// An imported invoice by the id that it had in another shop, which does not contain the order's id.
pub struct ImportedInvoiceById<'a> {
    pub id: &'a InvoiceId,
}

impl AccessPattern for ImportedInvoiceById<'_> {
    type Item = Invoice;

    const DECLARED: Declaration = Declaration {
        number: 7,
        question: "an imported invoice by its id",
        place: BY_ID.text(),
        entities: &[Invoice::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        BY_ID.partition.fill((self.id,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(BY_ID.sort.fill((self.id,)))
    }
}

/// The payments of an invoice. They are a list in the invoice, so this reads the same item as [`InvoiceById`].
pub struct PaymentsOfInvoice<'a> {
    /// The order in the invoice's id.
    pub order: &'a OrderId,
    pub invoice: &'a InvoiceId,
}

impl AccessPattern for PaymentsOfInvoice<'_> {
    type Item = Invoice;

    const DECLARED: Declaration =
        Declaration { number: 8, question: "the payments of an invoice", ..InvoiceById::DECLARED };

    fn partition(&self) -> String {
        InvoiceById { order: self.order, id: self.invoice }.partition()
    }

    fn range(&self) -> SortRange {
        InvoiceById { order: self.order, id: self.invoice }.range()
    }
}

/// A customer's invoices, oldest first.
pub struct InvoicesOfCustomer<'a> {
    pub customer: &'a CustomerId,
    pub issued: TimeRange,
}

impl AccessPattern for InvoicesOfCustomer<'_> {
    type Item = Invoice;

    const DECLARED: Declaration = Declaration {
        number: 9,
        question: "the invoices of a customer in a range of time",
        place: OF_CUSTOMER.text(),
        entities: &[Invoice::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        OF_CUSTOMER.partition.fill((self.customer,))
    }

    fn range(&self) -> SortRange {
        OF_CUSTOMER.within(&self.issued)
    }
}

/// The invoices of one shard that wait for a number, oldest first.
pub struct InvoicesDue<'a> {
    pub shard: u8,
    pub issued: &'a TimeRange,
}

impl<'a> InvoicesDue<'a> {
    /// The patterns of all shards of the list.
    pub fn in_shards(shards: u8, issued: &'a TimeRange) -> Vec<Self> {
        (0..shards).map(|shard| Self { shard, issued }).collect()
    }
}

impl AccessPattern for InvoicesDue<'_> {
    type Item = Invoice;

    const DECLARED: Declaration = Declaration {
        number: 31,
        question: "the invoices that wait for a number, shards merged",
        place: UNNUMBERED.text(),
        entities: &[Invoice::TYPE],
        consistency: Consistency::Eventual,
        direction: Direction::Ascending,
        bound: Bound::Page,
    };

    fn partition(&self) -> String {
        UNNUMBERED.partition.fill((&self.shard,))
    }

    fn range(&self) -> SortRange {
        UNNUMBERED.within(self.issued)
    }
}
