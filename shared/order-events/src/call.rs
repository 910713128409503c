//! Which events are published together.

use std::collections::BTreeSet;

use crate::Subject;

/// The most entries of one `PutEvents`.
pub const MOST_ENTRIES: usize = 10;

/// The most bytes of one `PutEvents`: 256 KB, of which a few are left for what counts beside the details (source,
/// detail-type and time of each entry).
pub const MOST_BYTES: usize = 256 * 1024 - MOST_ENTRIES * 100;

/// An event that is not published yet.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// Its place in the batch.
    pub position: usize,
    /// What it is about.
    pub subject: Subject<'a>,
    /// The length of its detail.
    pub bytes: usize,
}

/// Which of the events that wait go into the next call: the oldest of each subject, up to [`MOST_ENTRIES`] and
/// [`MOST_BYTES`], but always one.
///
/// EventBridge may accept some entries of a call and fail others. Two of one order in a call might therefore arrive
/// the wrong way round.
pub fn next_call<'a>(waiting: impl IntoIterator<Item = Waiting<'a>>) -> Vec<usize> {
    let (mut subjects, mut bytes) = (BTreeSet::new(), 0);
    let oldest_of_each = waiting.into_iter().filter(|event| subjects.insert(event.subject));
    let fitting = oldest_of_each.take(MOST_ENTRIES).take_while(|event| {
        let is_first = bytes == 0;
        bytes += event.bytes;
        is_first || bytes <= MOST_BYTES
    });
    fitting.map(|event| event.position).collect()
}
