//! What happened in some schedules, in numbers.

use std::fmt;

use super::world::PRODUCTS;

/// What happened in some schedules.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub steps: u64,
    pub requests: u64,
    pub repeated: u64,
    /// The seconds until the slowest request was answered, with its repetitions.
    pub longest: f64,
    pub orders: u64,
    pub large: u64,
    pub waited: u64,
    pub repairs: u64,
    pub copied: u64,
    pub workers_killed: u64,
    pub asleep: u64,
    pub functions_killed: usize,
    pub faults: usize,
    pub audits: u64,
    pub events: usize,
    pub seconds: f64,
}

impl Figures {
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.requests += other.requests;
        self.repeated += other.repeated;
        self.longest = self.longest.max(other.longest);
        self.orders += other.orders;
        self.large += other.large;
        self.waited += other.waited;
        self.repairs += other.repairs;
        self.copied += other.copied;
        self.workers_killed += other.workers_killed;
        self.asleep += other.asleep;
        self.functions_killed += other.functions_killed;
        self.faults += other.faults;
        self.audits += other.audits;
        self.events += other.events;
        self.seconds += other.seconds;
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { steps, requests, repeated, longest, orders, large, waited, repairs, copied, .. } = self;
        let Self { workers_killed, asleep, functions_killed, faults, audits, events, seconds, .. } = self;
        write!(
            f,
            "{steps} steps, {requests} requests ({repeated} repeated, the slowest took {longest:.1} s), \
             {orders} orders ({large} of {PRODUCTS} lines, {waited} waited), {copied} items copied, {repairs} repairs, \
             {workers_killed} workers killed, {asleep} fell asleep, {functions_killed} functions killed, \
             {faults} faults, {audits} audits, {events} events, {seconds:.1} s"
        )
    }
}
