//! Random schedules of a shop that migrates while it is open, over faulty wires, with functions and workers killed at
//! any point.
//!
//! In each schedule, several customers and one member of staff use the shop at once: they place orders of 1 to 40 lines, pay,
//! capture, ship, cancel and return, sign up, change their e-mail addresses, fill carts, adjust stock. Queued orders are
//! drained, and both streams are counted and told. Meanwhile an operator goes through the phases of a migration:
//! forwards to the end, back from each phase, and forwards again, in one of three ways. Functions, and the workers that
//! copy, compare and repair, are killed at any step; some workers fall asleep instead and go on in a later phase.
//! Connections to the tables are cut before and after the tables answer, and answers come late. Every fourth schedule
//! is calm: nothing fails, and functions are not killed, so nothing but the migration can make a request fail. The laws
//! are in [`laws`].
//!
//!     TILL_LONG=100 cargo test --profile measure -p tests --test suite migration::schedules -- --nocapture
//!
//! runs 100 schedules and prints a line for each. A complaint names the seed of its schedule, and `TILL_SEED=7 TILL_LONG=1`
//! runs that one again. The seed determines who does what, the way of the migration and the faults, but not how they
//! interleave.

mod background;
mod figures;
mod laws;
mod operator;
mod shopper;
mod staff;
mod world;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use shop::seed::{long, seeds};
use tokio::task::JoinSet;

use self::figures::Figures;

/// The number of schedules that run at the same time. Much of a schedule is waiting.
const AT_ONCE: usize = 3;

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_that_migrates_while_it_is_open_loses_nothing_and_refuses_nobody() {
    // Unless the long form is asked for, one migration that goes forwards only.
    let route = |seed| if long().is_some() { operator::route(seed) } else { operator::FORWARDS.to_vec() };
    let seeds: Arc<Mutex<VecDeque<u64>>> = Arc::new(Mutex::new(seeds(1).collect()));
    let (begin, mut running) = (Instant::now(), JoinSet::new());
    for _ in 0..AT_ONCE {
        let seeds = Arc::clone(&seeds);
        running.spawn(async move {
            let (mut complaints, mut all) = (Vec::new(), Figures::default());
            loop {
                let next = seeds.lock().expect("no panic with the lock").pop_front();
                let Some(seed) = next else { return (complaints, all) };
                // In a task of its own, so that the seed of a panic is known.
                let (found, figures) = match tokio::spawn(world::run(seed, route(seed))).await {
                    Ok(outcome) => outcome,
                    Err(panic) => (vec![panic.to_string()], Figures::default()),
                };
                eprintln!("seed {seed}: {figures}");
                // At once: a hundred migrations take more than an hour.
                for what in &found {
                    eprintln!("seed {seed}: {what}");
                }
                all.add(&figures);
                complaints.extend(found.into_iter().map(|what| format!("seed {seed}: {what}")));
            }
        });
    }
    let (mut complaints, mut all) = (Vec::new(), Figures::default());
    for (found, figures) in running.join_all().await {
        complaints.extend(found);
        all.add(&figures);
    }
    eprintln!("all in {:.0} s: {all}", begin.elapsed().as_secs_f64());
    let again = "TILL_SEED=N TILL_LONG=1 runs the schedule of seed N of the long form again";
    assert!(complaints.is_empty(), "{} complaints; {again}:\n{}", complaints.len(), complaints.join("\n"));
}
