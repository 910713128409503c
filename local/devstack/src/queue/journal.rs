//! A journal of the messages sent and deleted since all messages were last written to their file. With it, a killed
//! process loses no message that it has accepted.
//!
//! After a crash, messages that were only received are visible at once, and messages that had moved to another queue
//! are back in the old one. So a message may arrive twice, and none is lost. A call is answered after the operating
//! system has its line: that survives the end of the process, but not a power cut.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use winterbaume_sqs::types::Message;

use super::kept::{Kept, KeptMessage};
use crate::private_file;

/// An open journal. Each entry is a line of JSON.
pub(super) struct Journal(File);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Entry {
    Sent { queue: String, message: KeptMessage },
    Gone { queue: String, id: String },
}

impl Journal {
    /// Reads the messages of an earlier run, even if it crashed, and begins a journal for this run.
    pub(super) fn open(file: &Path) -> Result<(Self, Kept)> {
        let journal = Self::beside(file);
        let mut kept = Kept::read(file)?;
        match std::fs::read_to_string(&journal) {
            Ok(text) => {
                // A truncated line belongs to a call that was never answered.
                let entries = text.lines().filter_map(|line| serde_json::from_str(line).ok());
                entries.for_each(|entry| match entry {
                    Entry::Sent { queue, message } => kept.add(&queue, message),
                    Entry::Gone { queue, id } => kept.remove(&queue, &id),
                });
                kept.write(file)?;
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", journal.display())),
        }
        // The messages are in their file now, so at worst the old journal repeats them.
        let opened = private_file::create(&journal).with_context(|| format!("cannot write {}", journal.display()))?;
        Ok((Self(opened), kept))
    }

    /// Removes the journal, whose messages are in the file.
    pub(super) fn remove(file: &Path) -> Result<()> {
        std::fs::remove_file(Self::beside(file)).context("cannot remove the journal of the queues")
    }

    pub(super) fn sent(&mut self, queue: &str, message: &Message) -> Result<()> {
        self.add(&Entry::Sent { queue: queue.to_owned(), message: message.into() })
    }

    pub(super) fn gone(&mut self, queue: &str, message: &Message) -> Result<()> {
        self.add(&Entry::Gone { queue: queue.to_owned(), id: message.message_id.clone() })
    }

    fn add(&mut self, entry: &Entry) -> Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        // In one call, so that a line is written completely or not at all.
        self.0.write_all(&line).context("cannot write the journal of the queues")
    }

    fn beside(file: &Path) -> PathBuf {
        file.with_extension("journal")
    }
}
