//! Injects every kind of fault at every call of every writing function, routes and consumers alike.
//!
//! A run of each case without faults is recorded by the fault proxies. Then a fault is injected at one of its calls, and
//! the case is run again on a copy of the same table with exactly that fault, and judged: see [`judge`]. Faults that are
//! worse if they last are also injected for ever, and random pairs of faults are injected. Each day draws a sample, which
//! has each case, and each kind of fault at each kind of call.
//!
//!     TILL_LONG=1000 cargo test -p tests --test suite every_fault
//!
//! injects each kind of fault at each call of each case, every fault for ever, too, and 1,000 pairs.
//! `TILL_FAULT_CASES=cancel` runs only the cases whose names contain that text.

mod cases;
mod consumers;
mod guests;
mod judge;
pub mod kinds;
mod world;

use std::collections::VecDeque;
use std::env;
use std::sync::Mutex;
use std::time::Instant;

use ::consumers::CONSUMERS;
use http_api::Verb;
use local::functions::routes;
use shop::seed::{long, random, sample};

use self::cases::{Case, cases};
use self::judge::{Reference, judge, reference};
use self::kinds::{Injection, injections};
use self::world::World;
use crate::prelude::*;

/// The number of parallel worlds. Most of a run is waiting for a backoff or a timeout, so many can run at the same
/// time.
const WORLDS: usize = 16;

/// The number of runs for which it pays to open a world.
const RUNS_OF_A_WORLD: usize = 20;

/// The number of pairs of faults, unless the long form is asked for.
const PAIRS: u64 = 10;

/// One run: a case and its faults.
type Run = (usize, Vec<Injection>);

/// A sample of the faults of all calls of all cases; then some pairs.
fn runs(all: &[(Case, Reference)]) -> VecDeque<Run> {
    let single = all.iter().enumerate().flat_map(|(case, (_, reference))| {
        injections(reference.calls()).into_iter().map(move |injection| (case, injection))
    });
    let (single, mut random): (Vec<_>, _) = (single.collect(), random());
    let pairs = (0..long().unwrap_or(PAIRS)).map(|_| {
        let (case, first) = &single[random.usize(..single.len())];
        let of_case: Vec<_> = single.iter().filter(|(other, _)| other == case).collect();
        let (_, second) = of_case[random.usize(..of_case.len())];
        (*case, vec![first.clone(), second.clone()])
    });
    let (pairs, of_all): (Vec<_>, _) = (pairs.collect(), single.len());
    let labels = |(case, injection): &(usize, Injection)| {
        let (name, kind) = (all[*case].0.name, injection.kind());
        // Each case loses the answer of a write: what it then repeats is its own.
        let lost = injection.is_lost_write().then(|| format!("{name}: lost"));
        [name.to_owned(), kind].into_iter().chain(lost).collect()
    };
    // In random order: runs that wait are beside runs that compute.
    let single = sample(&mut random, single, labels);
    eprintln!("{} cases, {} of {of_all} single faults, {} pairs", all.len(), single.len(), pairs.len());
    single.into_iter().map(|(case, injection)| (case, vec![injection])).chain(pairs).collect()
}

/// The number of runs of a case, and their total duration. Runs are parallel.
#[derive(Clone, Copy, Default)]
struct Spent {
    runs: usize,
    time: Duration,
}

/// Takes runs until none is left. Returns the complaints, and the number and duration of runs for each case.
async fn work(
    world: World,
    runs: Arc<Mutex<VecDeque<Run>>>,
    judged: Arc<Vec<(Case, Reference)>>,
) -> (Vec<String>, BTreeMap<&'static str, Spent>) {
    let (mut complaints, mut spent) = (Vec::new(), BTreeMap::<_, Spent>::new());
    loop {
        let next = runs.lock().expect("no run panics with the lock").pop_front();
        let Some((case, injections)) = next else { return (complaints, spent) };
        let (case, reference) = &judged[case];
        let began = Instant::now();
        for what in judge(&world, case, reference, &injections).await {
            let complaint = format!("{}, {injections:?}: {what}", case.name);
            eprintln!("{complaint}");
            complaints.push(complaint);
        }
        let of_case = spent.entry(case.name).or_default();
        (of_case.runs, of_case.time) = (of_case.runs + 1, of_case.time + began.elapsed());
    }
}

/// Checks that every function that writes has a case.
fn assert_complete(cases: &[Case]) {
    let tried: BTreeSet<_> = cases.iter().map(|case| case.function.clone()).collect();
    let writes = routes().filter(|function| function.route.method != Verb::Get).map(|route| route.function.name());
    // The functions of a migration have their own: tests/suite/migration/faults.rs.
    let consumers = CONSUMERS.iter().filter(|consumer| consumer.condition.is_none());
    let consumers = consumers.map(|consumer| consumer.function.name());
    let missing: Vec<_> = writes.chain(consumers).filter(|name| !tried.contains(name)).collect();
    assert!(missing.is_empty(), "tests/suite/every_fault/cases.rs or consumers.rs lacks {missing:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_write_survives_every_fault_at_every_call() {
    let (first, seed) = World::create().await;
    let cases = cases(&seed);
    assert_complete(&cases);
    let mut judged = Vec::new();
    let wanted = env::var("TILL_FAULT_CASES").unwrap_or_default();
    for case in cases.into_iter().filter(|case| case.name.contains(&wanted)) {
        let reference = reference(&first, &case).await;
        judged.push((case, reference));
    }
    assert!(!judged.is_empty(), "no case is called {wanted:?}");
    let runs = runs(&judged);
    let worlds = runs.len().div_ceil(RUNS_OF_A_WORLD).min(WORLDS);
    let runs = Arc::new(Mutex::new(runs));
    let judged = Arc::new(judged);
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..worlds {
        let (runs, judged, seed) = (Arc::clone(&runs), Arc::clone(&judged), Arc::clone(&seed));
        workers.spawn(async move { work(World::copy_of(seed).await, runs, judged).await });
    }
    let (mut complaints, mut spent) = (BTreeSet::new(), BTreeMap::<_, Spent>::new());
    while let Some(done) = workers.join_next().await {
        let (found, of_cases) = done.expect("no run panics");
        complaints.extend(found);
        for (case, of_case) in of_cases {
            let all = spent.entry(case).or_default();
            (all.runs, all.time) = (all.runs + of_case.runs, all.time + of_case.time);
        }
    }
    for (case, Spent { runs, time }) in spent {
        eprintln!("{runs:5} runs {:8.1} s  {case}", time.as_secs_f64());
    }
    eprintln!("all in {:.1} s", began.elapsed().as_secs_f64());
    let all: Vec<_> = complaints.iter().map(String::as_str).collect();
    assert!(all.is_empty(), "{} of the runs went wrong:\n{}", all.len(), all.join("\n"));
}
