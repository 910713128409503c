//! `cargo local expire`: cancels the orders that were not paid in time.

use anyhow::Result;
use clap::Args;
use serde_json::json;

use super::stack::Stack;
use super::{DEFAULT_PORT, print};

/// Cancel the orders of the running stack that were not paid in time
///
/// On AWS a schedule does this every five minutes. An order expires `PayWithinMinutes` (a parameter of the template, by
/// default 30) after it was placed, and a paid one `PayLaterDays` after its authorization lapsed.
#[derive(Args)]
pub(super) struct Arguments {
    /// The running stack's port on 127.0.0.1
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
}

/// Calls the function until it reports that it is done, and prints how many orders it cancelled.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let stack = Stack::at(arguments.port)?;
    let mut expired = 0;
    loop {
        let report = stack.ask("/_local/scheduled/expire-orders", &json!({})).await?;
        let count = |name: &str| report[name].as_u64().unwrap_or_default();
        expired += count("expired");
        // An order that failed stays on the list. Stop when a run cancels nothing, or this loops for ever.
        if report["done"] == true || count("expired") == 0 {
            let failed = count("failed");
            let log = if failed == 0 { "" } else { ": the stack's log says why" };
            return print(&format!("{expired} expired, {failed} failed{log}\n"));
        }
    }
}
