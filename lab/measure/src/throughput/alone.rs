//! A function on a thread of its own, one event after the other, as in Lambda.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use cpu_time::{ProcessTime, ThreadTime};
use devstack::Endpoints;
use devstack::gateway::Invoke;
use local::functions;
use tokio::runtime;
use tokio::sync::oneshot;

use super::subject::{Event, Subject};
use crate::workspace;

/// The time of each event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Wall-clock time.
    wall: Duration,
    pub(super) cpu: Duration,
}

impl Cost {
    pub(super) fn of(events: usize, wall: Duration, cpu: Duration) -> Result<Self> {
        let events = u32::try_from(events).ok().filter(|events| *events > 0).context("there are no events")?;
        Ok(Self { wall: wall / events, cpu: cpu / events })
    }

    /// Events a second.
    pub(super) fn rate(self) -> f64 {
        1.0 / self.wall.as_secs_f64().max(f64::EPSILON)
    }

    pub(super) fn better(self, other: Self) -> Self {
        Self { wall: self.wall.min(other.wall), cpu: self.cpu.min(other.cpu) }
    }
}

/// Runs the function on these events, with the DynamoDB at this URL. Returns its time, and the CPU time of all other
/// threads of this process for each event. The first event is not measured, because it opens the connection.
pub(super) async fn drive(subject: &Subject, dynamodb: &str, events: Vec<Event>) -> Result<(Cost, Duration)> {
    // The measured functions call none of these.
    let nowhere = || "http://127.0.0.1:1".to_owned();
    let endpoints = Endpoints {
        dynamodb: dynamodb.to_owned(),
        sqs: nowhere(),
        eventbridge: nowhere(),
        secretsmanager: nowhere(),
        s3: None,
    };
    // A new client each time, because connections belong to the thread that first uses them.
    let started = functions::start_all(&endpoints, &workspace::template()?)?;
    let named = started.handlers.into_iter().find(|(name, _)| name == subject.function);
    let (_, invoke) = named.with_context(|| format!("there is no function {}", subject.function))?;

    let mut events = events.into_iter();
    let first = events.next().context("there are no events")?;
    let count = events.len();
    let (wall, own, everybody) = on_a_thread(move || async move {
        check(&invoke, first).await?;
        let (began, own, everybody) = (Instant::now(), ThreadTime::now(), ProcessTime::now());
        for event in events {
            check(&invoke, event).await?;
        }
        Ok((began.elapsed(), own.elapsed(), everybody.elapsed()))
    })
    .await?;
    let others = Cost::of(count, wall, everybody.saturating_sub(own))?.cpu;
    Ok((Cost::of(count, wall, own)?, others))
}

async fn check(invoke: &Invoke, Event { event, status }: Event) -> Result<()> {
    let answer = invoke(event).await.map_err(|error| anyhow!(error))?;
    ensure!(answer["statusCode"] == status, "a function answered {answer}");
    Ok(())
}

/// Runs this on a new thread with its own runtime, like the process of a function.
pub(super) async fn on_a_thread<T, F, Fut>(work: F) -> Result<T>
where
    T: Send + 'static,
    F: FnOnce() -> Fut + Send + 'static,
    Fut: Future<Output = Result<T>>,
{
    let (done, finished) = oneshot::channel();
    std::thread::spawn(move || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().context("there is no runtime");
        _ = done.send(runtime.and_then(|runtime| runtime.block_on(work())));
    });
    finished.await.context("a measurement panicked")?
}
