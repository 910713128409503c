//! The consumers: what `count-orders` does, one request at a time.

use counting::{Batch, Next, Record, Step, Uncountable};

use super::folder::parked;
use super::{Bug, Late, Place, Run, State, Stream};
use crate::table::Digested;

impl Stream {
    /// A consumer sends its next request, and gets the answer.
    pub(super) fn go(&self, state: &mut State, at: usize) {
        let run = state.runs[at].clone();
        let shard = usize::from(run.shard);
        let batch = self.batch(&run);
        match batch.next() {
            Next::Done => self.answer(state, at),
            Next::Mark => state.runs[at].found = Some(state.marks[shard]),
            Next::Lines(_) => state.runs[at].has_lines = true,
            Next::GiveUp(numbers) => {
                let bits = numbers.iter().fold(0, |bits, number| bits | 1 << self.place(shard, number));
                if self.bug != Some(Bug::PoisonIsForgotten) {
                    state.lost[shard] |= bits;
                }
                state.runs[at].given_up |= bits;
            }
            // The model's consumers do not wait: anybody folds, at any time.
            Next::Fold => {}
            Next::Apply(step) => {
                let late = self.late(run.shard, &step);
                let is_written = self.commit(state, &late);
                state.runs[at].found = Some(if is_written { Some(late.mark) } else { state.marks[shard] });
            }
        }
    }

    /// Writes a step, if the checkpoint has the expected value.
    pub(super) fn commit(&self, state: &mut State, step: &Late) -> bool {
        let shard = usize::from(step.shard);
        let is_asked = !matches!(self.bug, Some(Bug::MarkIsNotAsked | Bug::MarkMovesLater));
        if is_asked && state.marks[shard] != step.previous {
            return false;
        }
        match &step.parked {
            // The checkpoint alone, as if the consumer crashed between the two requests.
            Some(_) if self.bug == Some(Bug::ParkedAfterTheMark) => {}
            Some(parked) => state.parked.extend(parked.iter().cloned()),
            None => state.count(&step.counts),
        }
        if self.bug != Some(Bug::MarkMovesLater) {
            state.marks[shard] = Some(step.mark);
        }
        true
    }

    pub(super) fn late(&self, shard: u8, step: &Step) -> Late {
        let place = |number| self.place(usize::from(shard), number);
        let previous = step.previous.as_ref().map(place);
        let parked = step.parks.then(|| parked(shard, step));
        Late { shard, previous, mark: place(&step.mark), counts: Digested::new(step.counts.clone()), parked }
    }

    /// A consumer answers with the first failed record, if there is one.
    pub(super) fn answer(&self, state: &mut State, at: usize) {
        let run = state.runs.remove(at);
        if !run.is_awaited {
            return;
        }
        let batch = self.batch(&run);
        let shard = usize::from(run.shard);
        let source = &mut state.sources[shard];
        source.hint = batch.mark().map(|number| self.place(shard, number));
        if batch.next() != Next::Done
            && let Some(left) = batch.first_left()
        {
            source.again(self.place(shard, left), run.to);
        }
    }

    /// The batch of a consumer, rebuilt from its state.
    pub(super) fn batch(&self, run: &Run) -> Batch {
        let shard = &self.shards[usize::from(run.shard)];
        let number = |place: Place| shard[usize::from(place)].number.clone();
        let records = shard[usize::from(run.from)..usize::from(run.to)].iter().map(|written| Record {
            number: written.number.clone(),
            change: written.change.clone().ok_or(Uncountable::UnreadableLines),
        });
        let mut batch = Batch::new(records.collect(), run.hint.map(number)).with_most_counters(self.most_counters);
        if run.parks {
            batch.park();
        }
        if run.has_lines {
            for (order, lines) in &self.lines {
                batch.learn(order.clone(), lines.clone());
            }
        }
        for place in (run.from..run.to).filter(|place| run.given_up & (1 << place) != 0) {
            batch.give_up(number(place));
        }
        if let Some(mark) = run.found {
            batch.found(mark.map(number));
        }
        batch
    }
}
