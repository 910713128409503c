//! The messages: the library's own queue state, held here instead of in the library's backend.
//!
//! Messages must survive a restart, but the library's backend does not expose them. The behaviour of SQS remains the
//! library's: every method below is one call of it. Three gaps of the library that matter on a laptop are filled here,
//! each with a comment.

use std::collections::HashMap;
use std::future::ready;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};

use winterbaume_core::StateViewError;
use winterbaume_sqs::state::{QueueState, SqsError};
use winterbaume_sqs::types::{Message, MessageAttribute, MessageMoveTask, Queue};
use winterbaume_sqs::{SendMessageOutput, SqsBackend, SqsState, SqsStateView};

use super::MAX_MESSAGE_BYTES;
use super::journal::Journal;
use super::kept::Kept;
use crate::clock::Standstill;
use crate::resource::{ACCOUNT, REGION};

type Answer<T> = Pin<Box<dyn Future<Output = Result<T, SqsError>> + Send>>;
type Restored = Pin<Box<dyn Future<Output = Result<(), StateViewError>> + Send>>;

/// The queues and their messages.
#[derive(Default)]
pub(super) struct Backend {
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    sqs: SqsState,
    /// Messages of an earlier run whose queue is not created yet.
    kept: Kept,
    /// The journal of sent and deleted messages, if messages survive this process.
    journal: Option<Journal>,
    standstill: Standstill,
    /// When this was last used, in milliseconds since 1970.
    used: i64,
}

impl Inside {
    /// The library follows the machine's clock. While tokio's stands still, as in tests, no message becomes visible.
    fn follow_the_clock(&mut self) {
        let before = std::mem::replace(&mut self.used, now());
        let still = self.standstill.take();
        let messages = self.sqs.queues.values_mut().flat_map(|queue| &mut queue.messages);
        messages.filter(|message| message.visible_at > before).for_each(|message| message.visible_at += still);
    }
}

impl Backend {
    /// A backend with the messages of an earlier run.
    pub(super) fn resuming(kept: Kept, journal: Option<Journal>) -> Self {
        Self { inside: Mutex::new(Inside { kept, journal, ..Inside::default() }) }
    }

    /// Every message, for the next run.
    pub(super) fn keep(&self) -> Kept {
        let inside = self.inside();
        let mut kept = inside.kept.clone();
        for (name, queue) in &inside.sqs.queues {
            kept.put(name, &queue.messages);
        }
        kept
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.follow_the_clock();
        inside
    }

    fn run<T: Send + 'static>(&self, call: impl FnOnce(&mut SqsState) -> Result<T, SqsError>) -> Answer<T> {
        Box::pin(ready(call(&mut self.inside().sqs)))
    }
}

/// Writes a change to the journal, if there is one. If that fails, the call fails.
fn note(
    journal: &mut Option<Journal>,
    message: Option<&Message>,
    write: impl FnOnce(&mut Journal, &Message) -> anyhow::Result<()>,
) -> Result<(), SqsError> {
    match (journal, message) {
        (Some(journal), Some(message)) => {
            write(journal, message).map_err(|error| SqsError::InternalError(format!("{error:#}")))
        }
        _ => Ok(()),
    }
}

/// Drops messages older than the retention period, which the library does not.
fn expire(queue: &mut QueueState) {
    let retention = i64::from(queue.queue.message_retention_period) * 1000;
    queue.messages.retain(|message| message.sent_timestamp + retention > now());
}

