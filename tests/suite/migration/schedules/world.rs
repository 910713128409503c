//! A shop that migrates, and everybody who uses it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use devstack::{FaultProxy, Template};
use fastrand::Rng;
use key_schema::entity::Phase;
use shop::provider::Faults;
use shop::queue::drain_source;
use shop::reconcile::{FAST, reconciled};
use shop::seed::long;
use tokio::sync::RwLock;
use tokio::task::JoinHandle;

use super::background::{drain, repair};
use super::figures::Figures;
use super::laws;
use super::operator::Operator;
use super::shopper::{Purchase, Shopper};
use super::staff::Staff;
use crate::migration::MigratingShop;
use crate::prelude::*;

/// The time for which functions use a phase that they have read.
pub const CACHE: Duration = Duration::from_millis(60);

/// The number of products. An order of all of them has more writes than fit into a transaction over both tables.
pub const PRODUCTS: usize = 40;

/// The number of customers who use the shop at once.
const SHOPPERS: usize = 3;

/// The share of requests that suffer each kind of fault, and of invocations that are killed.
const FAULTY: f64 = 0.01;
const KILLED: f64 = 0.04;

/// The longest time for which a client repeats a request.
const CLIENT_PATIENCE: Duration = Duration::from_mins(1);

pub struct World {
    pub migrating: MigratingShop,
    pub faults: Faults,
    pub seed: u64,
    /// Held for reading by everything that happens in the shop, and for writing while the laws are checked.
    pub gate: RwLock<()>,
    is_closed: AtomicBool,
    /// The last request of the customers and of the staff is answered.
    is_empty: AtomicBool,
    /// Nothing is under way any more but repairs.
    is_at_rest: AtomicBool,
    /// When each phase began and, unless it is the current one, when its last step ended.
    phases: Mutex<Vec<(Phase, Instant, Option<Instant>)>>,
    complaints: Mutex<Vec<String>>,
    figures: Mutex<Figures>,
    /// The units that staff added to the stock of each product.
    pub adjusted: Mutex<BTreeMap<String, i64>>,
}

/// A request, and the statuses with which it may be answered in the end.
pub struct Ask<'a> {
    pub client: &'a Client,
    pub method: Method,
    pub path: &'a str,
    pub headers: &'a [(&'a str, &'a str)],
    pub body: Option<Value>,
    pub expected: &'a [u16],
}

/// Runs the schedule of a seed through these phases, and returns the complaints.
pub async fn run(seed: u64, route: Vec<Phase>) -> (Vec<String>, Figures) {
    let begin = Instant::now();
    let world = Arc::new(World::open(seed).await);
    world.fail();
    let mut shoppers = (0..SHOPPERS).map(|at| Shopper::new(&world, at)).collect::<Vec<_>>();
    let mut staff = Staff::new(&world);
    let mut operator = Operator::new(&world);

    // The tables are equal before the last step, which leaves the first one behind.
    let open = Open::begin(&world, shoppers, staff);
    operator.walk(&route).await;
    (shoppers, staff) = open.close(&world, &mut operator).await;
    laws::before_the_last_step(&world, &mut operator, &mut shoppers).await;

    world.fail();
    let open = Open::begin(&world, shoppers, staff);
    operator.step(Phase::Next).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    (shoppers, _) = open.close(&world, &mut operator).await;
    laws::at_the_end(&world, &mut shoppers).await;

    let mut figures = world.figures().clone();
    figures.functions_killed = world.faults.kills.killed();
    figures.seconds = begin.elapsed().as_secs_f64();
    let complaints = world.complaints.lock().unwrap_or_else(PoisonError::into_inner).clone();
    world.forget_calls();
    (complaints, figures)
}

/// A shop while it is open: everybody who uses it, and the work that nobody asks for.
struct Open {
    users: JoinHandle<(Vec<Shopper>, Staff)>,
    drain: JoinHandle<()>,
    repairs: JoinHandle<()>,
}

impl Open {
    fn begin(world: &Arc<World>, shoppers: Vec<Shopper>, staff: Staff) -> Self {
        world.is_closed.store(false, Ordering::SeqCst);
        world.is_empty.store(false, Ordering::SeqCst);
        world.is_at_rest.store(false, Ordering::SeqCst);
        let [drained, repaired, used] = [(); 3].map(|()| Arc::clone(world));
        let users = tokio::spawn(async move {
            let mut shopping = JoinSet::new();
            for shopper in shoppers {
                shopping.spawn(shopper.shop(Arc::clone(&used)));
            }
            let staff = staff.work(&used).await;
            (shopping.join_all().await, staff)
        });
        Self { users, drain: tokio::spawn(drain(drained)), repairs: tokio::spawn(repair(repaired)) }
    }

