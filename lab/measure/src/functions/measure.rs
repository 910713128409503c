//! The figures of one subject.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::process::{Process, Quota, Watch, instructions, system_calls};
use super::runtime_api::RuntimeApi;
use super::shop::Shop;
use super::subject::{Kind, Subject, environment};
use super::tls::Tls;
use crate::figures::{median, most_memory};

/// The number of warm events over which counts are averaged.
const WARM: u32 = 60;

/// The number of warm events over which times are measured.
const TIMED: u32 = 400;

/// The part of a CPU, in hundredths, that a function of 256 MB has.
pub(super) const SMALL: u32 = 14;

/// The figures of one subject. Counts are repeatable; times depend on the machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) name: &'static str,
    /// Instructions from the start to the request for the first event.
    pub(super) init: Option<u64>,
    /// Instructions of the first event.
    pub(super) first: Option<u64>,
    /// Instructions of a later event.
    pub(super) warm: Option<u64>,
    /// Bytes of the binary.
    pub(super) binary: Option<u64>,
    /// The most memory it held, in bytes.
    pub(super) memory: u64,
    /// System calls of a later event.
    pub(super) system_calls: Option<f64>,
    /// CPU time of a later event.
    pub(super) cpu: Duration,
    /// The time that half of the later events take at most.
    pub(super) latency: Duration,
    /// From the start to the question for the first event.
    pub(super) start: Duration,
    /// The time of the first event.
    pub(super) first_latency: Duration,
    /// The three times with a small share of a CPU.
    pub(super) small: Option<Small>,
}

impl Figures {
    /// The lesser of each of the counts that have a budget; the rest is the other's.
    pub(super) fn least(&self, other: &Self) -> Self {
        Self {
            init: self.init.min(other.init),
            first: self.first.min(other.first),
            warm: self.warm.min(other.warm),
            memory: self.memory.min(other.memory),
            system_calls: self.system_calls.zip(other.system_calls).map(|(one, two)| one.min(two)),
            ..other.clone()
        }
    }
}

/// Times with [`SMALL`] hundredths of a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Small {
    pub(super) start: Duration,
    pub(super) first: Duration,
    pub(super) latency: Duration,
}

/// The measuring environment.
pub(super) struct Bench<'a> {
    pub(super) shop: &'a Shop,
    pub(super) dynamodb: &'a Tls,
    /// The folder of the reports.
    pub(super) folder: &'a Path,
    pub(super) counts_system_calls: bool,
    pub(super) quota: Option<&'a Quota>,
    /// The number of the next event.
    pub(super) next: u32,
}

/// A life of a function in this process.
struct Life {
    api: RuntimeApi,
    process: Process,
    start: Duration,
}

impl Bench<'_> {
    pub(super) async fn measure(&mut self, subject: &Subject) -> Result<Figures> {
        let mut figures = Figures { name: subject.name, ..Figures::default() };
        if subject.kind != Kind::Interpreter {
            let binary = subject.command.first().context("no command")?;
            figures.binary = Some(std::fs::metadata(binary)?.len());
            let unused = self.instructions(subject, 0).await?;
            let used_once = self.instructions(subject, 1).await?;
            let used = self.instructions(subject, 1 + WARM).await?;
            figures.init = Some(unused);
            figures.first = Some(used_once.saturating_sub(unused));
            figures.warm = Some(used.saturating_sub(used_once) / u64::from(WARM));
        }
        if self.counts_system_calls {
            let (used_once, used) = (self.calls(subject, 1).await?, self.calls(subject, 1 + WARM).await?);
            figures.system_calls = Some(f64::from(used.saturating_sub(used_once)) / f64::from(WARM));
        }
        self.times(subject, &mut figures).await?;
        if let Some(quota) = self.quota {
            figures.small = Some(self.with_little(subject, quota).await?);
        }
        Ok(figures)
    }

    async fn instructions(&mut self, subject: &Subject, events: u32) -> Result<u64> {
        let report = self.folder.join(format!("{}-{events}.callgrind", subject.name));
        self.live(subject, Watch::Instructions(&report), events).await?;
        instructions(&report)
    }

    async fn calls(&mut self, subject: &Subject, events: u32) -> Result<u32> {
        let report = self.folder.join(format!("{}-{events}.strace", subject.name));
        self.live(subject, Watch::SystemCalls(&report), events).await?;
        Ok(u32::try_from(system_calls(&report)?)?)
    }

    /// A whole life of so many events.
    async fn live(&mut self, subject: &Subject, watch: Watch<'_>, events: u32) -> Result<()> {
        let mut life = self.start(subject, watch).await?;
        self.invoke(subject, &mut life.api, events).await?;
        life.process.stop().await
    }

    async fn times(&mut self, subject: &Subject, figures: &mut Figures) -> Result<()> {
        let mut life = self.start(subject, Watch::None).await?;
        figures.start = life.start;
        figures.first_latency = median(self.invoke(subject, &mut life.api, 1).await?);
        self.invoke(subject, &mut life.api, WARM).await?;
        figures.memory = most_memory(life.process.id())?;
        let before = life.process.cpu()?;
        figures.latency = median(self.invoke(subject, &mut life.api, TIMED).await?);
        figures.cpu = life.process.cpu()?.saturating_sub(before) / TIMED;
        life.process.stop().await
    }

    async fn with_little(&mut self, subject: &Subject, quota: &Quota) -> Result<Small> {
        let mut life = self.start(subject, Watch::Quota(quota)).await?;
        let start = life.start;
        let first = median(self.invoke(subject, &mut life.api, 1).await?);
        let latency = median(self.invoke(subject, &mut life.api, WARM).await?);
        life.process.stop().await?;
        Ok(Small { start, first, latency })
    }

    async fn start(&self, subject: &Subject, watch: Watch<'_>) -> Result<Life> {
        let mut api = RuntimeApi::start().await?;
        let mut variables = environment(self.shop.stack.template(), subject.name);
        let own = [
            ("AWS_LAMBDA_RUNTIME_API", api.address()),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.url()),
            ("SSL_CERT_FILE", &self.dynamodb.roots().to_string_lossy()),
            // For Python's and Node's clients.
            ("AWS_CA_BUNDLE", &self.dynamodb.roots().to_string_lossy()),
            ("NODE_EXTRA_CA_CERTS", &self.dynamodb.roots().to_string_lossy()),
        ];
        variables.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let begin = std::time::Instant::now();
        let process = Process::start(&subject.command, &variables, watch)?;
        api.ready().await.with_context(|| format!("{} does not start", subject.name))?;
        Ok(Life { api, process, start: begin.elapsed() })
    }

    async fn invoke(&mut self, subject: &Subject, api: &mut RuntimeApi, events: u32) -> Result<Vec<Duration>> {
        let mut took = Vec::new();
        for _ in 0..events {
            self.next += 1;
            let event = subject.event(self.shop, self.next)?;
            took.push(api.invoke(event).await.with_context(|| format!("{} on event {}", subject.name, self.next))?);
        }
        Ok(took)
    }
}