/// The milliseconds since 1970.
fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl SqsBackend for Backend {
    fn create_queue(
        &self,
        _: String,
        _: String,
        name: String,
        mut attributes: HashMap<String, String>,
        tags: Option<HashMap<String, String>>,
    ) -> Answer<Queue> {
        let mut inside = self.inside();
        let Inside { sqs, kept, .. } = &mut *inside;
        // The library has the limit from before August 2025.
        attributes.entry("MaximumMessageSize".to_owned()).or_insert_with(|| MAX_MESSAGE_BYTES.to_string());
        let created = sqs.create_queue(&name, REGION, ACCOUNT, &attributes, tags.as_ref()).cloned();
        if let Some(queue) = sqs.queues.get_mut(&name) {
            queue.messages.extend(kept.take(&name));
        }
        Box::pin(ready(created))
    }

    fn delete_queue(&self, _: String, _: String, name: String) -> Answer<()> {
        self.run(|sqs| sqs.delete_queue(&name))
    }

    fn get_queue_url(&self, _: String, _: String, name: String) -> Answer<String> {
        self.run(|sqs| sqs.get_queue_url(&name).map(str::to_owned))
    }

    fn get_queue_attributes(&self, _: String, _: String, name: String) -> Answer<HashMap<String, String>> {
        self.run(|sqs| {
            sqs.queues.get_mut(&name).into_iter().for_each(expire);
            let mut attributes = sqs.get_queue_attributes(&name)?;
            // The library counts only messages that were never received, and not those that came back.
            let messages = sqs.queues.get(&name).into_iter().flat_map(|queue| &queue.messages);
            let visible = messages.filter(|message| message.is_visible()).count();
            attributes.insert("ApproximateNumberOfMessages".to_owned(), visible.to_string());
            Ok(attributes)
        })
    }

    fn set_queue_attributes(
        &self,
        _: String,
        _: String,
        name: String,
        attributes: HashMap<String, String>,
    ) -> Answer<()> {
        self.run(|sqs| sqs.set_queue_attributes(&name, &attributes))
    }

    fn list_queues(&self, _: String, _: String, prefix: Option<String>) -> Answer<Vec<Queue>> {
        self.run(|sqs| Ok(sqs.list_queues(prefix.as_deref()).into_iter().cloned().collect()))
    }

    fn send_message(
        &self,
        _: String,
        _: String,
        name: String,
        body: String,
        delay: Option<u32>,
        attributes: HashMap<String, MessageAttribute>,
        group: Option<String>,
        deduplication: Option<String>,
    ) -> Answer<SendMessageOutput> {
        let mut inside = self.inside();
        let Inside { sqs, journal, .. } = &mut *inside;
        let sent = sqs.send_message(&name, &body, delay, attributes, group.as_deref(), deduplication.as_deref());
        let written = sent.and_then(|sent| {
            let messages = sqs.queues.get(&name).into_iter().flat_map(|queue| &queue.messages);
            let message = messages.rev().find(|message| message.message_id == sent.message_id);
            note(journal, message, |journal, message| journal.sent(&name, message))?;
            Ok(SendMessageOutput { message_id: sent.message_id, body_md5: sent.body_md5 })
        });
        Box::pin(ready(written))
    }

    fn receive_messages(
        &self,
        _: String,
        _: String,
        name: String,
        max: usize,
        visibility_timeout: Option<u32>,
    ) -> Answer<Vec<Message>> {
        self.run(|sqs| {
            sqs.queues.get_mut(&name).into_iter().for_each(expire);
            sqs.receive_message(&name, max, visibility_timeout)
        })
    }

    fn delete_message(&self, _: String, _: String, name: String, handle: String) -> Answer<()> {
        let mut inside = self.inside();
        let Inside { sqs, journal, .. } = &mut *inside;
        let mut messages = sqs.queues.get(&name).into_iter().flat_map(|queue| &queue.messages);
        let message = messages.find(|message| message.all_receipt_handles.contains(&handle));
        let noted = note(journal, message, |journal, message| journal.gone(&name, message));
        Box::pin(ready(noted.and_then(|()| sqs.delete_message(&name, &handle))))
    }

    fn purge_queue(&self, _: String, _: String, name: String) -> Answer<()> {
        self.run(|sqs| sqs.purge_queue(&name))
    }

    fn change_message_visibility(&self, _: String, _: String, name: String, handle: String, to: u32) -> Answer<()> {
        self.run(|sqs| sqs.change_message_visibility(&name, &handle, to))
    }

    fn change_message_visibility_batch(
        &self,
        _: String,
        _: String,
        name: String,
        entries: Vec<(String, String, u32)>,
    ) -> Answer<Vec<String>> {
        self.run(|sqs| sqs.change_message_visibility_batch(&name, &entries))
    }

    fn list_queue_tags(&self, _: String, _: String, name: String) -> Answer<HashMap<String, String>> {
        self.run(|sqs| sqs.list_queue_tags(&name))
    }

    fn tag_queue(&self, _: String, _: String, name: String, tags: HashMap<String, String>) -> Answer<()> {
        self.run(|sqs| sqs.tag_queue(&name, &tags))
    }

    fn untag_queue(&self, _: String, _: String, name: String, keys: Vec<String>) -> Answer<()> {
        self.run(|sqs| sqs.untag_queue(&name, &keys))
    }

    fn add_permission(
        &self,
        _: String,
        _: String,
        name: String,
        label: String,
        accounts: Vec<String>,
        actions: Vec<String>,
    ) -> Answer<()> {
        self.run(|sqs| sqs.add_permission(&name, &label, accounts, actions))
    }

    fn remove_permission(&self, _: String, _: String, name: String, label: String) -> Answer<()> {
        self.run(|sqs| sqs.remove_permission(&name, &label))
    }

    fn list_dead_letter_source_queues(&self, _: String, _: String, name: String) -> Answer<Vec<String>> {
        self.run(|sqs| sqs.list_dead_letter_source_queues(&name))
    }

    fn start_message_move_task(
        &self,
        _: String,
        _: String,
        source: String,
        destination: Option<String>,
        rate: Option<i32>,
    ) -> Answer<String> {
        self.run(|sqs| sqs.start_message_move_task(&source, destination.as_deref(), rate))
    }

    fn cancel_message_move_task(&self, _: String, _: String, task: String) -> Answer<i64> {
        self.run(|sqs| sqs.cancel_message_move_task(&task))
    }

    fn list_message_move_tasks(&self, _: String, _: String, source: String) -> Answer<Vec<MessageMoveTask>> {
        self.run(|sqs| Ok(sqs.list_message_move_tasks(&source).into_iter().cloned().collect()))
    }

    fn scopes_with_state(&self) -> Vec<(String, String)> {
        vec![(ACCOUNT.to_owned(), REGION.to_owned())]
    }

    fn snapshot(&self, _: String, _: String) -> Pin<Box<dyn Future<Output = SqsStateView> + Send>> {
        Box::pin(ready(SqsStateView::from(&self.inside().sqs)))
    }

    fn restore(&self, _: String, _: String, view: SqsStateView) -> Restored {
        self.inside().sqs = view.into();
        Box::pin(ready(Ok(())))
    }

    fn merge(&self, _: String, _: String, view: SqsStateView) -> Restored {
        self.inside().sqs.queues.extend(SqsState::from(view).queues);
        Box::pin(ready(Ok(())))
    }
}
