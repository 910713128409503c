//! Polls one shard, and delivers its records.

use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};

use super::Token;
use super::delivery::Delivery;
use super::reader::{Found, Reader};

/// The pause when there is nothing to do. Lambda polls four times a second.
const BETWEEN_READS: Duration = Duration::from_millis(200);

/// The pause after the stream did not answer.
const AFTER_ERROR: Duration = Duration::from_secs(1);

pub(super) struct Poller {
    pub(super) reader: Reader,
    pub(super) delivery: Delivery,
    /// Receives tokens of callers that wait until everything is delivered.
    pub(super) asking: mpsc::UnboundedReceiver<Token>,
    pub(super) waiting: Vec<Token>,
}

/// The action after one turn.
enum Next {
    Turn,
    TurnAfter(Duration),
    End,
}

impl Poller {
    /// Consumes the shard until its end, or until `stop` turns true. A running invocation is finished.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<bool>) {
        while !*stop.borrow() {
            let pause = match self.turn().await {
                Next::Turn => continue,
                Next::TurnAfter(pause) => pause,
                Next::End => return,
            };
            tokio::select! {
                _ = stop.wait_for(|stop| *stop) => return,
                Some(token) = self.asking.recv() => self.waiting.push(token),
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    async fn turn(&mut self) -> Next {
        // A token that arrives after the read may be about a record that the read did not see.
        while let Ok(token) = self.asking.try_recv() {
            self.waiting.push(token);
        }
        let began = Timestamp::now();
        let found =
            if self.delivery.backlog.has_room() { self.reader.read().await } else { Ok(Found::Records(Vec::new())) };
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(shard = self.reader.shard, "cannot read the stream: {error:#}");
                return Next::TurnAfter(AFTER_ERROR);
            }
        };
        let (nothing_left, ended) = (matches!(found, Found::Nothing | Found::End), matches!(found, Found::End));
        if let Found::Records(records) = found {
            self.delivery.backlog.extend(records);
        }

        if self.delivery.backlog.is_due(ended || !self.waiting.is_empty()) {
            return self.delivery.step().await.map_or(Next::Turn, Next::TurnAfter);
        }
        if !nothing_left {
            return Next::Turn;
        }
        if self.delivery.backlog.is_empty() {
            self.waiting.clear();
            if self.delivery.window_is_over(began, ended) {
                return self.delivery.end_window().await.map_or(Next::Turn, Next::TurnAfter);
            }
        }
        if ended { Next::End } else { Next::TurnAfter(BETWEEN_READS) }
    }
}