    /// Closes the shop, and waits until nothing is under way and no repair is due.
    async fn close(self, world: &World, operator: &mut Operator) -> (Vec<Shopper>, Staff) {
        world.is_closed.store(true, Ordering::SeqCst);
        let users = self.users.await.expect("no panic in the shop");
        // Until now, an order could be queued.
        world.is_empty.store(true, Ordering::SeqCst);
        self.drain.await.expect("no panic of the drain");
        operator.wake_all().await;
        world.rest().await;
        // All of the above may have left repairs.
        world.is_at_rest.store(true, Ordering::SeqCst);
        self.repairs.await.expect("no panic of the repairs");
        users
    }
}

impl World {
    async fn open(seed: u64) -> Self {
        let change = |template: &mut Template| {
            for function in &mut template.functions {
                let cache = CACHE.as_millis().to_string();
                let variables = [("MIGRATION_CACHE_MILLISECONDS", cache), ("DRAIN_WRITE_UNITS", "100000".to_owned())];
                function.environment.extend(variables.map(|(name, value)| (name.to_owned(), value)));
            }
            for source in &mut template.stream_sources {
                source.batching_window_seconds = 0;
            }
            // Here a message that waits comes back as soon as the schedule wants.
            drain_source(template).enabled = false;
            reconciled(template, 0, FAST);
        };
        let (shop, faults) = Shop::open_faulty_with(&[("Tables", "v1-v2"), ("MaxOpenUnits", "0")], change).await;
        for product in 0..PRODUCTS {
            shop.product(&format!("p{product}"), 1000, 100_000).await;
        }
        for customer in (0..SHOPPERS).map(|at| format!("c{at}")).chain(["bystander".to_owned()]) {
            shop.sign_up(&customer).await;
        }
        shop.discount("TEN", 10, None).await;
        shop.gift_card("GIFT", 50_000_000).await;
        if seed.is_multiple_of(2) {
            shop.fault_proxy().hold_items(Duration::from_millis(2));
        }
        Self {
            migrating: MigratingShop::of(shop),
            faults,
            seed,
            gate: RwLock::default(),
            is_closed: AtomicBool::new(false),
            is_empty: AtomicBool::new(false),
            is_at_rest: AtomicBool::new(false),
            phases: Mutex::new(vec![(Phase::First, Instant::now(), None)]),
            complaints: Mutex::default(),
            figures: Mutex::default(),
            adjusted: Mutex::default(),
        }
    }

    pub fn shop(&self) -> &Shop {
        &self.migrating.shop
    }

    /// Whether nothing fails in this schedule, and functions are not killed. The only schedule of the short form is not
    /// calm.
    pub fn is_calm(&self) -> bool {
        long().is_some() && self.seed.is_multiple_of(4)
    }

    pub fn random(&self, of: u64) -> Rng {
        Rng::with_seed(self.seed * 1000 + of)
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Whether the shop is closed, and everybody has left it.
    pub fn is_empty(&self) -> bool {
        self.is_empty.load(Ordering::SeqCst)
    }

    /// Whether nothing but repairs can be left to do.
    pub fn is_at_rest(&self) -> bool {
        self.is_at_rest.load(Ordering::SeqCst)
    }

    pub fn complain(&self, what: String) {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).push(what);
    }

    pub fn figures(&self) -> MutexGuard<'_, Figures> {
        self.figures.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on things fail.
    pub fn fail(&self) {
        if self.is_calm() {
            return;
        }
        self.faults.begin(FAULTY, KILLED, self.seed);
        let [queues, bus] = self.shop().service_proxies();
        for (number, proxy) in (0..).zip([self.shop().fault_proxy(), queues, bus]) {
            for (more, fault) in (0..).zip([Fault::CutBefore, Fault::CutAfter, Fault::InternalError]) {
                proxy.inject_share(Match::any(), fault, FAULTY, self.seed * 100 + 10 * number + more);
            }
        }
        let late = Fault::Late(Duration::from_millis(150));
        let transaction = commit();
        self.shop().fault_proxy().inject_share(transaction, late, FAULTY, self.seed * 100 + 99);
    }

