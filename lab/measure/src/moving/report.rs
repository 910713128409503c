//! The log of a move as tables of Markdown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::Result;
use cost::prices::{PriceList, SHIPPED};
use cost::show::dollars;
use key_schema::entity::{CopyTask, Phase, Side};

use super::drive::Speed;
use super::log::{Consumer, Events, Lag, Request, Run, Who};
use crate::figures::grouped;

/// A move that is done, and how it was done.
pub(super) struct Moved {
    pub(super) orders: u32,
    pub(super) rate: u32,
    pub(super) settle: u64,
    pub(super) rest: u64,
    pub(super) speed: Speed,
    /// The time until the end of the last phase.
    pub(super) end: Duration,
    pub(super) events: Events,
}

/// The number of orders for which time and price are computed.
const COMPUTED: f64 = 1e6;

/// The speeds for which the time is computed, in read and write units a second: the default of `cargo local migrate`,
/// and ten times as much.
const SPEEDS: [(f64, f64); 2] = [(2_000.0, 1_000.0), (20_000.0, 10_000.0)];

/// The generated parts of docs/migrating.md.
pub(super) fn report(moved: &Moved) -> Result<Vec<docs_check::Part<'static>>> {
    Ok(vec![
        ("move-summary", summary(moved)),
        ("move-phases", phases(moved)),
        ("move-answers", answers(moved)),
        ("move-computed", computed(moved)?),
    ])
}

fn summary(moved: &Moved) -> String {
    let Moved { orders, rate, settle, rest, speed, end, events } = moved;
    let Speed { segments, read_units, write_units } = speed;
    let mut text = format!(
        "    cargo run --profile measure --package measure -- move --orders {orders} --rate {rate} --settle {settle} --rest {rest} \
         --segments {segments} --read-units {read_units} --write-units {write_units} --docs\n\n"
    );
    let requests = count(events.requests.len());
    let errors = events.requests.iter().filter(|request| !request.is_expected).count();
    let repairs: u64 = events.repairs.iter().map(|(_, repairs)| repairs).sum();
    let minutes = end.as_secs_f64() / 60.0;
    _ = write!(
        text,
        "The move took {minutes:.1} minutes, in which customers sent {requests} requests. {errors} were answered with an error. "
    );
    for run in &events.runs {
        let Run { task, from, to, items, copied, differences } = run;
        let (seconds, items) = (to.saturating_sub(*from).as_secs(), grouped(&items.to_string()));
        match task {
            CopyTask::Copy => {
                let copied = grouped(&copied.to_string());
                _ = write!(text, "The copy read {items} items in {seconds} s and wrote {copied}. ");
            }
            CopyTask::Compare => {
                _ = write!(
                    text,
                    "The comparison read {items} items in {seconds} s and found {differences} differences. "
                );
            }
        }
    }
    let oldest = events.lags.iter().filter_map(|lag| match lag {
        Lag::Repair { age, .. } => Some(*age),
        Lag::Stream { .. } => None,
    });
    let behind = events.lags.iter().filter_map(|lag| match lag {
        Lag::Stream { took, .. } => Some(*took),
        Lag::Repair { .. } => None,
    });
    let [oldest, behind] = [oldest.max(), behind.max()].map(|most| most.unwrap_or_default().as_secs_f64());
    _ = writeln!(
        text,
        "{repairs} repairs were carried out, the oldest after {oldest:.1} s. The consumers of the streams were at most \
         {behind:.1} s behind."
    );
    text
}

