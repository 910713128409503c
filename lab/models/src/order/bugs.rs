//! Known bugs, planted to check that the invariants find them.

use table::WriteKind;

use crate::table::{Place, Transaction};

/// A known bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The order's header is written without a condition.
    HeaderIsOverwritten,
    /// Units are taken without a condition.
    StockIsNotChecked,
    /// A gift card is charged without a condition on its balance.
    CardIsNotChecked,
    /// A limited discount code is used without a condition on its remaining uses.
    UsesAreNotChecked,
    /// A message places its order although the order was refused.
    RefusalIsForgotten,
    /// A message's refusal is recorded although another delivery has placed the order.
    RefusalIsUnchecked,
    /// A refusal is answered without reading the header.
    RefusalIsNotSettled,
    /// A transaction without an answer is treated as cancelled.
    UnansweredIsCancelled,
    /// An order is changed although its header has changed since it was read.
    VersionIsNotChecked,
    /// An order is changed although its header or its invoice has changed since it was read.
    NothingIsChecked,
    /// A cancellation returns the units in a separate request, before it writes the header.
    PutBackIsApart,
    /// A capture does not check whether its order is cancelled.
    CancellationIsOverlooked,
    /// A refusal relies on a header and an invoice that were read at different times.
    TornReadIsBelieved,
    /// A message that finds another acceptance than its own is deleted, although its own may be in progress.
    StaleIsVoid,
    /// One read of all cells is taken as proof of their content.
    OneReadIsBelieved,
}

impl Bug {
    /// The writes that lose their condition.
    pub(super) fn condition(self) -> Option<fn(&Place, WriteKind) -> bool> {
        match self {
            Self::HeaderIsOverwritten => Some(|place, kind| is_header(place) && kind == WriteKind::Put),
            Self::StockIsNotChecked => Some(|place, _| is_stock(place)),
            Self::CardIsNotChecked => Some(|place, _| place.0.starts_with("g#") && place.0 == place.1),
            Self::UsesAreNotChecked => Some(|place, _| place.0.starts_with("d#")),
            Self::RefusalIsForgotten => Some(|place, kind| place.1.starts_with("queued") && kind == WriteKind::Check),
            Self::RefusalIsUnchecked => Some(|place, kind| is_header(place) && kind == WriteKind::Check),
            Self::VersionIsNotChecked => Some(|place, kind| is_header(place) && kind == WriteKind::Update),
            Self::NothingIsChecked => {
                Some(|place, kind| (is_header(place) || place.1.starts_with("i#")) && kind == WriteKind::Update)
            }
            _ => None,
        }
    }

    /// Splits a transaction into a part that is sent first, and the rest.
    pub(super) fn apart(self, transaction: &Transaction) -> Option<(Transaction, Transaction)> {
        let cancels = || transaction.has(|place, kind| is_header(place) && kind == WriteKind::Update);
        (self == Self::PutBackIsApart && cancels()).then(|| transaction.split(is_stock))
    }
}

fn is_header(place: &Place) -> bool {
    place.0.starts_with("o#") && place.0 == place.1
}

fn is_stock(place: &Place) -> bool {
    &*place.1 == "stock" || place.0.contains("thing#")
}
