//! Tests of the figures that are computed from a log.

use std::collections::BTreeMap;
use std::time::Duration;

use devstack::fault_proxy::{Access, Call, Consumed};
use key_schema::entity::{CopyTask, Phase, Side};
use serde_json::Value;
use tokio::time::Instant;

use super::drive::Speed;
use super::log::{Consumer, Events, Log, Request, Run, Who};
use super::report::{Moved, quantile, report};

const fn second(number: u64) -> Duration {
    Duration::from_secs(number)
}

/// Half a minute in which a copy of 1,000 orders took 20 seconds, from the fifth on, with 360 units of each kind a second.
fn moved() -> Moved {
    let mut units = BTreeMap::new();
    for at in 0..30 {
        for who in [Who::Shop, Who::Operator] {
            for (is_next_table, is_write, is_index) in [(false, false, false), (true, true, false), (true, true, true)]
            {
                units.insert((at, Consumer { who, is_next_table, is_write, is_index }), 360.0);
            }
        }
    }
    let run = Run { task: CopyTask::Copy, from: second(5), to: second(25), items: 1, copied: 1, differences: 0 };
    let phases = vec![(second(0), Phase::First), (second(4), Phase::Both), (second(28), Phase::Compare)];
    let events = Events { phases, runs: vec![run], units, ..Events::default() };
    let speed = Speed { segments: 1, read_units: 1, write_units: 1 };
    Moved { orders: 1_000, rate: 1, settle: 0, rest: 0, speed, end: second(30), events }
}

#[test]
fn every_moment_of_a_move_is_in_one_phase() {
    let spans = moved().events.spans(second(30));
    let expected = [(Phase::First, 0, 4), (Phase::Both, 4, 28), (Phase::Compare, 28, 30)];
    assert_eq!(spans, expected.map(|(phase, from, to)| (phase, second(from), second(to))));
}

#[test]
fn units_are_those_of_the_time_the_table_and_whoever_is_asked_for() {
    let events = moved().events;
    let of_next = |consumer: Consumer| consumer.who == Who::Shop && consumer.is_of(Side::Next);
    assert!((events.consumed(second(4), second(28), of_next) - 48.0 * 360.0).abs() < 1e-9);
    assert!((events.consumed(second(0), second(30), |_| true) - 180.0 * 360.0).abs() < 1e-9);
}

/// 1,000 times the orders, with 7,200 units of reading and 14,400 of writing, of which half were those of indexes.
#[test]
fn more_orders_cost_proportionally_more_and_indexes_do_not_slow_a_run_down() {
    let parts = report(&moved()).unwrap();
    let (_, computed) = parts.iter().find(|(name, _)| *name == "move-computed").unwrap();
    let row = computed.lines().last().unwrap();
    assert_eq!(row, "| copy | 7,200,000 | 14,400,000 | 2.0 h | 0.2 h | 9.90 |");
}

#[test]
fn a_quantile_is_the_smallest_time_that_enough_requests_do_not_exceed() {
    let request =
        |number: u64| Request { at: second(0), took: second(number), answer: String::new(), is_expected: true };
    let requests: Vec<_> = (1..=100).rev().map(request).collect();
    let all: Vec<_> = requests.iter().collect();
    assert_eq!(
        [1, 50, 99, 100].map(|percent| quantile(&all, percent)),
        [1, 50, 99, 100].map(|time| Some(second(time)))
    );
    assert_eq!(quantile(&[], 50), None);
}

#[test]
fn the_units_of_a_call_are_told_apart_by_table_access_and_index() {
    let consumed = |table: &str, access| Consumed {
        table: table.to_owned(),
        access,
        table_units: 2.0,
        index_units: [("GSI1".to_owned(), 3.0), ("GSI2".to_owned(), 4.0)].into(),
    };
    let call = Call {
        caller: None,
        action: "TransactWriteItems".to_owned(),
        request: Value::Null,
        response: Value::Null,
        status: Some(200),
        at: Instant::now(),
        took: Duration::ZERO,
        consumed: vec![consumed("first", Access::Read), consumed("next", Access::Write)],
        fault: None,
    };
    let log = Log::new("first");
    log.calls(Who::Operator, &[call]);
    let units = log.into_events().units;
    let told: Vec<_> =
        units.iter().map(|((_, of), units)| (of.is_next_table, of.is_write, of.is_index, *units)).collect();
    let expected =
        [(false, false, false, 2.0), (false, false, true, 7.0), (true, true, false, 2.0), (true, true, true, 7.0)];
    assert_eq!(told, expected);
}
