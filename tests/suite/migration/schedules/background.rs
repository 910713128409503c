//! Work that no request asks for: queued orders are placed, and repairs are carried out.

use copying::{Copier, Pace, Repairs};
use lambda::FromEnvironment as _;
use shop::kills::for_steps;
use shop::queue::QUEUE;
use table::Pairs;
use tokio::time::{Instant, sleep};

use super::world::World;
use crate::prelude::*;

/// The longest time of a round of repairs.
const ROUND: Duration = Duration::from_secs(30);

/// Both tables, through the proxy that lets requests fail.
pub fn pairs(world: &World) -> Pairs {
    let environment = world.migrating.environment().with(world.shop().operator_through_the_proxy());
    Pairs::from_environment(&environment).expect("both tables")
}

/// A worker that nothing slows down.
pub fn worker(pairs: &Pairs) -> Copier {
    Copier::new(pairs.unshared(), Pace::new(1e6, 1e6))
}

/// Places the orders that wait in the queue, until the shop is empty and none is left.
pub async fn drain(world: Arc<World>) {
    let (mut random, mut waiting) = (world.random(1), Vec::new());
    let start = || world.faults.suffered_by(world.shop().drainer());
    let mut drainer = start();
    loop {
        let open = world.gate.read().await;
        // Asked first: what was queued before the last customer left is then found.
        let is_last = world.is_empty();
        waiting.extend(world.shop().take_from(QUEUE).await);
        if waiting.is_empty() && is_last && world.shop().queued().await == 0 {
            return;
        }
        random.shuffle(&mut waiting);
        let batch = &waiting[..waiting.len().min(random.usize(1..=6))];
        if !batch.is_empty() {
            match drainer(json!({ "Records": batch })).await {
                Ok(answer) => {
                    let failed = answer["batchItemFailures"].as_array().expect("failures").clone();
                    let is_left = |message: &Value| {
                        failed.iter().any(|failure| failure["itemIdentifier"] == message["messageId"])
                    };
                    let done = batch.len();
                    let left: Vec<_> = waiting.drain(..done).filter(is_left).collect();
                    waiting.extend(left);
                }
                // Killed: its messages are delivered again, to a new environment.
                Err(_) => drainer = start(),
            }
        }
        drop(open);
        world.forget_calls();
        sleep(Duration::from_millis(random.u64(100..300))).await;
    }
}

/// Carries out repairs until nothing else happens in the shop and none is left. Some rounds are killed.
pub async fn repair(world: Arc<World>) {
    let (mut random, pairs) = (world.random(2), pairs(&world));
    loop {
        let open = world.gate.read().await;
        let is_last = world.is_at_rest();
        let mut repairs = Repairs::new(pairs.unshared(), Pace::new(1e6, 1e6));
        let steps = if random.u8(..3) == 0 { random.usize(0..200) } else { usize::MAX };
        let round = for_steps(steps, repairs.round(Instant::now() + ROUND)).await;
        match round {
            None => world.figures().workers_killed += 1,
            Some(Ok(round)) => {
                world.figures().repairs += round.repairs;
                if is_last && round.repairs + round.failed == 0 {
                    return;
                }
            }
            // The repairs could not be listed.
            Some(Err(_)) => {}
        }
        drop(open);
        sleep(Duration::from_millis(random.u64(300..700))).await;
    }
}
