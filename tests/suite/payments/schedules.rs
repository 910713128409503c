//! Random schedules of what customers, staff and the provider do, over faulty wires, with functions killed at any point.
//!
//! Each schedule places some orders, and then pays, declines, pays again, ships, captures, cancels and expires them, some
//! of it at once. Meanwhile the wires from the functions to the provider, and from the provider to the API, cut, delay,
//! double and reorder requests; DynamoDB, SQS and EventBridge fail now and then; and functions are killed at any step. In
//! the end everything works again, and what is due is done. Then the [laws](shop::payment_laws) hold.
//!
//!     TILL_LONG=1000 cargo test -p tests --test suite payments::schedules -- --nocapture
//!
//! runs 1,000 schedules. A complaint names the seed of its schedule, and `TILL_SEED=7 TILL_LONG=1` runs that one again.
//! The seed determines the steps and the faults, but not how steps interleave.

mod tally;
pub mod world;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use shop::payment_script::Script;
use shop::seed::seeds;
use tokio::task::JoinSet;

use self::tally::Tally;
use self::world::World;

/// The number of parallel worlds. Most of a schedule is waiting for a delay or a retry, so many can run at the same time.
const WORLDS: u64 = 12;

/// The number of schedules in one world: each of them is judged by all that the world has.
const IN_ONE_WORLD: usize = 20;

/// The number of schedules, unless the long form is asked for.
const SCHEDULES: u64 = 12;

#[tokio::test(flavor = "multi_thread")]
async fn the_ledgers_agree_after_any_schedule_over_faulty_wires() {
    let seeds = seeds(SCHEDULES);
    let schedules = seeds.end - seeds.start;
    let seeds: Arc<Mutex<VecDeque<u64>>> = Arc::new(Mutex::new(seeds.collect()));
    let began = Instant::now();
    let mut worlds = JoinSet::new();
    for number in 0..WORLDS.min(schedules.div_ceil(2)) {
        worlds.spawn(work(number, Arc::clone(&seeds)));
    }
    let (mut complaints, mut tally) = (Vec::new(), Tally::default());
    while let Some(done) = worlds.join_next().await {
        let (found, of_world) = done.expect("no schedule panics");
        complaints.extend(found);
        tally.add(&of_world);
    }
    eprintln!("all in {:.1} s\n{tally}", began.elapsed().as_secs_f64());
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// Runs schedules until none is left, some in each world. A world in which a law was broken is not used again.
async fn work(number: u64, seeds: Arc<Mutex<VecDeque<u64>>>) -> (Vec<String>, Tally) {
    let (mut complaints, mut tally) = (Vec::new(), Tally::default());
    loop {
        // In every second world, staff capture each payment by hand.
        let world = World::open(number.is_multiple_of(2)).await;
        for _ in 0..IN_ONE_WORLD {
            let next = seeds.lock().expect("no schedule panics with the lock").pop_front();
            let Some(seed) = next else {
                tally.add(&world.tally());
                return (complaints, tally);
            };
            if seed.is_multiple_of(100) {
                eprintln!("seed {seed}");
            }
            let script = Script::of(seed);
            let found = world.run(&script).await;
            let is_whole = found.is_empty();
            for what in found {
                let complaint = format!("seed {seed}: {what}");
                eprintln!("{complaint}\n{script:#?}");
                complaints.push(complaint);
            }
            if !is_whole {
                break;
            }
        }
        tally.add(&world.tally());
    }
}
