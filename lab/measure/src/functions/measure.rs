//! The figures of one subject.

use std::path::Path;

use anyhow::{Context, Result};

use super::process::{Process, Watch, instructions, system_calls};
use super::runtime_api::RuntimeApi;
use super::shop::Shop;
use super::subject::{Subject, environment};
use super::tls::Tls;

/// The number of warm events over which counts are averaged.
const WARM: u32 = 60;

/// The figures of one subject. All of them are repeatable.
#[derive(Clone, Debug, Default)]
pub(super) struct Figures {
    pub(super) name: &'static str,
    /// Instructions from the start to the request for the first event.
    pub(super) init: u64,
    /// Instructions of the first event.
    pub(super) first: u64,
    /// Instructions of a later event.
    pub(super) warm: u64,
    pub(super) binary: u64,
    /// The most memory it held, in bytes.
    pub(super) memory: u64,
    pub(super) system_calls: Option<f64>,
}

impl Figures {
    /// The lesser of each of the counts.
    pub(super) fn least(&self, other: &Self) -> Self {
        Self {
            name: self.name,
            init: self.init.min(other.init),
            first: self.first.min(other.first),
            warm: self.warm.min(other.warm),
            binary: self.binary.min(other.binary),
            memory: self.memory.min(other.memory),
            system_calls: self.system_calls.zip(other.system_calls).map(|(one, two)| one.min(two)),
        }
    }
}

pub(super) struct Bench<'a> {
    pub(super) shop: &'a Shop,
    pub(super) dynamodb: &'a Tls,
    pub(super) folder: &'a Path,
    pub(super) counts_system_calls: bool,
    /// The number of the next event.
    pub(super) next: u32,
}

impl Bench<'_> {
    pub(super) async fn measure(&mut self, subject: &Subject) -> Result<Figures> {
        let unused = self.instructions(subject, 0).await?;
        let used_once = self.instructions(subject, 1).await?;
        let used = self.instructions(subject, 1 + WARM).await?;
        let mut system_calls = None;
        if self.counts_system_calls {
            let (used_once, used) = (self.calls(subject, 1).await?, self.calls(subject, 1 + WARM).await?);
            system_calls = Some(f64::from(used.saturating_sub(used_once)) / f64::from(WARM));
        }
        Ok(Figures {
            name: subject.name,
            init: unused,
            first: used_once.saturating_sub(unused),
            warm: used.saturating_sub(used_once) / u64::from(WARM),
            binary: std::fs::metadata(&subject.binary)?.len(),
            memory: self.live(subject, Watch::None, 1 + WARM).await?,
            system_calls,
        })
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

    /// A whole life of so many events. Returns the most memory of the process.
    async fn live(&mut self, subject: &Subject, watch: Watch<'_>, events: u32) -> Result<u64> {
        let mut api = RuntimeApi::start().await?;
        let mut variables = environment(self.shop.stack.template(), subject.name);
        let own = [
            ("AWS_LAMBDA_RUNTIME_API", api.address()),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.url()),
            ("SSL_CERT_FILE", &self.dynamodb.roots().to_string_lossy()),
        ];
        variables.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let process = Process::start(&subject.binary, &variables, watch)?;
        api.ready().await.with_context(|| format!("{} does not start", subject.name))?;
        for _ in 0..events {
            self.next += 1;
            let event = subject.event(self.shop, self.next)?;
            api.invoke(event).await.with_context(|| format!("{} on event {}", subject.name, self.next))?;
        }
        let memory = process.most_memory()?;
        process.stop().await?;
        Ok(memory)
    }
}
