//! The invariants of every state.

use counting::Counts;
use stateright::Property;

use super::source::Source;
use super::{Place, State, Stream};

/// The invariants, by their names.
pub(super) fn all() -> Vec<Property<Stream>> {
    vec![
        Property::always(
            "counters and parked counts are the sum of the records up to the checkpoints",
            |model: &Stream, state: &State| state.sum() == model.counts_up_to(&state.marks),
        ),
        Property::always(
            "no mark is past a record that is neither counted nor kept",
            |model: &Stream, state: &State| {
                let poisons = model.poisons();
                poisons.into_iter().all(|(shard, place)| {
                    state.marks[shard].is_none_or(|mark| mark < place) || state.lost[shard] & (1 << place) != 0
                })
            },
        ),
        Property::always("only unreadable records are given up", |model: &Stream, state: &State| {
            let mut lost = vec![0; model.shards.len()];
            model.poisons().into_iter().for_each(|(shard, place)| lost[shard] |= 1 << place);
            lost.iter().zip(&state.lost).all(|(poisons, lost)| poisons & lost == *lost)
        }),
        Property::always(
            "when everything is delivered, everything is counted or parked",
            |model: &Stream, state: &State| !model.is_delivered(state) || model.is_counted(state),
        ),
        Property::eventually("everything is delivered, counted and folded", |model: &Stream, state: &State| {
            model.is_delivered(state) && model.is_counted(state) && state.parked.is_empty()
        }),
    ]
}

impl Stream {
    /// The unreadable records.
    fn poisons(&self) -> Vec<(usize, Place)> {
        let mut poisons = Vec::new();
        for (shard, records) in self.shards.iter().enumerate() {
            let unreadable = records.iter().zip(0..).filter(|(written, _)| written.change.is_none());
            poisons.extend(unreadable.map(|(_, place)| (shard, place)));
        }
        poisons
    }

    fn counts_up_to(&self, marks: &[Option<Place>]) -> Counts {
        let mut counts = Counts::default();
        for (sums, mark) in self.sums.iter().zip(marks) {
            counts.add(&sums[mark.map_or(0, |mark| usize::from(mark) + 1)]);
        }
        counts
    }

    fn is_delivered(&self, state: &State) -> bool {
        let is_read = |(shard, source): (usize, &Source)| source.is_done(self.len(shard)) && !state.awaits(shard);
        state.sources.iter().enumerate().all(is_read)
    }

    fn is_counted(&self, state: &State) -> bool {
        let mut all = Counts::default();
        self.sums.iter().filter_map(|sums| sums.last()).for_each(|sum| all.add(sum));
        let is_kept = |(shard, place): (usize, Place)| state.lost[shard] & (1 << place) != 0;
        state.sum() == all && self.poisons().into_iter().all(is_kept)
    }
}
