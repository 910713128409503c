//! The trail of a request: the ids by which its log lines are found, and what it noted. Every line that is written while
//! the request, or one of its parts, is worked on has them.

use std::cell::RefCell;
use std::future::Future;
use std::sync::OnceLock;

use serde_json::Value;

/// The gateway's id of the request, or Lambda's id of an invocation that no request caused.
const REQUEST_ID: &str = "request_id";

type Notes = Vec<(&'static str, Value)>;

tokio::task_local! {
    static NOTES: RefCell<Notes>;
}

/// The release that this process runs. Unset on a laptop.
static RELEASE: OnceLock<String> = OnceLock::new();

pub(crate) fn begin() {
    if let Some(release) = std::env::var("RELEASE").ok().filter(|release| !release.is_empty()) {
        _ = RELEASE.set(release);
    }
}

/// Does the work of this request.
pub async fn trail<F: Future>(request_id: &str, trace_id: Option<&str>, work: F) -> F::Output {
    let mut notes = Notes::new();
    notes.extend(Some(request_id).filter(|id| !id.is_empty()).map(|id| (REQUEST_ID, id.into())));
    notes.extend(trace_id.map(|trace_id| ("trace_id", trace_id.into())));
    NOTES.scope(RefCell::new(notes), work).await
}

/// Does a part of the work, such as that of one message or one order of a batch. What it notes is in its own lines alone.
pub fn trail_of_part<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let notes = NOTES.try_with(|notes| notes.borrow().clone()).unwrap_or_default();
    // Several parts are under way at once, and their futures are large.
    NOTES.scope(RefCell::new(notes), Box::pin(work))
}

/// Does a part of the work that waits for nothing.
pub fn trail_of_step<R>(work: impl FnOnce() -> R) -> R {
    let notes = NOTES.try_with(|notes| notes.borrow().clone()).unwrap_or_default();
    NOTES.sync_scope(RefCell::new(notes), work)
}

/// Adds a fact to the lines that follow, in place of an earlier one of this name. It is no personal data, and no code that
/// lets somebody do something.
pub fn note(name: &'static str, value: impl Into<Value>) {
    // Outside of a request there is no trail, and nothing to note.
    _ = NOTES.try_with(|notes| {
        let mut notes = notes.borrow_mut();
        notes.retain(|(known, _)| *known != name);
        notes.push((name, value.into()));
    });
}

/// Notes that the work is caused by this request, which another function took: the lines have its id.
pub fn note_request(request_id: &str) {
    note(REQUEST_ID, request_id);
}

/// The id of the request that is worked on.
pub fn request_id() -> Option<String> {
    let noted = |notes: &RefCell<Notes>| {
        let notes = notes.borrow();
        notes.iter().find(|(name, _)| *name == REQUEST_ID).and_then(|(_, value)| value.as_str()).map(str::to_owned)
    };
    NOTES.try_with(noted).ok().flatten()
}

/// What a line written now has besides its own fields.
pub(crate) fn fields() -> Vec<(&'static str, Value)> {
    let mut fields = NOTES.try_with(|notes| notes.borrow().clone()).unwrap_or_default();
    fields.extend(RELEASE.get().map(|release| ("release", release.as_str().into())));
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_part_notes_for_itself_and_a_later_note_replaces_an_earlier_one() {
        let noted = || fields().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ");
        note("order_id", "outside");
        assert_eq!(noted(), "");
        let work = async {
            note("order_id", "one");
            let part = async {
                note("order_id", "two");
                note_request("queued");
                noted()
            };
            (trail_of_part(part).await, noted(), request_id())
        };
        let (part, whole, id) = trail("r", None, work).await;
        assert_eq!(part, r#"order_id="two" request_id="queued""#);
        assert_eq!((whole.as_str(), id.as_deref()), (r#"request_id="r" order_id="one""#, Some("r")));
    }
}
