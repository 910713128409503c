//! Requests and schedules that change an order.

use std::sync::Arc;

use key_schema::entity::{Order, OrderStatus, WholeOrder};
use key_schema::layout::{InOrder, OrderState, Stored as _};
use key_schema::value::OrderId;
use ordering::changing::{Changing, ChangingAction};
use ordering::steps::Transition;
use ordering::{OrderRequest, Transitioned};
use table::{Item, read_item};

use super::{Actor, Answer, Event, Phase, Role};
use crate::order::Shop;
use crate::order::bugs::Bug;
use crate::table::{Place, Stored, Transaction};

pub(super) fn partition(request: &OrderRequest) -> Arc<str> {
    Order::key_of(&OrderId::of(&request.customer, &request.key)).partition.into()
}

/// The keys of the order's header and invoice.
pub(super) fn places_at_once(whole: &WholeOrder) -> Vec<Place> {
    vec![whole.order.key().into(), whole.invoice.key().into()]
}

impl Actor {
    /// The next phase of a change after this event.
    pub(super) fn change_told(&self, shop: &Shop, event: Event) -> Phase {
        let Role::Change { transition, at, .. } = self.role else { panic!("{:?} changes nothing", self.role) };
        let (mut changing, next) = match (self.phase.clone(), event) {
            (Phase::ReadingOrder(mut changing), Event::Read(items)) => {
                let Some(items) = read_all(&items) else { return Phase::Answered(Answer::Failed) };
                let mut whole = match InOrder::assemble(items) {
                    Ok(Some(OrderState::Placed(whole))) => *whole,
                    Ok(Some(OrderState::Queued(_)) | None) => return Phase::Answered(Answer::NotFound),
                    // The order is being written: the reader reads again.
                    Err(_) => return self.phase.clone(),
                };
                if shop.bug == Some(Bug::CancellationIsOverlooked) && matches!(transition, Transition::Capture { .. }) {
                    whole.order.status = OrderStatus::Pending;
                }
                let next = changing.order_read(whole, at);
                (changing, next)
            }
            (Phase::SettlingOrder(mut changing, mut whole), Event::Read(items)) => {
                for item in read_all(&items).unwrap_or_default() {
                    match item {
                        InOrder::Order(order) => whole.order = order,
                        InOrder::Invoice(invoice) => whole.invoice = invoice,
                        other => panic!("{other:?} was not asked for"),
                    }
                }
                let next = changing.settled(*whole, at);
                (changing, next)
            }
            (Phase::Changing(mut changing, sent, _), Event::Committed(outcome)) => {
                let next = changing.written(*sent, outcome);
                (changing, next)
            }
            (Phase::Changing(mut changing, sent, _), Event::Unanswered) => {
                let next = Ok(changing.unanswered(*sent));
                (changing, next)
            }
            (Phase::Changing(..), Event::NoCapacity) => return Phase::Answered(Answer::Unavailable),
            (phase, event) => panic!("{event:?} in {phase:?}"),
        };
        match next {
            Ok(ChangingAction::Settle(whole)) if shop.bug == Some(Bug::TornReadIsBelieved) => {
                let next = changing.settled(*whole, at);
                next.map_or(Phase::Answered(Answer::Failed), |next| follow(changing, next))
            }
            Ok(next) => follow(changing, next),
            Err(_) => Phase::Answered(Answer::Failed),
        }
    }
}

fn follow(changing: Box<Changing<'static>>, next: ChangingAction) -> Phase {
    match next {
        ChangingAction::Read { .. } => Phase::ReadingOrder(changing),
        ChangingAction::Settle(whole) => Phase::SettlingOrder(changing, whole),
        ChangingAction::Write(writes, sent) => Phase::Changing(changing, sent, Transaction::new(&writes)),
        ChangingAction::Done(change) => Phase::Answered(match *change {
            Transitioned::Done(_) => Answer::Changed,
            Transitioned::DoneBefore(_) => Answer::ChangedBefore,
            Transitioned::Refused(_) | Transitioned::Denied(_) => Answer::Refused,
            Transitioned::NotPlaced(_) | Transitioned::NotFound => Answer::NotFound,
        }),
    }
}

fn read_all(items: &[Stored]) -> Option<Vec<InOrder>> {
    items.iter().map(|stored| read_item(Item::clone(&stored.0)).ok()).collect()
}
