//! Injects every kind of fault at every call of every writing function, routes and consumers alike.
//!
//! A run of each case without faults is recorded by the fault proxies. Then, for each of its calls and each kind of
//! fault, the case is run again on a copy of the same table with exactly that fault, and judged: see [`judge`]. Faults
//! that are worse if they last are also injected for ever, and random pairs of faults are injected.
//!
//!     TILL_FAULTS=all TILL_FAULT_PAIRS=5000 TILL_FAULT_SEED=7 cargo test -p tests --test suite every_fault
//!
//! also injects every fault for ever, and more pairs, from a printed seed. `TILL_FAULT_CASES=cancel` runs only the
//! cases whose names contain that text.

mod cases;
mod consumers;
mod guests;
mod judge;
pub mod kinds;
mod world;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::env;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use ::consumers::CONSUMERS;
use fastrand::Rng;
use http_api::Verb;
use local::functions::routes;
use tokio::task::JoinSet;

use self::cases::{Case, cases};
use self::judge::{Reference, judge, reference};
use self::kinds::{Injection, injections};
use self::world::World;

/// The number of parallel worlds. Most of a run is waiting for a backoff or a timeout, so many can run at the same
/// time.
const WORLDS: usize = 16;

/// One run: a case and its faults.
type Run = (usize, Vec<Injection>);

/// Every call of every case, with every fault of its service; then some pairs.
fn runs(all: &[(Case, Reference)]) -> VecDeque<Run> {
    let single = all.iter().enumerate().flat_map(|(case, (_, reference))| {
        injections(reference.calls()).into_iter().map(move |injection| (case, vec![injection]))
    });
    let single: Vec<_> = single.collect();

    let number = |name: &str, otherwise: u64| {
        env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}: {text}")))
    };
    let seed = number("TILL_FAULT_SEED", 1);
    let mut random = Rng::with_seed(seed);
    let pairs = (0..number("TILL_FAULT_PAIRS", 20)).map(|_| {
        let (case, first) = &single[random.usize(..single.len())];
        let of_case: Vec<_> = single.iter().filter(|(other, _)| other == case).collect();
        let (_, second) = of_case[random.usize(..of_case.len())];
        (*case, [first.clone(), second.clone()].concat())
    });
    let pairs: Vec<_> = pairs.collect();
    eprintln!("{} cases, {} single faults, {} pairs from seed {seed}", all.len(), single.len(), pairs.len());
    let mut runs: Vec<_> = single.into_iter().chain(pairs).collect();
    // Mix runs that wait with runs that compute.
    Rng::with_seed(0).shuffle(&mut runs);
    runs.into()
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

#[tokio::test]
async fn every_write_survives_every_fault_at_every_call() {
    let (first, seed) = World::create().await;
    let mut judged = Vec::new();
    let wanted = env::var("TILL_FAULT_CASES").unwrap_or_default();
    for case in cases(&seed).into_iter().filter(|case| case.name.contains(&wanted)) {
        let reference = reference(&first, &case).await;
        judged.push((case, reference));
    }
    assert!(!judged.is_empty(), "no case is called {wanted:?}");
    let runs = Arc::new(Mutex::new(runs(&judged)));
    let judged = Arc::new(judged);
    let began = Instant::now();
    let mut workers = JoinSet::new();
    for _ in 0..WORLDS {
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

#[tokio::test]
async fn every_function_that_writes_has_a_case() {
    let (_, seed) = World::create().await;
    let tried: BTreeSet<_> = cases(&seed).into_iter().map(|case| case.function.to_owned()).collect();
    let writes = routes().filter(|function| function.route.method != Verb::Get).map(|route| route.function.name());
    // The functions of a move have their own: tests/suite/moving/faults.rs.
    let consumers = CONSUMERS.iter().filter(|consumer| consumer.condition.is_none());
    let consumers = consumers.map(|consumer| consumer.function.name());
    let missing: Vec<_> = writes.chain(consumers).filter(|name| !tried.contains(name)).collect();
    assert!(missing.is_empty(), "tests/suite/every_fault/cases.rs or consumers.rs lacks {missing:?}");
}
