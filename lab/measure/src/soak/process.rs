//! Controls the process of the stack.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::storm::Storm;
use anyhow::{Context, Result, bail};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

/// The longest wait for a start and for each command.
const PATIENCE: Duration = Duration::from_mins(6);

pub(super) struct Process {
    child: Child,
    commands: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    pub(super) url: String,
    pub(super) dynamodb_url: String,
    injected: u64,
}

impl Process {
    /// Starts a stack with this data and this provider, always on the same ports.
    pub(super) async fn start(data: &Path, storm: &Storm, faults: f64, seed: u64) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe().context("where this program is")?);
        command.arg("soak-stack").arg("--data").arg(data);
        command.args(["--payments", storm.url(), "--secret", &storm.secret, "--port", &storm.port.to_string()]);
        command.args(["--faults", &faults.to_string(), "--seed", &seed.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("cannot start the stack")?;
        let commands = child.stdin.take().context("it has an input")?;
        let lines = BufReader::new(child.stdout.take().context("it has an output")?).lines();
        let mut started = Self { child, commands, lines, url: String::new(), dynamodb_url: String::new(), injected: 0 };
        let said = started.until("listening ").await?;
        let (url, dynamodb) = said.split_once(' ').context("two URLs")?;
        (started.url, started.dynamodb_url) = (url.to_owned(), dynamodb.to_owned());
        Ok(started)
    }

    /// Kills the stack by SIGKILL. Returns the number of injected faults.
    pub(super) async fn kill(mut self) -> Result<u64> {
        self.child.kill().await.context("cannot kill the stack")?;
        while let Some(line) = self.lines.next_line().await? {
            self.hear(&line);
        }
        Ok(self.injected)
    }

    /// Stops the faults.
    pub(super) async fn heal(&mut self) -> Result<()> {
        self.commands.write_all(b"heal\n").await?;
        self.until("healed").await.map(drop)
    }

    /// Waits until everything is processed and counted. Returns the number of injected faults.
    pub(super) async fn settle(&mut self) -> Result<u64> {
        self.commands.write_all(b"settle\n").await?;
        self.until("settled").await?;
        Ok(self.injected)
    }

    /// Stops the stack gracefully.
    pub(super) async fn stop(mut self) -> Result<()> {
        drop(self.commands);
        // Read the output to its end, so that the process does not block on writing.
        while let Ok(Some(_)) = self.lines.next_line().await {}
        let ended = timeout(PATIENCE, self.child.wait()).await.context("the stack does not end")??;
        if ended.success() { Ok(()) } else { bail!("the stack ended with {ended}") }
    }

    async fn until(&mut self, begin: &str) -> Result<String> {
        let waiting = async {
            loop {
                let line = self.lines.next_line().await?.context("the stack ended")?;
                self.hear(&line);
                if let Some(rest) = line.strip_prefix(begin) {
                    return Ok(rest.to_owned());
                }
            }
        };
        timeout(PATIENCE, waiting).await.with_context(|| format!("the stack never says {begin:?}"))?
    }

    fn hear(&mut self, line: &str) {
        if let Some(injected) = line.strip_prefix("injected ").and_then(|number| number.parse::<u64>().ok()) {
            self.injected += injected;
        }
    }
}
