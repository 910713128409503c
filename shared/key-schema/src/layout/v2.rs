//! The second layout: long keys that say what they are, for people who read the table.
//!
//! An item that a collection is named after has the sort key `META`. Lists by time begin with the kind of what they
//! list.

use super::Index::{self, Gsi1, Gsi2, Table};
use super::layouts::Sort::{Own, With};
use super::layouts::{Collections, Respelled, Sort};

const META: &[Sort] = &[Own("META")];

/// Every collection of the table and the indexes.
pub(super) const COLLECTIONS: &[Collections] = &[
    collections(
        Table,
        ("c#", "CUSTOMER#"),
        &[
            Own("META"),
            with("stats", "STATS"),
            with("cart", "CART"),
            with("addresses", "ADDRESSES"),
            with("guest", "GUEST"),
        ],
    ),
    collections(Table, ("email#", "EMAIL#"), META),
    collections(Table, ("username#", "USERNAME#"), META),
    collections(
        Table,
        ("p#", "PRODUCT#"),
        &[Own("META"), with("description", "DESCRIPTION"), with("stock", "STOCK"), with("stats", "STATS")],
    ),
    collections(Table, ("categories", "CATEGORIES"), &[with("cat#", "CATEGORY#")]),
    collections(Table, ("stock#", "STOCK_CELL#"), META),
    collections(Table, ("v#", "VIEWS#"), META),
    collections(Table, ("viewed#", "VIEWED#"), META),
    collections(
        Table,
        ("o#", "ORDER#"),
        &[
            Own("META"),
            with("p#", "PRODUCT#"),
            with("i#", "INVOICE#"),
            with("r#", "RETURN#"),
            with("sh#", "SHIPMENT#"),
            with("due", "PAYMENT_DUE"),
            with("address", "ADDRESS"),
            with("flag", "FLAG"),
            with("queued", "QUEUED"),
        ],
    ),
    collections(Table, ("d#", "DISCOUNT#"), META),
    collections(Table, ("g#", "GIFT_CARD#"), &[Own("META"), with("o#", "ORDER#")]),
    collections(Table, ("taxes", "TAXES"), META),
    collections(Table, ("shipping", "SHIPPING"), META),
    collections(Table, ("series#", "INVOICE_SERIES#"), META),
    collections(Table, ("day#", "DAY#"), &[with("totals", "TOTALS")]),
    collections(Table, ("shard#", "STREAM_SHARD#"), META),
    collections(Table, ("parked#", "PARKED_COUNTS#"), &[with("", "AT#")]),
    collections(Table, ("fold#", "FOLD_LEASE#"), META),
    collections(Table, ("reconciliation", "RECONCILIATION"), META),
    collections(Table, ("idempotency#", "IDEMPOTENCY#"), META),
    collections(Table, ("migration", "MIGRATION"), META),
    collections(Table, ("repair#", "REPAIR#"), &[with("", "REPAIR#")]),
    collections(Table, ("copy#", "COPY#"), META),
    collections(Gsi1, ("cat#", "CATEGORY#"), &[with("p#", "PRODUCT#")]),
    collections(Gsi1, ("s#", "STATUS#"), &[with("", "ORDER#")]),
    collections(Gsi1, ("p#", "PRODUCT#"), &[with("", "ORDER#")]),
    collections(Gsi1, ("i#", "INVOICE#"), META),
    collections(Gsi1, ("unnumbered#", "UNNUMBERED#"), &[with("", "INVOICE#")]),
    collections(Gsi1, ("due#", "PAYMENTS_DUE#"), &[with("", "ORDER#")]),
    collections(Gsi1, ("flagged", "FLAGGED"), &[with("", "ORDER#")]),
    collections(Gsi1, ("returns#", "RETURNS#"), &[with("", "RETURN#")]),
    collections(Gsi2, ("c#", "CUSTOMER#"), &[with("o#", "ORDER#"), with("p#", "PRODUCT#"), with("i#", "INVOICE#")]),
    collections(Gsi2, ("p#", "PRODUCT#"), &[with("p#", "PRODUCT#")]),
];

const fn collections(
    index: Index,
    (canonical, stored): (&'static str, &'static str),
    sorts: &'static [Sort],
) -> Collections {
    Collections { index, partition: Respelled { canonical, stored }, sorts }
}

const fn with(canonical: &'static str, stored: &'static str) -> Sort {
    With(Respelled { canonical, stored })
}
