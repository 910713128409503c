//! The fault proxy between the functions and DynamoDB: it records every call, and can make any call fail.
//!
//! The fault proxy also enforces the functions' roles, in every stack. Recording and faults are for tests: AWS
//! throttles calls, reports conflicts and loses connections, and an embedded engine does none of these. The fault proxy
//! requests the consumed capacity of every call, and removes the figures from the response unless the client requested
//! them. A cut connection is really closed, so the client sees the same as in production.

mod capacity;
mod fault;
mod hold;
mod limit;
mod line;
mod rule;
mod serve;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value;
use tokio::task::JoinHandle;

pub use self::capacity::{Access, Consumed};
pub use self::fault::{Fault, Gate};
pub use self::limit::WriteLimit;
pub use self::rule::Match;
pub use self::serve::serve_or_cut;

use self::limit::Meter;
use self::line::Line;
use self::rule::Rule;
use crate::aws_json::NO_FUNCTION;
use crate::browser_guard::BrowserGuard;
use crate::iam::Guard;
use crate::listen::{free_port, url_of};
use crate::stories::Stories;

/// One recorded call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The logical id of the calling function. For another caller, the access key that signed the call.
    pub caller: Option<String>,
    /// The number of the function's execution environment.
    pub environment: Option<u64>,
    /// The action, for example `TransactWriteItems`.
    pub action: String,
    /// The request of the client.
    pub request: Value,
    /// The response, even if the client did not receive it. Null if there was none.
    pub response: Value,
    /// The status of the response. `None` if the connection was cut before a response.
    pub status: Option<u16>,
    /// The time at which the engine answered, or the fault proxy refused or cut the call instead.
    pub at: Instant,
    /// The time that the engine took to answer. Zero if the call was not forwarded.
    pub took: Duration,
    /// The capacity that the engine reports, per table. A refused call reports none, although AWS bills for it.
    pub consumed: Vec<Consumed>,
    /// The fault that was injected into this call. For a call beyond the [`WriteLimit`] it is the refusal: a
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
    /// Starts a fault proxy in front of the endpoint with this base URL.
    pub async fn start(upstream: &str) -> Result<Self> {
        Self::open(upstream, None, None, None, true).await
    }

    /// Like [`FaultProxy::start`], but every call is forwarded with this access key, whatever key signed it. `DynamoDB
    /// Local` has a separate database for each access key. The forwarded signature is a dummy, which only local
    /// endpoints accept.
    pub async fn start_as(upstream: &str, access_key: &str) -> Result<Self> {
        Self::open(upstream, Some(access_key), None, None, true).await
    }

    /// Starts a fault proxy that refuses calls that the caller's role does not allow, and optionally records calls. It
    /// forwards every call with the same access key, because all functions share the tables.
    pub(crate) async fn guarded(
        upstream: &str,
        guard: &Arc<Guard>,
        stories: &Arc<Stories>,
        records: bool,
    ) -> Result<Self> {
        let teller = Some((Arc::clone(stories), "DynamoDB"));
        Self::open(upstream, Some(NO_FUNCTION), Some(Arc::clone(guard)), teller, records).await
    }

    /// One in front of another service, whose calls the stories tell, too.
    pub(crate) async fn of_service(
        service: &'static str,
        upstream: &str,
        stories: &Arc<Stories>,
        records: bool,
    ) -> Result<Self> {
        Self::open(upstream, None, None, Some((Arc::clone(stories), service)), records).await
    }

    async fn open(
        upstream: &str,
        access_key: Option<&str>,
        guard: Option<Arc<Guard>>,
        teller: Option<(Arc<Stories>, &'static str)>,
        records: bool,
    ) -> Result<Self> {
        let listener = free_port().await?;
        let url = url_of(&listener)?;
        let line = Arc::new(Line::new(upstream, access_key, guard, BrowserGuard::of(&listener)?, teller, records)?);
        let accepting = tokio::spawn(line::accept(listener, Arc::clone(&line)));
        Ok(Self { url, line, accepting })
    }

    /// The base URL for clients.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Injects this fault into the next `times` matching calls. If several rules match a call, the oldest applies.
    pub fn inject(&self, matching: Match, fault: Fault, times: usize) {
        self.inject_after(0, matching, fault, times);
    }

    /// Like [`FaultProxy::inject`], but skips the first `skip` matching calls.
    pub fn inject_after(&self, skip: usize, matching: Match, fault: Fault, times: usize) {
        self.line.state().rules.push(Rule::counted(matching, fault, skip, times));
    }

    /// Holds the next `times` matching calls until the gate that is returned opens.
    pub fn hold(&self, matching: Match, times: usize) -> Gate {
        let gate = Gate::closed();
        self.inject(matching, Fault::Held(gate.clone()), times);
        gate
    }

    /// Injects this fault into a share of the matching calls, from 0 (none) to 1 (all), until [`FaultProxy::heal`].
    ///
    /// The seed and the sequence of the calls determine which calls fail. A newer rule may still apply to a call that this
    /// rule spares.
    pub fn inject_share(&self, matching: Match, fault: Fault, share: f64, seed: u64) {
        self.line.state().rules.push(Rule::random(matching, fault, share, seed));
    }

    /// Removes every rule, counted or random. A write limit stays.
    pub fn heal(&self) {
        self.line.state().rules.clear();
    }

    /// The number of counted faults that were not injected yet. A test that injects faults should leave none.
    pub fn pending(&self) -> usize {
        self.line.state().rules.iter().map(Rule::pending).sum()
    }

    /// Limits the write capacity from now on, with full buckets, or removes the limit.
    ///
    /// It waits for a limited call that is in progress.
    pub async fn limit_writes(&self, limit: Option<WriteLimit>) {
        *self.line.meter.lock().await = limit.map(Meter::new);
    }

    /// From now on each transaction takes this long, and holds the items that it writes. Because of the conflict,
    /// another transaction on one of these items is cancelled, and any other write to one is refused. A time of zero
    /// turns this off.
    pub fn hold_items(&self, time: Duration) {
        self.line.holds.set(time);
    }

    /// Whether no call is in progress, including calls whose client hung up and calls of a [`Fault::Late`].
    pub fn is_idle(&self) -> bool {
        self.busy_since().is_none()
    }

    /// The moment at which the oldest call in progress began, including the same calls.
    pub fn busy_since(&self) -> Option<Instant> {
        self.line.busy_since()
    }

    /// Every call so far, in the sequence in which they ended.
    pub fn calls(&self) -> Vec<Call> {
        self.line.state().calls.clone()
    }

    /// Every call since this was last called.
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
