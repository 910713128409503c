//! Random deliveries of a shard's records, of every kind that Lambda may make.

use std::ops::Range;

use devstack::StartConsumer;
use devstack::gateway::Invoke;
use shop::stream::{batch, number};

use crate::prelude::*;

pub struct Delivery<'a> {
    counters: &'a StartConsumer,
    shard: String,
    rng: fastrand::Rng,
    counter: Invoke,
    state: Value,
    /// The position up to which the shard is delivered.
    at: usize,
    pub records: Vec<Value>,
    pub invocations: usize,
    pub crashes: usize,
    pub failures: usize,
}

impl<'a> Delivery<'a> {
    pub fn new(counters: &'a StartConsumer, shard: String, rng: fastrand::Rng) -> Self {
        let counter = counters().expect("the counter starts");
        let (state, records) = (json!({}), Vec::new());
        Self { counters, shard, rng, counter, state, at: 0, records, invocations: 0, crashes: 0, failures: 0 }
    }

    /// Delivers every record, with duplicates, failures and crashes.
    pub async fn everything(mut self) -> Self {
        while self.at < self.records.len() {
            let next = self.at..self.rng.usize(self.at..self.records.len()) + 1;
            // Earlier records again: some of them or all from the beginning, and possibly further than before.
            let again = self.rng.usize(..=self.at)..self.rng.usize(self.at..=self.records.len());
            match self.rng.u8(..12) {
                0..=4 => self.deliver(next).await,
                5 => _ = self.invoke(again).await,
                6 | 7 => self.crash(next).await,
                8 => {
                    let (one, other) = (self.call(next), self.call(again));
                    let answers = tokio::join!(one, other);
                    assert!(answers.0.is_ok() && answers.1.is_ok(), "{answers:?}");
                }
                9 => self.counter = (self.counters)().expect("the counter starts"),
                10 => self.end_window().await,
                _ => {
                    // Lambda bisects a failed batch.
                    let middle = next.start + next.len() / 2;
                    self.crash(next.clone()).await;
                    self.deliver(next.start..middle).await;
                }
            }
        }
        self
    }

    /// Delivers the whole shard once more, to a new environment.
    pub async fn once_more(self) {
        let counter = (self.counters)().expect("the counter starts");
        let answer = counter(batch(&self.shard, &self.records, &json!({}))).await.expect("an answer");
        assert_eq!(answer["batchItemFailures"], json!([]));
    }

    /// Delivers a batch, and waits for its answer.
    async fn deliver(&mut self, range: Range<usize>) {
        let end = range.end;
        let answer = self.invoke(range).await;
        self.state = answer["state"].clone();
        match answer["batchItemFailures"].as_array().expect("a list").first() {
            Some(failure) => {
                let left = self.records.iter().position(|record| failure["itemIdentifier"] == number(record));
                self.at = left.expect("a record");
                self.failures += 1;
            }
            None => self.at = end,
        }
    }

    async fn invoke(&mut self, range: Range<usize>) -> Value {
        self.invocations += 1;
        self.call(range).await.expect("an answer")
    }

    /// Crashes the consumer and its environment at a random point.
    async fn crash(&mut self, range: Range<usize>) {
        self.crashes += 1;
        let running = tokio::spawn(self.call(range));
        tokio::time::sleep(Duration::from_micros(self.rng.u64(..6000))).await;
        running.abort();
        _ = running.await;
        self.counter = (self.counters)().expect("the counter starts");
    }

    async fn end_window(&mut self) {
        let answer = (self.counter)(batch(&self.shard, &[], &self.state)).await.expect("an answer");
        assert_eq!(answer["batchItemFailures"], json!([]));
        self.state = json!({});
    }

    fn call(&self, range: Range<usize>) -> impl Future<Output = Result<Value, String>> + Send + use<> {
        (self.counter)(batch(&self.shard, &self.records[range], &self.state))
    }
}
