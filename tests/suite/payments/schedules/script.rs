//! The script of a schedule: which orders there are, and what happens to them.

use fastrand::Rng;

/// What happens in one schedule.
#[derive(Clone, Debug)]
pub struct Script {
    pub seed: u64,
    pub orders: Vec<Placing>,
    /// The groups happen one after the other, and the steps of a group at once.
    pub groups: Vec<Vec<Step>>,
}

/// An order to place.
#[derive(Clone, Copy, Debug)]
pub struct Placing {
    pub quantity: u64,
    /// The part that a gift card pays, in minor units.
    pub by_gift_card: u64,
    /// Whether the order was placed so long ago that it expires unless it is paid.
    pub is_old: bool,
}

/// One step of one order, by its position.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub order: usize,
    pub what: What,
}

/// What happens. Steps of returns and refunds belong here, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// The customer starts or resumes the payment.
    Start,
    /// The customer pays with this card.
    Pay(&'static str),
    /// The customer cancels the order.
    Cancel,
    /// Staff ship the order.
    Ship,
    /// Staff set the order to delivered.
    Deliver,
    /// Staff ask for the capture of the payment.
    Capture,
    /// Staff record a bank transfer. If the customer pays by card, too, that payment goes back.
    RecordTransfer,
    /// The schedule cancels the orders that were not paid in time.
    Expire,
    /// The schedule settles the payments that are due.
    Sweep,
    /// The provider ends an authorization that was not captured.
    Lapse,
    /// Nothing happens for some time, in milliseconds.
    Wait(u64),
}

pub const VISA: &str = "pm_card_visa";
const DECLINED: [&str; 2] = ["pm_card_chargeDeclined", "4000000000009995"];

impl Script {
    /// The script of a seed.
    pub fn of(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let orders: Vec<_> = (0..random.usize(1..=3)).map(|_| placing(&mut random)).collect();
        let length = random.usize(5..=14);
        let mut groups = Vec::new();
        for position in 0..length {
            let side_by_side = random.choice([1, 1, 1, 2, 3]).unwrap_or(1);
            let what = if position * 3 < length { paying } else { afterwards };
            let step = |_| Step { order: random.usize(..orders.len()), what: what(&mut random) };
            groups.push((0..side_by_side).map(step).collect());
        }
        Self { seed, orders, groups }
    }
}

fn placing(random: &mut Rng) -> Placing {
    let quantity = random.u64(1..=3);
    let by_gift_card = match random.u8(..8) {
        // The whole order.
        0 => quantity * 1000,
        1 | 2 => random.u64(1..1000),
        _ => 0,
    };
    Placing { quantity, by_gift_card, is_old: random.u8(..3) == 0 }
}

/// Steps of the first third of a schedule. Most of them lead to a payment.
fn paying(random: &mut Rng) -> What {
    match random.u8(..20) {
        0..=1 => What::Start,
        2..=11 => What::Pay(VISA),
        12..=14 => What::Pay(DECLINED[random.usize(..2)]),
        15 => What::Expire,
        16 => What::Cancel,
        17 => What::Lapse,
        _ => What::Wait(random.u64(..200)),
    }
}

/// The other steps.
fn afterwards(random: &mut Rng) -> What {
    match random.u8(..30) {
        0 => What::Start,
        1..=4 => What::Pay(VISA),
        5 => What::Pay(DECLINED[random.usize(..2)]),
        6..=9 => What::Cancel,
        10..=14 => What::Ship,
        15 => What::Deliver,
        16..=19 => What::Capture,
        20 => What::RecordTransfer,
        21..=22 => What::Expire,
        23..=24 => What::Sweep,
        25..=26 => What::Lapse,
        _ => What::Wait(random.u64(..300)),
    }
}
