//! Requests and messages that place an order.

use key_schema::entity::{Rejection, StockCell};
use key_schema::layout::InStock;
use ordering::{
    ItemRead, ItemsRead, OrderMessage, OrderRequest, Origin, PlacingAction, PlacingAttempt, PlacingOutcome,
    RefusedAcceptance,
};
use stock::{NextRead, Proof, ReadMode};
use table::{Item, read_item};

use super::{Actor, Answer, Event, Phase, Role, now, places};
use crate::order::Shop;
use crate::order::bugs::Bug;
use crate::table::{Stored, Transaction};

impl Actor {
    /// The next phase of an order that is being placed, after this event.
    pub(super) fn place_told(&self, shop: &Shop, event: Event) -> Phase {
        let request = shop.requests[self.role.request()];
        match (self.phase.clone(), event) {
            (Phase::Reading(placing), Event::Read(items)) => {
                let Some(found) = read_all(&items) else { return Phase::Answered(Answer::Failed) };
                let mut cells = placing.cells_to_read(&found);
                let first = cells.next().map(|(first, mode)| (first.clone(), mode));
                assert!(cells.next().is_none(), "the shops of this model have one product in cells");
                drop(cells);
                match first {
                    Some((first, mode)) => {
                        let places = places(StockCell::keys_of(&first.product_id, first.cells));
                        Phase::ReadingCells(placing, items, places, (mode == ReadMode::Snapshot).then(Proof::default))
                    }
                    None => self.found(shop, request, placing, &found),
                }
            }
            (Phase::ReadingCells(placing, items, places, proof), Event::Read(cells)) => {
                let Some(cells) = read_cells(&cells) else { return Phase::Answered(Answer::Failed) };
                match proof.filter(|_| shop.bug != Some(Bug::OneReadIsBelieved)) {
                    None => self.found_cells(shop, request, placing, &items, cells),
                    Some(mut proof) => match proof.found(cells) {
                        NextRead::Cells { .. } => Phase::ReadingCells(placing, items, places, Some(proof)),
                        NextRead::Snapshot => Phase::SettlingCells(placing, items, places),
                        NextRead::None(cells) => self.found_cells(shop, request, placing, &items, cells),
                    },
                }
            }
            (Phase::SettlingCells(placing, items, _), Event::Read(cells)) => {
                let Some(cells) = read_cells(&cells) else { return Phase::Answered(Answer::Failed) };
                self.found_cells(shop, request, placing, &items, cells)
            }
            // It does not matter whether the units were transferred.
            (Phase::Gathering(mut placing, stocks, _), Event::Committed(_) | Event::Unanswered) => {
                let next = placing.gathered(stocks);
                self.follow(shop, request, placing, next)
            }
            (Phase::Committing(mut placing, sent, _), Event::Committed(outcome)) => {
                match placing.committed(*sent, outcome) {
                    Ok(next) => self.follow(shop, request, placing, next),
                    Err(_) => Phase::Answered(Answer::Failed),
                }
            }
            (Phase::Committing(mut placing, ..), Event::Unanswered) => {
                let next = placing.unanswered();
                self.follow(shop, request, placing, next)
            }
            (Phase::Committing(placing, ..) | Phase::Gathering(placing, ..), Event::NoCapacity) => {
                match (self.role.origin(), placing.max_total()) {
                    (Origin::Request, Some(max_total)) => Phase::Sending(Some(max_total)),
                    _ => Phase::Answered(Answer::Unavailable),
                }
            }
            (Phase::Settling(placing, rejection), Event::Read(items)) => {
                let Some(found) = read_all(&items) else { return Phase::Answered(Answer::Failed) };
                let next = placing.settled(rejection, found, now());
                self.follow(shop, request, placing, next)
            }
            (phase, event) => panic!("{event:?} in {phase:?}"),
        }
    }

