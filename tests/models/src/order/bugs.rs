//! Known bugs, planted to see that the invariants find them. An invariant that finds none of them proves nothing.

use table::WriteKind;

use crate::table::{Place, Transaction};

/// A known bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// The order's header is written whether or not it is there.
    HeaderIsOverwritten,
    /// Units are taken whether or not they are there.
    StockIsNotChecked,
    /// A gift card is charged whatever it holds.
    CardIsNotChecked,
    /// A limited discount code is used whatever uses are left.
    UsesAreNotChecked,
    /// A message places its order although the order was refused.
    RefusalIsForgotten,
    /// A message's refusal is written down although another delivery has placed the order.
    RefusalIsUnchecked,
    /// A refusal is believed without a look at the header.
    RefusalIsNotSettled,
    /// A transaction without an answer is taken for one that was cancelled.
    UnansweredIsCancelled,
    /// An order is changed whatever has become of its header since it was read.
    VersionIsNotChecked,
    /// An order is changed whatever has become of its header and its invoice since they were read.
    NothingIsChecked,
    /// A cancellation puts the units back in a request of its own, before it writes the header.
    PutBackIsApart,
    /// A capture does not see that its order is cancelled.
    CancellationIsOverlooked,
    /// A refusal rests on a header and an invoice of different moments.
    TornReadIsBelieved,
    /// A message that finds another acceptance than its own is deleted, though its own may be under way.
    StaleIsVoid,
    /// One read of all cells is taken for what lies in them.
    OneReadIsBelieved,
}

impl Bug {
    /// Which writes lose their condition.
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

    /// The part of a transaction that is done first and by itself, and the rest.
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
