//! The log of a test.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::Value;
use tracing::Dispatch;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

/// A subscriber that hears nothing. While there is only one subscriber, `tracing` asks the thread that first reaches a log
/// statement whether anybody listens, and remembers its answer for all threads. With two it asks the subscribers.
static SILENT: LazyLock<Dispatch> =
    LazyLock::new(|| Dispatch::new(tracing_subscriber::fmt().with_max_level(LevelFilter::OFF).finish()));

/// The log of a test's thread, with all metrics. The test must run in one thread.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// A log that goes on until the guard is dropped.
    pub fn begin() -> (Self, DefaultGuard) {
        LazyLock::force(&SILENT);
        let log = Self::default();
        let subscriber = tracing_subscriber::fmt().with_writer(log.clone()).with_ansi(false);
        let guard = tracing::subscriber::set_default(subscriber.with_max_level(tracing::Level::DEBUG).finish());
        (log, guard)
    }

    /// A log of the lines that AWS gets: JSON, from INFO on.
    pub fn begin_as_on_aws() -> (Self, DefaultGuard) {
        LazyLock::force(&SILENT);
        let log = Self::default();
        let subscriber = lambda::log_lines().with_writer(log.clone()).with_max_level(LevelFilter::INFO).finish();
        let guard = tracing::subscriber::set_default(subscriber);
        (log, guard)
    }

    /// The lines of functions since this was last called. The gateway and the engine of the tests write lines of their own.
    pub fn take_lines(&self) -> Vec<Value> {
        let lines = self.take();
        let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
        let is_of_function = |line: &Value| {
            let target = line["target"].as_str().unwrap_or_default();
            !["devstack", "dynoxide"].iter().any(|other| target.starts_with(other))
        };
        lines.filter(is_of_function).collect()
    }

    /// The lines since this was last called.
    pub fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().expect("no panic"))).expect("text")
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
