//! The fault proxy between the functions and DynamoDB: it records every call, and can make any of them go wrong.
//!
//! It is also where the roles of the functions are enforced, in every stack; the rest is for tests. An embedded engine
//! never throttles, conflicts or loses a connection, and AWS does all three, so a test asks the fault proxy for it. The fault proxy
//! asks for the consumed capacity of every call, and keeps the figures to itself unless the client asked, too.
//! Cutting a connection really closes it: the client sees what it would see in production.

mod capacity;
mod fault;
mod hold;
mod limit;
mod line;
mod rule;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;
use tokio::task::JoinHandle;

pub use self::capacity::{Access, Consumed, write_units_per_second};
pub use self::fault::Fault;
pub use self::limit::WriteLimit;
pub use self::rule::Match;

use self::limit::Meter;
use self::line::Line;
use self::rule::Rule;
use crate::aws_json::NO_FUNCTION;
use crate::browser_guard::BrowserGuard;
use crate::iam::Guard;
use crate::listen::{loopback, url_of};

/// One call as it went over the fault proxy.
#[derive(Debug, Clone)]
pub struct Call {
    /// `TransactWriteItems`, say.
    pub action: String,
    /// What the client asked.
    pub request: Value,
    /// What was answered, heard or not. Null if nothing was.
    pub response: Value,
    /// None: the connection was cut before there was an answer.
    pub status: Option<u16>,
    /// When the engine had answered, or the fault proxy had refused or cut the call in its stead.
    pub at: Instant,
    /// How long the engine took to answer. Zero if it was not asked.
    pub took: Duration,
    /// The capacity that the engine reports, per table. A refused call reports none, though AWS bills for it.
    pub consumed: Vec<Consumed>,
    /// What the fault proxy did to this call. If it was beyond the [`WriteLimit`], the refusal, which is a
    /// [`Fault::Throttle`] or a [`Fault::Cancel`].
    pub fault: Option<Fault>,
}

/// A recording, fault-injecting proxy in front of one endpoint of DynamoDB, or of another service that speaks AWS's JSON
/// protocol. It stops when dropped.
pub struct FaultProxy {
    url: String,
    line: Arc<Line>,
    accepting: JoinHandle<()>,
}

impl FaultProxy {
    /// Starts a fault proxy to the endpoint with this base URL.
    pub async fn start(upstream: &str) -> Result<Self> {
        Self::open(upstream, None, None, true).await
    }

    /// As [`FaultProxy::start`], and every call is this access key's, whoever sends it. `DynamoDB Local` keeps a database
    /// for each. The signature is a dummy from there on, which only local endpoints take.
    pub async fn start_as(upstream: &str, access_key: &str) -> Result<Self> {
        Self::open(upstream, Some(access_key), None, true).await
    }

    /// Starts one that refuses what the caller's role does not allow, and records calls or does not. Which function
    /// calls ends here, for the tables are the same to all.
    pub(crate) async fn guarded(upstream: &str, guard: &Arc<Guard>, records: bool) -> Result<Self> {
        Self::open(upstream, Some(NO_FUNCTION), Some(Arc::clone(guard)), records).await
    }

    async fn open(upstream: &str, access_key: Option<&str>, guard: Option<Arc<Guard>>, records: bool) -> Result<Self> {
        let listener = loopback(0, "--dynamodb-port").await?;
        let url = url_of(&listener)?;
        let line = Arc::new(Line::new(upstream, access_key, guard, BrowserGuard::of(&listener)?, records)?);
        let accepting = tokio::spawn(line::accept(listener, Arc::clone(&line)));
        Ok(Self { url, line, accepting })
    }

    /// Where clients should call.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Does this to the next `times` calls that match. Of several rules for one call, the oldest applies.
    pub fn inject(&self, matching: Match, fault: Fault, times: usize) {
        self.inject_after(0, matching, fault, times);
    }

    /// As [`FaultProxy::inject`], from the call on that matches after `skip` others: the second is the one after 1.
    pub fn inject_after(&self, skip: usize, matching: Match, fault: Fault, times: usize) {
        self.line.state().rules.push(Rule::counted(matching, fault, skip, times));
    }

    /// Does this to a share of the calls that match, from 0 (none) to 1 (all), until [`FaultProxy::heal`].
    ///
    /// Which of them it is follows from the seed and the order of the calls. A call that is spared may still suffer a
    /// younger rule.
    pub fn inject_share(&self, matching: Match, fault: Fault, share: f64, seed: u64) {
        self.line.state().rules.push(Rule::random(matching, fault, share, seed));
    }

    /// Forgets every rule, counted or random. A limit stays.
    pub fn heal(&self) {
        self.line.state().rules.clear();
    }

    /// How many counted faults still wait for a call. A test that injects faults should leave none.
    pub fn pending(&self) -> usize {
        self.line.state().rules.iter().map(Rule::pending).sum()
    }

    /// Limits what may be written from now on, with full buckets, or lifts the limit.
    ///
    /// A call that is being limited already ends first.
    pub async fn limit_writes(&self, limit: Option<WriteLimit>) {
        *self.line.meter.lock().await = limit.map(Meter::new);
    }

    /// From now on a transaction takes so long, and holds the items that it writes: another that wants one of them is
    /// cancelled, and another write refused, because of a conflict. No time at all lifts it.
    pub fn hold_items(&self, time: Duration) {
        self.line.holds.set(time);
    }

    /// Whether no call is under way: also none whose client hung up, and none of a [`Fault::Late`].
    pub fn is_idle(&self) -> bool {
        self.line.is_idle()
    }

    /// Every call so far, in the order of their ends.
    pub fn calls(&self) -> Vec<Call> {
        self.line.state().calls.clone()
    }

    /// Every call since the last time of asking.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.line.state().calls)
    }
}

impl Drop for FaultProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

#[cfg(test)]
mod tests;