fn phases(moved: &Moved) -> String {
    let mut text = String::from(
        "| phase | seconds | requests | errors | p50 | p99 | the shop read | and wrote | the operator read | and wrote \
         | repairs |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let events = &moved.events;
    for (phase, from, to) in events.spans(moved.end) {
        let within = |at: &Duration| (from..to).contains(at);
        let requests: Vec<_> = events.requests.iter().filter(|request| within(&request.at)).collect();
        let errors = requests.iter().filter(|request| !request.is_expected).count();
        let [p50, p99] = [50, 99].map(|percent| milliseconds(quantile(&requests, percent)));
        let units = |who, is_write| {
            let of = |side: Side| {
                let units = events.consumed(from, to, |consumer| {
                    consumer.who == who && consumer.is_write == is_write && consumer.is_of(side)
                });
                whole(units)
            };
            format!("{} + {}", of(Side::First), of(Side::Next))
        };
        let repairs: u64 = events.repairs.iter().filter(|(at, _)| within(at)).map(|(_, repairs)| repairs).sum();
        let cells = [
            name(phase),
            to.saturating_sub(from).as_secs().to_string(),
            count(requests.len()),
            errors.to_string(),
            p50,
            p99,
            units(Who::Shop, false),
            units(Who::Shop, true),
            units(Who::Operator, false),
            units(Who::Operator, true),
            repairs.to_string(),
        ];
        _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

fn answers(moved: &Moved) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for request in &moved.events.requests {
        *numbers.entry(&request.answer).or_default() += 1;
    }
    let mut text = String::from("| answer | requests |\n|---|---|\n");
    for (answer, number) in numbers {
        _ = writeln!(text, "| {answer} | {} |", count(number));
    }
    text
}

/// The time and the price of more orders, if each costs as many units as it did here.
fn computed(moved: &Moved) -> Result<String> {
    let prices = PriceList::parse(SHIPPED)?;
    let table = &prices.dynamodb.standard;
    let mut text = String::from("| run | read | written |");
    for (reads, writes) in SPEEDS {
        _ = write!(text, " at {} and {} units a second |", whole(reads), whole(writes));
    }
    text.push_str(" USD |\n|---|---|---|---|---|---|\n");
    for run in &moved.events.runs {
        let times = COMPUTED / f64::from(moved.orders);
        let of = |is_write: bool, of_indexes: bool| {
            let is_wanted = |consumer: Consumer| {
                consumer.who == Who::Operator && consumer.is_write == is_write && (of_indexes || !consumer.is_index)
            };
            times * moved.events.consumed(run.from, run.to, is_wanted)
        };
        let (read, written) = (of(false, true), of(true, true));
        // The speed is that of both tables together. An index consumes less than its table.
        let hours = SPEEDS.map(|(reads, writes)| {
            let hours = (of(false, false) / reads).max(of(true, false) / writes) / 3600.0;
            format!("{hours:.1} h")
        });
        let price =
            table.read_request.of(whole_number(read).parse()?) + table.write_request.of(whole_number(written).parse()?);
        let task = match run.task {
            CopyTask::Copy => "copy",
            CopyTask::Compare => "comparison",
        };
        let (read, written) = (whole(read), whole(written));
        _ = writeln!(text, "| {task} | {read} | {written} | {} | {} | {} |", hours[0], hours[1], dollars(price));
    }
    Ok(text)
}

/// The phase, as it is stored and as the page names it.
pub(super) fn name(phase: Phase) -> String {
    let name = serde_json::to_value(phase).unwrap_or_default();
    name.as_str().unwrap_or_default().to_owned()
}

/// The smallest time in which so many of a hundred requests are answered.
pub(super) fn quantile(requests: &[&Request], percent: usize) -> Option<Duration> {
    let mut times: Vec<_> = requests.iter().map(|request| request.took).collect();
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
    times.get(rank).copied()
}

fn milliseconds(time: Option<Duration>) -> String {
    time.map_or_else(String::new, |time| format!("{:.1} ms", 1e3 * time.as_secs_f64()))
}

fn count(number: usize) -> String {
    grouped(&number.to_string())
}

fn whole_number(units: f64) -> String {
    format!("{units:.0}")
}

fn whole(units: f64) -> String {
    grouped(&whole_number(units))
}
