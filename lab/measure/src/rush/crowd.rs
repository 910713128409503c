//! The crowd, the staff and the drain, in simulated time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::shop::{Plan, Reply, Shop};

/// The prices before and after the change.
const PRICES: [i64; 2] = [1_000, 900];

/// The longest that a customer tries to order.
const PATIENCE: Duration = Duration::from_mins(1);

/// The longest that the orders in the queue may take.
const DRAINED_WITHIN: Duration = Duration::from_mins(30);

/// A rush.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rush {
    pub(super) plan: Plan,
    /// Orders a second.
    pub(super) rate: u32,
    pub(super) seconds: u32,
}

/// What happened. Times are seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Outcome {
    /// Orders that were answered 201.
    pub(super) placed_at_once: u64,
    /// Orders that were answered 202.
    pub(super) waited: u64,
    /// Of these, those that were placed.
    pub(super) placed_later: u64,
    /// Customers who were told that too few units are left.
    pub(super) sold_out: u64,
    /// Customers who had no answer but 503 within a minute.
    pub(super) gave_up: u64,
    /// The seconds until a customer knew: 201, 202 or a refusal.
    pub(super) answers: Vec<f64>,
    /// The seconds that the change of the price, and each restocking, took.
    pub(super) reprice: f64,
    pub(super) restocks: Vec<f64>,
    /// The most orders in the queue.
    pub(super) longest_queue: usize,
    /// The seconds from the first order until the last one was placed or refused.
    pub(super) lasted: f64,
}

impl Outcome {
    fn queue_has(&mut self, orders: usize) {
        self.longest_queue = self.longest_queue.max(orders);
    }
}

struct Scene {
    shop: Shop,
    rush: Rush,
    begin: Instant,
    price: Cell<i64>,
    outcome: RefCell<Outcome>,
}

impl Rush {
    fn orders(self) -> u32 {
        self.rate * self.seconds
    }

    /// The units of the stock at first, and of each of two restockings: four fifths of what the crowd wants.
    fn units(self) -> (u64, u64) {
        let fifth = u64::from(self.orders() / 5);
        (2 * fifth, fifth)
    }

    /// Simulates the rush.
    pub(super) fn run(self) -> Result<Outcome> {
        let simulated = move || -> Result<Outcome> {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            let runtime = builder.enable_time().start_paused(true).build()?;
            LocalSet::new().block_on(&runtime, self.simulate())
        };
        std::thread::spawn(simulated).join().ok().context("the simulation panicked")?
    }

    async fn simulate(self) -> Result<Outcome> {
        let shop = Shop::open(self.plan, PRICES[0], self.units().0).await?;
        let (price, begin) = (Cell::new(PRICES[0]), Instant::now());
        let scene = Rc::new(Scene { shop, rush: self, begin, price, outcome: RefCell::default() });

        for drain in 0..scene.shop.drains.len() {
            let scene = Rc::clone(&scene);
            tokio::task::spawn_local(async move { scene.drain(drain).await });
        }
        let staff = tokio::task::spawn_local(Rc::clone(&scene).staff());
        let mut customers = Vec::new();
        let mut at = 0.0;
        for number in 0..self.orders() {
            at -= fastrand::f64().max(f64::MIN_POSITIVE).ln() / f64::from(self.rate);
            customers.push(tokio::task::spawn_local(
                Rc::clone(&scene).customer(number, begin + Duration::from_secs_f64(at)),
            ));
        }
        staff.await??;
        for customer in customers {
            customer.await??;
        }
        while scene.shop.services.queue.len() > 0 {
            ensure!(begin.elapsed() < DRAINED_WITHIN, "{} orders still wait", scene.shop.services.queue.len());
            sleep(Duration::from_millis(100)).await;
        }
        scene.outcome.borrow_mut().lasted = begin.elapsed().as_secs_f64();
        scene.audit()
    }
}

impl Scene {
    /// Places queued orders in one environment.
    async fn drain(&self, environment: usize) {
        loop {
            self.outcome.borrow_mut().queue_has(self.shop.services.queue.len());
            let records = self.shop.services.queue.receive();
            if records.is_empty() {
                sleep(Duration::from_millis(20)).await;
                continue;
            }
            // If the function fails, its messages return when they are visible again.
            if let Ok(answer) = self.shop.drains[environment](json!({ "Records": records })).await {
                self.shop.services.queue.delete(&records, &answer);
            }
        }
    }

