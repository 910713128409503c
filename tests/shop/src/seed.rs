//! How much of an expensive test runs, and from which seed.
//!
//! A test of thousands of cases, or of random schedules, runs some of them. Each day it runs others, because the seed is
//! made of the date. `TILL_SEED` sets the seed, and so repeats a run. `TILL_LONG` asks for the long form: all cases,
//! and this many schedules. A test prints the command that repeats its run.

use std::collections::BTreeSet;
use std::env;
use std::ops::Range;
use std::thread;

use fastrand::Rng;
use key_schema::value::Timestamp;

/// The difference between the first seeds of two days, so that they have other schedules. It is a prime number: some tests
/// divide a seed, and look at the rest.
const A_DAY: u64 = 1009;

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}")))
}

/// The number of schedules that `TILL_LONG` asks for.
pub fn long() -> Option<u64> {
    number("TILL_LONG")
}

pub fn seed() -> u64 {
    let today = || Timestamp::now().as_second().unsigned_abs() / (24 * 60 * 60) * A_DAY;
    let seed = number("TILL_SEED").unwrap_or_else(today);
    let long = long().map_or_else(String::new, |schedules| format!(" TILL_LONG={schedules}"));
    let test = thread::current().name().unwrap_or_default().to_owned();
    eprintln!("the same again: TILL_SEED={seed}{long} cargo test -p tests --test suite {test}");
    seed
}

/// The random numbers of this run.
pub fn random() -> Rng {
    Rng::with_seed(seed())
}

/// The number of rounds of a test without a seed, such as a race: so many, unless the long form is asked for.
pub fn rounds(short: u64) -> u64 {
    long().unwrap_or(short)
}

/// The seeds of this run's schedules: so many, unless the long form is asked for.
pub fn seeds(schedules: u64) -> Range<u64> {
    let first = seed();
    first..first + rounds(schedules)
}

/// Draws a sample of the cases in which each label occurs. In the long form, all of them, in random order.
pub fn sample<T, L: Ord>(random: &mut Rng, mut cases: Vec<T>, labels: impl Fn(&T) -> Vec<L>) -> Vec<T> {
    random.shuffle(&mut cases);
    if long().is_none() {
        let mut seen = BTreeSet::new();
        cases.retain(|case| {
            let before = seen.len();
            seen.extend(labels(case));
            seen.len() > before
        });
    }
    cases
}
