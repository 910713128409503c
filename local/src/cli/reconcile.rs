//! `cargo local reconcile`: compares the counts with the orders.

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};

use super::{DEFAULT_PORT, print};

/// Compare the counts of the running stack with its orders
///
/// What changed within the last six and a half hours may not be counted yet, and is only told if it cannot be right.
#[derive(Args)]
pub(super) struct Arguments {
    /// The first day [default: a week ago]
    #[arg(long, value_name = "DAY")]
    from: Option<jiff::civil::Date>,

    /// The day after the last one [default: tomorrow]
    #[arg(long, value_name = "DAY")]
    to: Option<jiff::civil::Date>,

    /// Set right what is wrong
    #[arg(long)]
    mend: bool,

    /// The running stack's port on 127.0.0.1
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
}

/// Asks until it is done, and prints the report.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let from = arguments.from.unwrap_or(today.saturating_sub(jiff::Span::new().days(7)));
    let to = arguments.to.unwrap_or(today.saturating_add(jiff::Span::new().days(1)));
    let mut event = json!({ "from": from.to_string(), "to": to.to_string(), "mend": arguments.mend });

    let client = reqwest::Client::builder().no_proxy().build().context("cannot make an HTTP client")?;
    let url = format!("http://127.0.0.1:{}", arguments.port);
    loop {
        let answer = client.post(format!("{url}/_local/reconcile")).body(event.to_string()).send().await;
        let answer = answer.map_err(reqwest::Error::without_url).with_context(|| {
            format!("no stack answers at {url}: start one with cargo local, or name its port with --port")
        })?;
        let status = answer.status();
        let answer: Value = answer
            .json()
            .await
            .with_context(|| format!("what answers at {url} is not cargo local: name its port with --port"))?;
        ensure!(status.is_success(), "{}", answer["detail"].as_str().unwrap_or("the stack's log says why"));
        if answer["done"] == true {
            let figures = ["checked", "drifted", "mended", "unsettled", "busy"];
            let figures = figures.map(|name| format!("{} {name}", answer[name]));
            return print(&format!("{}\n", figures.join(", ")));
        }
        event = json!({ "resume": answer["resume"] });
    }
}
