//! `cargo local reconcile`: compares the counts with the orders.

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};

use super::stack::Stack;
use super::{DEFAULT_PORT, print};

/// Compare the counts of the running stack with its orders
///
/// A change of the last six and a half hours may not be counted yet. If a counter's orders changed in that time, the
/// counter is reported only if no pending change can explain it, and it is not repaired yet.
#[derive(Args)]
pub(super) struct Arguments {
    /// The first day [default: a week ago]
    #[arg(long, value_name = "DAY")]
    from: Option<jiff::civil::Date>,

    /// The day after the last one [default: the day after tomorrow, so that today is among them in every zone]
    #[arg(long, value_name = "DAY")]
    to: Option<jiff::civil::Date>,

    /// Repair the counters that are wrong
    #[arg(long)]
    repair: bool,

    /// The running stack's port on 127.0.0.1
    #[arg(long, default_value_t = DEFAULT_PORT)]
    port: u16,
}

/// Calls the function until it reports that it is done, and prints the report.
pub(super) async fn run(arguments: &Arguments) -> Result<()> {
    let today = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let from = arguments.from.unwrap_or(today.saturating_sub(jiff::Span::new().days(7)));
    let to = arguments.to.unwrap_or(today.saturating_add(jiff::Span::new().days(2)));
    let mut event = json!({ "from": from.to_string(), "to": to.to_string(), "repair": arguments.repair });

    let stack = Stack::at(arguments.port)?;
    loop {
        let answer = stack.ask("/_local/scheduled/reconcile-counts", &event).await?;
        if answer["done"] == true {
            return print(&told(&answer, arguments.repair));
        }
        event = json!({ "resume": answer["resume"] });
    }
}

/// The figures of a comparison, and a line for each drift in it.
fn told(answer: &Value, repairs: bool) -> String {
    let figures = ["checked", "drifted", "repaired", "unsettled", "busy"];
    let mut text = figures.map(|name| format!("{} {name}", answer[name])).join(", ") + "\n";
    for drift in answer["drifts"].as_array().into_iter().flatten() {
        let what_now = match (drift["repaired"] == true, drift["settled"] == true) {
            (true, _) => "repaired",
            (false, false) => {
                "not repaired: its orders changed less than six and a half hours ago, try again after that"
            }
            (false, true) if repairs => "not repaired: its counters changed meanwhile, try again",
            (false, true) => "--repair corrects it",
        };
        let of = drift["of"].as_str().unwrap_or_default();
        text.extend([of, " lacks ", &drift["deficit"].to_string(), ": ", what_now, "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_says_of_each_drift_whether_it_was_repaired_and_why_not() {
        let drift = |repaired: bool, settled: bool| {
            let deficit = json!({ "customers": { "ada": { "orders": 1 } } });
            let drifts =
                [json!({ "of": "customer ada", "deficit": deficit, "settled": settled, "repaired": repaired })];
            json!({ "checked": 4, "drifted": 1, "repaired": u8::from(repaired), "unsettled": 0, "busy": 0, "drifts": drifts })
        };
        for (repaired, settled, repairs, expected) in [
            (true, true, true, "repaired"),
            (false, true, true, "not repaired: its counters changed"),
            (false, true, false, "--repair corrects it"),
            (false, false, true, "not repaired: its orders changed less than six and a half hours ago"),
        ] {
            let text = told(&drift(repaired, settled), repairs);
            assert!(text.starts_with("4 checked, 1 drifted, "), "{text}");
            let begin = format!("customer ada lacks {{\"customers\":{{\"ada\":{{\"orders\":1}}}}}}: {expected}");
            assert!(text.lines().nth(1).is_some_and(|line| line.starts_with(&begin)), "{text}");
        }
    }
}
