//! A function's process: alone, under an instruction counter, or under a tracer of system calls.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::process::{Child, Command};

/// The tool that runs the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watch<'a> {
    None,
    /// valgrind's callgrind, which counts instructions and leaves its report here.
    Instructions(&'a Path),
    /// strace, which counts system calls and leaves its report here.
    SystemCalls(&'a Path),
}

/// A running function.
pub(super) struct Process {
    child: Child,
    pid: u32,
}

impl Process {
    /// Starts it with these environment variables and no others.
    pub(super) fn start(binary: &Path, environment: &BTreeMap<String, String>, watch: Watch<'_>) -> Result<Self> {
        let mut words: Vec<OsString> = match watch {
            Watch::None => Vec::new(),
            Watch::Instructions(report) => {
                let mut report_to = OsString::from("--callgrind-out-file=");
                report_to.push(report);
                vec!["valgrind".into(), "--quiet".into(), "--tool=callgrind".into(), report_to]
            }
            Watch::SystemCalls(report) => ["strace", "-f", "-qq", "-c", "-o"]
                .into_iter()
                .map(OsString::from)
                .chain([report.as_os_str().to_owned()])
                .collect(),
        };
        words.push(binary.into());
        let (program, arguments) = words.split_first().context("no command")?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment);
        // The tools must be found, and valgrind looks for its own files where it is told to.
        for name in ["PATH", "VALGRIND_LIB"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let pid = child.id().context("it has ended at once")?;
        Ok(Self { child, pid })
    }

    /// Ends it as Lambda does, and waits for it.
    pub(super) async fn stop(mut self) -> Result<()> {
        let ended = Command::new("kill").args(["-TERM", &self.function()?.to_string()]).status().await;
        ensure!(ended.context("cannot run kill")?.success(), "the function has ended before its time");
        let ended = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await;
        ended.context("the function does not end")??;
        Ok(())
    }

    /// Its peak memory in bytes.
    pub(super) fn most_memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid));
        let status = status.context("the memory of a process can only be read on Linux")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
        let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().context("VmHWM")?;
        Ok(kilobytes * 1024)
    }

    /// The function itself: valgrind becomes it, strace starts it.
    fn function(&self) -> Result<u32> {
        let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.pid))?;
        children.split_whitespace().next().map_or(Ok(self.pid), |child| Ok(child.parse()?))
    }
}

/// The instructions of a process, from callgrind's report.
pub(super) fn instructions(report: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(report).with_context(|| format!("no report in {}", report.display()))?;
    let total = text.lines().find_map(|line| line.strip_prefix("totals: ")).context("callgrind has no totals")?;
    Ok(total.trim().parse()?)
}

/// The system calls of a process, from strace's report.
pub(super) fn system_calls(report: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(report).with_context(|| format!("no report in {}", report.display()))?;
    // "100.00    0.001234          12       103         7 total"
    let total = text.lines().find(|line| line.ends_with(" total")).context("strace has no total")?;
    Ok(total.split_whitespace().nth(3).context("strace's total has no calls")?.parse()?)
}

/// Whether this program can be run.
pub(super) fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}
