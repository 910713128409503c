//! The writes of a change are those that its functions declare, so no role refuses one.

use key_schema::access::{Access, Action};
use key_schema::layout::Layout;
use table::{Write, WriteKind};

use super::super::*;
use super::at;
use crate::changing::{Changing, Next};
use crate::{
    ADVANCE, CANCEL, CAPTURE, DELIVER_SHIPMENT, EXPIRE, RECEIVE_RETURN, REFUND, REPORT_PAYMENT, REQUEST_RETURN,
    SHIP_ITEMS,
};

/// The declared access of the functions that make this change.
fn declared(transition: Transition<'_>) -> &'static [Access] {
    match transition {
        Transition::Advance { .. } => ADVANCE,
        Transition::StartPayment { .. } | Transition::ReportPayment { .. } => REPORT_PAYMENT,
        Transition::RequestCapture | Transition::Capture { .. } => CAPTURE,
        Transition::Cancel(_) | Transition::CancelUnits { .. } => CANCEL,
        Transition::RequestReturn(_) => REQUEST_RETURN,
        Transition::ReceiveReturn(_) => RECEIVE_RETURN,
        Transition::Expire { .. } | Transition::ExpireLapsed { .. } => EXPIRE,
        Transition::ConfirmRefund { .. } => REFUND,
        Transition::ShipItems(_) => SHIP_ITEMS,
        Transition::DeliverShipment { .. } => DELIVER_SHIPMENT,
    }
}

/// The first write of this change that its functions do not declare.
pub(super) fn undeclared(transition: Transition<'_>, whole: &WholeOrder) -> Option<String> {
    let Ok(Next::Write(writes, _)) = Changing::new(transition).found(whole.clone(), at(6)) else { return None };
    let is_alone = writes.len() == 1;
    let is_declared = |write: &Write| {
        let write = write.rendered();
        let action = match write.kind {
            WriteKind::Put => Action::PutItem,
            WriteKind::Update => Action::UpdateItem,
            WriteKind::Delete => Action::DeleteItem,
            WriteKind::Check => Action::ConditionCheckItem,
        };
        let partition = write.item["PK"].as_s().expect("a text");
        declared(transition).iter().any(|access| {
            let keys = access.leading_keys(Layout::V1);
            action == access.action
                && !(is_alone && access.is_transactional)
                && keys.strip_suffix('*').map_or(*partition == keys, |prefix| partition.starts_with(prefix))
        })
    };
    let missing = writes.iter().find(|write| !is_declared(write))?;
    Some(format!("{transition:?} of {} writes: {missing:?}", writes.len()))
}
