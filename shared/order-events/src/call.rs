//! The events that one call publishes together.

use std::collections::BTreeSet;

use crate::Subject;

/// The most entries of one `PutEvents`.
pub const MOST_ENTRIES: usize = 10;

/// The most bytes of the details in one `PutEvents`: the limit of 256 KB, less 100 bytes for source, detail-type and
/// time of each entry, which count as well.
pub const MOST_BYTES: usize = 256 * 1024 - MOST_ENTRIES * 100;

/// An event that is not published yet.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<'a> {
    /// The event's position in the batch.
    pub position: usize,
    /// The event's subject.
    pub subject: Subject<'a>,
    /// The length of the event's detail.
    pub bytes: usize,
}

/// The positions of the events for the next call: the oldest waiting event of each subject, up to [`MOST_ENTRIES`] and
/// [`MOST_BYTES`], but at least one.
///
/// EventBridge may accept some entries of a call and fail others. If one call had two events of the same subject, the
/// older one could fail and arrive after the newer one.
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