    /// From now on everything works.
    pub fn heal(&self) {
        self.faults.end();
        let [queues, bus] = self.shop().service_proxies();
        for proxy in [self.shop().fault_proxy(), queues, bus] {
            proxy.heal();
        }
    }

    /// Waits until nothing is under way any more: everything works, the events are processed and the payments settled.
    /// The caller holds the gate, or the shop is closed.
    pub async fn rest(&self) {
        self.heal();
        until("no request is under way", async || {
            self.shop().settle_payments().await;
            let [queues, bus] = self.shop().service_proxies();
            let is_idle = [self.shop().fault_proxy(), queues, bus].iter().all(|proxy| proxy.is_idle());
            let is_quiet = self.faults.invocations.since().is_none() && self.faults.are_idle();
            is_idle && is_quiet && self.shop().payments().provider.webhooks_waiting() == 0
        })
        .await;
    }

    /// Waits until no function works by a phase before the current one. `stepped` is when the last step was done.
    pub async fn settled(&self, stepped: Instant) {
        tokio::time::sleep_until((stepped + CACHE + Duration::from_millis(10)).into()).await;
        let mark = Instant::now();
        let is_past = |since: Option<Instant>| since.is_none_or(|since| since > mark);
        let are_past =
            async || is_past(self.faults.invocations.since()) && is_past(self.shop().fault_proxy().busy_since());
        until("no request of the phase before is under way", are_past).await;
    }

    pub fn phase_begins(&self, phase: Phase) {
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        if phases.last().is_none_or(|(last, ..)| *last != phase) {
            phases.push((phase, Instant::now(), None));
        }
    }

    /// The step to the current phase is done.
    pub fn phase_began(&self) {
        self.figures().steps += 1;
        let mut phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, _, end)) = phases.iter_mut().nth_back(1) {
            *end = Some(Instant::now());
        }
    }

    pub fn phase(&self) -> Phase {
        let phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        phases.last().map_or(Phase::First, |(phase, ..)| *phase)
    }

    /// Whether a function that worked since this moment may have worked by a strict phase.
    pub fn was_strict(&self, since: Instant) -> bool {
        let phases = self.phases.lock().unwrap_or_else(PoisonError::into_inner);
        phases.iter().any(|(phase, _, end)| phase.is_strict() && end.is_none_or(|end| end + CACHE >= since))
    }

    /// Sends a request until it is answered. A request may have to be repeated if something failed or a function was
    /// killed, and in strict phases. Any other answer than those expected is a complaint.
    pub async fn insist(&self, ask: Ask<'_>, random: &mut Rng) -> Option<Reply> {
        let Ask { client, method, path, headers, body, expected } = ask;
        let first = Instant::now();
        loop {
            let begin = Instant::now();
            self.figures().requests += 1;
            let text = body.as_ref().map(ToString::to_string);
            let reply = client.send(method.clone(), path, headers, text).await;
            if expected.contains(&reply.status) {
                let mut figures = self.figures();
                figures.longest = figures.longest.max(first.elapsed().as_secs_f64());
                return Some(reply);
            }
            let is_killed = reply.status == 500 && self.faults.kills.killed() > 0;
            let may_fail = !self.is_calm() || self.was_strict(begin);
            let waited = first.elapsed();
            if !(may_fail && (reply.status == 503 || is_killed)) || waited > CLIENT_PATIENCE {
                self.complain(format!("{method} {path} {body:?}, after {waited:?}: {} {}", reply.status, reply.body));
                return None;
            }
            self.figures().repeated += 1;
            tokio::time::sleep(Duration::from_millis(random.u64(5..60))).await;
        }
    }

    /// Forgets the recorded calls, of which there are many, and counts their faults.
    pub fn forget_calls(&self) {
        let [queues, bus] = self.shop().service_proxies();
        let calls = [self.shop().fault_proxy(), queues, bus].map(FaultProxy::take_calls);
        self.figures().faults += calls.iter().flatten().filter(|call| call.fault.is_some()).count();
    }
}

/// All orders that somebody was told of, by id.
pub fn purchases(shoppers: &[Shopper]) -> BTreeMap<&str, &Purchase> {
    shoppers.iter().flat_map(|shopper| &shopper.purchases).map(|purchase| (purchase.id.as_str(), purchase)).collect()
}
