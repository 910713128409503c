//! The file that keeps messages between two runs, even if the first one was killed.
//!
//! It is a log of the messages that were sent and of those that are gone. After a crash, messages that were only
//! received are visible at once. So a message may arrive twice, and none is lost. A call is answered after the
//! operating system has its line: that survives the end of the process, but not a power cut.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

use anyhow::{Context, Result};

use super::message::Message;
use crate::option_error::OptionError;
use crate::private_file;

/// Messages by the name of their queue, which may not be created yet.
pub(super) type Messages = BTreeMap<String, Vec<Message>>;

/// A line of JSON: a queue, the id of a message, and the message itself unless it is gone.
type Line = (String, String, Option<Message>);

pub(super) struct Log(File);

impl Log {
    /// Reads the messages of an earlier run, and begins a log of this one.
    pub(super) fn open(path: &Path) -> Result<(Self, Messages)> {
        let messages = read(path)?;
        Ok((Self::create(path, &messages)?, messages))
    }

    /// Begins a log with these messages. It replaces an earlier one atomically: a crash leaves the old one.
    pub(super) fn create(path: &Path, messages: &Messages) -> Result<Self> {
        let new = path.with_extension("new");
        let unwritable = || format!("cannot write the queued messages to {}", path.display());
        let mut log = Self(private_file::create(&new).with_context(unwritable)?);
        for (queue, messages) in messages {
            messages.iter().try_for_each(|message| log.sent(queue, message)).with_context(unwritable)?;
        }
        std::fs::rename(&new, path).with_context(unwritable)?;
        Ok(log)
    }

    pub(super) fn sent(&mut self, queue: &str, message: &Message) -> Result<()> {
        self.write(&(queue.to_owned(), message.id.clone(), Some(message.clone())))
    }

    pub(super) fn gone(&mut self, queue: &str, id: &str) -> Result<()> {
        self.write(&(queue.to_owned(), id.to_owned(), None))
    }

    fn write(&mut self, line: &Line) -> Result<()> {
        let mut line = serde_json::to_vec(line)?;
        line.push(b'\n');
        // In one call, so that a line is written completely or not at all.
        Ok(self.0.write_all(&line)?)
    }
}

/// Reads a log. If there is none, there are no messages.
fn read(path: &Path) -> Result<Messages> {
    let message =
        format!("cannot read the queued messages in {}: delete it or choose another directory", path.display());
    let unreadable = OptionError::new("data", message);
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Messages::new()),
        Err(error) => return Err(unreadable.caused_by(error).into()),
    };
    // A truncated line belongs to a call that was never answered.
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    let lines: Vec<Line> = match complete.lines().map(serde_json::from_str).collect() {
        Ok(lines) => lines,
        Err(error) => return Err(unreadable.caused_by(error).into()),
    };
    let mut messages = Messages::new();
    for (queue, id, sent) in lines {
        let messages = messages.entry(queue).or_default();
        match sent {
            Some(message) => messages.push(message),
            None => messages.retain(|message| message.id != id),
        }
    }
    Ok(messages)
}
