//! Evaluates every alarm of the nested stacks on metrics of a shop with the alarm's problem, and
//! on metrics of healthy shops. This covers the expression, the threshold, the periods and the treatment of missing data.

mod declared;
mod deeds;
mod evaluation;
mod metric_math;
mod troubles;

use std::collections::BTreeMap;

pub use self::deeds::emitters;
use self::evaluation::{Alarm, State};
use self::metric_math::Series;
use self::troubles::{CALM, Shop, Trouble, ordinary, troubles};
use crate::deployment;

/// The number of periods of each phase: more than any alarm looks back.
const WHILE: usize = 80;

fn alarms() -> BTreeMap<String, Alarm> {
    let stacks = deployment::ALARMING.map(deployment::stack);
    let alarms = stacks.iter().flat_map(deployment::alarms);
    alarms.map(|(name, alarm)| (name.to_owned(), Alarm::read(name, alarm))).collect()
}

/// Concatenates the data of an alarm's metrics.
fn joined(parts: &[BTreeMap<String, Series>]) -> BTreeMap<String, Series> {
    let mut all = BTreeMap::<String, Series>::new();
    for part in parts {
        for (id, series) in part {
            all.entry(id.clone()).or_default().extend(series);
        }
    }
    all
}

fn calm(alarm: &Alarm, shop: Shop) -> BTreeMap<String, Series> {
    alarm.metrics.iter().map(|(id, metric)| (id.clone(), vec![shop(&alarm.name, metric); WHILE])).collect()
}

/// An alarm's metrics in a shop with this problem.
fn troubled(alarm: &Alarm, trouble: &Trouble) -> BTreeMap<String, Series> {
    let mut data = calm(alarm, ordinary);
    for (id, value) in &trouble.metrics {
        let series = data.get_mut(*id).unwrap_or_else(|| panic!("{}: no metric {id}", trouble.alarm));
        *series = vec![*value; trouble.periods];
    }
    for series in data.values_mut() {
        series.truncate(trouble.periods);
    }
    data
}

#[test]
fn every_alarm_has_a_situation_in_which_it_goes_off_and_one_in_which_it_does_not() {
    let (known, troubles) = (alarms(), troubles());
    for (name, alarm) in &known {
        let mut wanted: Vec<_> = alarm.metrics.keys().map(String::as_str).collect();
        let of_alarm = || troubles.iter().filter(|trouble| trouble.alarm == *name);
        for trouble in of_alarm().filter(|trouble| trouble.goes_off) {
            wanted.retain(|id| trouble.metrics.iter().all(|(shown, _)| shown != id));
        }
        assert!(wanted.is_empty(), "{name}: no trouble at which it goes off shows in {wanted:?}");
        assert!(of_alarm().any(|trouble| !trouble.goes_off), "{name}: nothing at which it does not go off");
    }
    assert!(troubles.iter().all(|trouble| known.contains_key(&trouble.alarm)), "a trouble of no alarm");
}

#[test]
fn an_alarm_goes_off_when_it_should_and_recovers() {
    let known = alarms();
    for trouble in troubles() {
        let alarm = &known[&trouble.alarm];
        for (before, shop_before) in CALM {
            for (after, shop_after) in CALM {
                let parts = [calm(alarm, *shop_before), troubled(alarm, &trouble), calm(alarm, *shop_after)];
                let states = alarm.states(&joined(&parts));
                let situation = format!("{}: {before}; {}; {after}: {states:?}", trouble.alarm, trouble.situation);
                let goes_off = states.contains(&State::Alarm);
                assert_eq!(goes_off, trouble.goes_off, "{situation}");
                assert!(!states[..WHILE].contains(&State::Alarm), "{situation}");
                assert_ne!(states.last(), Some(&State::Alarm), "it does not come back: {situation}");
            }
        }
    }
}

#[test]
fn no_alarm_goes_off_in_a_healthy_shop() {
    for (name, alarm) in alarms() {
        for (before, shop_before) in CALM {
            for (after, shop_after) in CALM {
                let states = alarm.states(&joined(&[calm(&alarm, *shop_before), calm(&alarm, *shop_after)]));
                assert!(!states.contains(&State::Alarm), "{name}: {before}; {after}: {states:?}");
            }
        }
    }
}