    /// Changes the price after three tenths of the rush, and restocks after five and seven tenths.
    async fn staff(self: Rc<Self>) -> Result<()> {
        let tenth = Duration::from_secs(u64::from(self.rush.seconds)) / 10;
        sleep_until(self.begin + 3 * tenth).await;
        let took = until_done(async || self.shop.reprice(PRICES[1]).await).await?;
        self.price.set(PRICES[1]);
        self.outcome.borrow_mut().reprice = took;
        for (at, key) in [(5, "first"), (7, "second")] {
            sleep_until(self.begin + at * tenth).await;
            let took = until_done(async || self.shop.restock(self.rush.units().1, key).await).await?;
            self.outcome.borrow_mut().restocks.push(took);
        }
        Ok(())
    }

    /// Orders one unit, as a patient customer does. Every tenth customer expects the price of the page.
    async fn customer(self: Rc<Self>, number: u32, at: Instant) -> Result<()> {
        sleep_until(at).await;
        let mut version = 0;
        loop {
            let expected = number.is_multiple_of(10).then(|| self.price.get());
            let reply = self.shop.order(number, &format!("rush-{number}-{version}"), expected).await?;
            let Reply { status, retry_after, body } = reply;
            match (status, body["type"].as_str().unwrap_or_default()) {
                // The customer sees the new price, and orders again.
                (409, "/problems/price-changed") => {
                    version += 1;
                    continue;
                }
                (503 | 500, _) if at.elapsed() < PATIENCE => {
                    sleep(Duration::from_secs(retry_after).mul_f64(1.0 + fastrand::f64())).await;
                    continue;
                }
                _ => {}
            }
            let outcome = &mut *self.outcome.borrow_mut();
            match (status, body["type"].as_str().unwrap_or_default()) {
                (201, _) => outcome.placed_at_once += 1,
                (202, _) => outcome.waited += 1,
                (409, "/problems/out-of-stock") => outcome.sold_out += 1,
                (503 | 500, _) => outcome.gave_up += 1,
                _ => anyhow::bail!("order {number}: {status} {body}"),
            }
            outcome.answers.push(at.elapsed().as_secs_f64());
            return Ok(());
        }
    }

    /// Checks that no unit and no order is lost, and counts the orders that were placed from the queue.
    fn audit(&self) -> Result<Outcome> {
        let mut outcome = self.outcome.borrow().clone();
        let (mut orders, mut left) = (0, 0);
        let mut from = Value::Null;
        loop {
            let request = json!({ "TableName": "till-local-orders", "ExclusiveStartKey": from });
            let page = self.shop.services.database.scan(serde_json::from_value(request)?)?;
            let page = serde_json::to_value(&page)?;
            for item in page["Items"].as_array().into_iter().flatten() {
                match item["EntityType"]["S"].as_str().unwrap_or_default() {
                    "order" => {
                        orders += 1;
                        let total = item["total"]["M"]["amount"]["N"].as_str().and_then(|total| total.parse().ok());
                        ensure!(
                            total.is_some_and(|total| PRICES.contains(&total)),
                            "an order has another price: {item}"
                        );
                    }
                    "stock" | "stockCell" => {
                        left += item["available"]["N"]
                            .as_str()
                            .and_then(|left| left.parse::<u64>().ok())
                            .context("units")?;
                    }
                    _ => {}
                }
            }
            from = page["LastEvaluatedKey"].clone();
            if from.is_null() {
                break;
            }
        }
        let (first, more) = self.rush.units();
        ensure!(orders + left == first + 2 * more, "{orders} orders and {left} units are not {first} + 2 x {more}");
        outcome.placed_later =
            orders.checked_sub(outcome.placed_at_once).context("an order that was placed is gone")?;
        ensure!(outcome.placed_later <= outcome.waited + outcome.gave_up, "more orders were placed than accepted");
        outcome.answers.sort_by(f64::total_cmp);
        Ok(outcome)
    }
}

/// The seconds until a request of the staff is done. It is sent again while the answer is 503.
async fn until_done(request: impl AsyncFn() -> Result<Reply>) -> Result<f64> {
    let begin = Instant::now();
    loop {
        let Reply { status, retry_after, body } = request().await?;
        match status {
            200 => return Ok(begin.elapsed().as_secs_f64()),
            503 => sleep(Duration::from_secs(retry_after)).await,
            _ => anyhow::bail!("{status} {body}"),
        }
    }
}
