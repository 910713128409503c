//! Every single fault, at every call of every write: routes and consumers alike.
//!
//! A good run of each case is recorded over the fault proxies. Then, for each of its calls and each kind of fault, the case is
//! run again on a copy of the same table with exactly that fault, once, and judged: see [`judge`]. What is worse when it
//! lasts is injected for ever, too; and pairs of faults are drawn at random.
//!
//!     TILL_FAULTS=all TILL_FAULT_PAIRS=5000 TILL_FAULT_SEED=7 cargo test -p tests --test suite every_fault
//!
//! injects every fault at every call and for ever as well, and draws more pairs, from a seed that is printed.
//! `TILL_FAULT_CASES=cancel` runs the cases alone whose names contain that.

mod cases;
mod consumers;
mod judge;
mod kinds;
mod world;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::env;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use functions::{CONSUMERS, Consumer, Function, ROUTES};
use reqwest::Method;
use tokio::task::JoinSet;

use self::cases::{Case, cases};
use self::judge::{Reference, judge, reference};
use self::kinds::{Injection, injections};
use self::world::World;

/// Most of a run is waiting: for a pause between two attempts, or for the end of the function's time. So many copies of
/// the world wait at the same time.
const WORLDS: usize = 16;

/// One run: a case, and what goes wrong in it.
type Run = (usize, Vec<Injection>);

/// Every read or write of every case, with every fault that its service knows; then some pairs.
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
    // So that runs that wait and runs that compute come mixed.
    Rng::with_seed(0).shuffle(&mut runs);
    runs.into()
}

/// How often a case was run, and how long all of its runs took, which go on side by side.
#[derive(Clone, Copy, Default)]
struct Spent {
    runs: usize,
    time: Duration,
}

/// Takes runs until none is left. Answers the complaints, and what was spent on each case.
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

#[tokio::test(flavor = "multi_thread")]
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

#[tokio::test(flavor = "multi_thread")]
async fn every_function_that_writes_has_a_case() {
    let (_, seed) = World::create().await;
    let tried: BTreeSet<_> = cases(&seed).into_iter().map(|case| case.function.to_owned()).collect();
    let writes = ROUTES.iter().filter(|function| function.route.method != Method::GET).map(Function::name);
    let consumers = CONSUMERS.iter().map(Consumer::name);
    let missing: Vec<_> = writes.chain(consumers).filter(|name| !tried.contains(name)).collect();
    assert!(missing.is_empty(), "tests/suite/every_fault/cases.rs or consumers.rs lacks {missing:?}");
}