    fn found_cells(
        &self,
        shop: &Shop,
        request: &'static OrderRequest,
        placing: Box<PlacingAttempt<'static>>,
        items: &[Stored],
        cells: Vec<InStock>,
    ) -> Phase {
        let Some(mut found) = read_all(items) else { return Phase::Answered(Answer::Failed) };
        let (first, _) = placing.cells_to_read(&found).next().expect("the stock whose cells were read");
        let number = first.cells;
        found.add_cells(InStock::assemble(number, cells).expect("as many cells as there are"));
        self.found(shop, request, placing, &found)
    }

    fn found(
        &self,
        shop: &Shop,
        request: &'static OrderRequest,
        mut placing: Box<PlacingAttempt<'static>>,
        found: &ItemsRead,
    ) -> Phase {
        let next = placing.items_read(found, now()).expect("an order that can be written");
        self.follow(shop, request, placing, next)
    }

    fn follow(
        &self,
        shop: &Shop,
        request: &'static OrderRequest,
        placing: Box<PlacingAttempt<'static>>,
        next: PlacingAction,
    ) -> Phase {
        match next {
            PlacingAction::Settle(_) if shop.bug == Some(Bug::RefusalIsNotSettled) => Phase::Answered(Answer::Refused),
            PlacingAction::Read { .. } => Phase::Reading(placing),
            PlacingAction::Commit(writes, sent) => Phase::Committing(placing, sent, Transaction::new(&writes)),
            PlacingAction::Gather(stocks) => {
                let [(whole, quantity)] = &stocks[..] else { panic!("these shops have one product") };
                // The marks of transfers are random. A model needs the same ones each time.
                fastrand::seed(self.role.request() as u64);
                let writes = stock::gathering(whole, quantity.get().into()).expect("writes").expect("transfers");
                Phase::Gathering(placing, stocks, Transaction::new(&writes))
            }
            PlacingAction::Settle(rejection) => Phase::Settling(placing, rejection),
            PlacingAction::Recall => Phase::Recalling,
            PlacingAction::Unknown => Phase::Answered(Answer::Unavailable),
            PlacingAction::Done(outcome) => match *outcome {
                PlacingOutcome::Placed(_) => Phase::Answered(Answer::Placed),
                PlacingOutcome::Replayed(_) => Phase::Answered(Answer::Replayed),
                PlacingOutcome::RefusedBefore => Phase::Answered(Answer::Void),
                PlacingOutcome::OtherAcceptance if shop.bug == Some(Bug::StaleIsVoid) => Phase::Answered(Answer::Void),
                // The message is delivered again.
                PlacingOutcome::OtherAcceptance | PlacingOutcome::NotAccepted => Phase::Answered(Answer::Unavailable),
                PlacingOutcome::Untaxed(_) => panic!("these shops have no tax engine"),
                PlacingOutcome::Mismatch => panic!("no message of these shops holds another request"),
                PlacingOutcome::Waits { max_total } => Phase::Sending(Some(max_total)),
                PlacingOutcome::AlreadyQueued(queued) => Phase::Sending(queued.max_total),
                PlacingOutcome::Rejected(rejection) => match &self.role {
                    Role::Message { queued_at, .. } => {
                        let waiting = OrderMessage {
                            request: request.clone(),
                            queued_at: *queued_at,
                            max_total: None,
                            is_redriven: false,
                            request_id: None,
                        };
                        let [own, earlier] = [RefusedAcceptance::Own, RefusedAcceptance::Earlier].map(|accepted| {
                            let writes = ordering::refusal(&waiting, rejection.clone(), now(), accepted);
                            Transaction::new(&writes.expect("writes"))
                        });
                        Phase::Refusing(own, Some(earlier))
                    }
                    _ if matches!(rejection, Rejection::OutOfStock { .. }) => Phase::Answered(Answer::SoldOut),
                    _ => Phase::Answered(Answer::Refused),
                },
            },
        }
    }
}

fn read_cells(items: &[Stored]) -> Option<Vec<InStock>> {
    items.iter().map(|stored| read_item(Item::clone(&stored.0)).ok()).collect()
}

fn read_all(items: &[Stored]) -> Option<ItemsRead> {
    items.iter().map(|stored| read_item::<ItemRead>(Item::clone(&stored.0)).ok()).collect()
}
