//! The changes of the order by the shop.

use std::sync::LazyLock;

use key_schema::entity::{CancellationCause, LineUnits, OrderStatus};
use ordering::steps::{Cancel, Transition};

use super::{Bug, now};

/// One of the two units.
static ONE_UNIT: LazyLock<Vec<LineUnits>> = LazyLock::new(|| {
    let product_id = "thing".parse().expect("an id");
    vec![LineUnits { product_id, quantity: 1.try_into().expect("a quantity") }]
});

/// A change of the order by the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Ship { captures: bool },
    AskForCapture,
    Cancel,
    CancelUnit,
    Expire,
    ExpireLapsed,
}

impl Change {
    pub(super) const ALL: [Self; 7] = [
        Self::Ship { captures: true },
        Self::Ship { captures: false },
        Self::AskForCapture,
        Self::Cancel,
        Self::CancelUnit,
        Self::Expire,
        Self::ExpireLapsed,
    ];

    pub(super) fn transition(self, bug: Option<Bug>) -> Transition<'static> {
        let cancel = |cause| Cancel { cause, reason: None };
        match self {
            Self::Ship { captures } => Transition::Advance { to: OrderStatus::Shipped, captures },
            Self::AskForCapture => Transition::RequestCapture,
            Self::Cancel => Transition::Cancel(cancel(CancellationCause::Customer)),
            Self::CancelUnit => {
                Transition::CancelUnits { lines: &ONE_UNIT, cancel: cancel(CancellationCause::Customer) }
            }
            Self::Expire if bug == Some(Bug::ExpiresOpen) => Transition::Cancel(cancel(CancellationCause::Unpaid)),
            Self::Expire => Transition::Expire { deadline: now() },
            Self::ExpireLapsed => Transition::ExpireLapsed { deadline: now() },
        }
    }
}
