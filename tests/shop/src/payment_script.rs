//! The script of a schedule: which orders there are, and what happens to them.

use fastrand::Rng;
use local::pretend_provider::{Act, Answer, Call, Dispute, DisputeStatus, Entry};

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

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    Start,
    /// The customer pays with this card.
    Pay(&'static str),
    /// The customer cancels the order.
    Cancel,
    /// The customer cancels so many units of the order in all.
    CancelUnits(u64),
    /// The customer asks to return so many units.
    Return(u64),
    /// Staff accept the newest return and put its units back to the stock, or refuse the return.
    Receive {
        accepted: bool,
    },
    /// Staff ship the order.
    Ship,
    /// Staff set the order to delivered.
    Deliver,
    Capture,
    /// Staff give back so much, in minor units.
    Credit(u64),
    /// Staff do what the list of payments due asks of them.
    Close,
    /// Staff record a bank transfer. If the customer pays by card, too, that payment goes back.
    RecordTransfer,
    /// The schedule cancels the orders that were not paid in time.
    Expire,
    /// The time to replace a payment that lapsed is over, and the same schedule runs.
    ExpireLapsed,
    /// The schedule settles the payments that are due.
    Sweep,
    /// The provider ends an authorization that was not captured.
    Lapse,
    /// Something else happens at the provider, which the shop did not ask for.
    Trouble(Trouble),
    /// Nothing happens for some time, in milliseconds.
    Wait(u64),
}

/// What somebody does in the provider's dashboard, what the bank does, or what the provider answers next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Trouble {
    /// Somebody refunds so much, in minor units.
    Refund(i64),
    /// The newest refund fails after it was made.
    RefundFails,
    /// Somebody captures so much.
    Capture(i64),
    /// Somebody cancels the intent.
    Cancel,
    Dispute,
    /// The bank asks, and takes no money.
    Inquiry,
    /// The newest dispute ends.
    DisputeEnds {
        won: bool,
    },
    /// The next refund is answered with an error that the provider keeps, before it is made or after.
    KeepsError {
        made: bool,
    },
}

impl Trouble {
    /// The act at the provider with an order's intent. `None` if the intent has nothing for it.
    pub fn act(self, entry: &Entry) -> Option<Act> {
        use DisputeStatus::{Lost, NeedsResponse, WarningClosed, WarningNeedsResponse, Won};

        let intent = entry.id.clone();
        Some(match self {
            Self::Refund(amount) => Act::Refund { intent, amount: Some(amount) },
            Self::RefundFails => Act::FailRefund { refund: entry.refunds.last()?.id.clone() },
            Self::Capture(amount) => Act::Capture { intent, amount: Some(amount) },
            Self::Cancel => Act::Cancel { intent },
            Self::Dispute => Act::Dispute { intent, amount: None, inquiry: false },
            Self::Inquiry => Act::Dispute { intent, amount: None, inquiry: true },
            Self::DisputeEnds { won } => {
                let is_open = |one: &&Dispute| !matches!(one.status, Won | Lost | WarningClosed);
                let dispute = entry.disputes.iter().rfind(is_open).or(entry.disputes.last())?;
                let status = match dispute.status {
                    WarningNeedsResponse if won => WarningClosed,
                    WarningNeedsResponse => NeedsResponse,
                    _ if won => Won,
                    _ => Lost,
                };
                Act::UpdateDispute { dispute: dispute.id.clone(), status }
            }
            Self::KeepsError { made } => {
                let answer = if made { Answer::ServerErrorAfterwards } else { Answer::ServerError };
                Act::Next { call: Some(Call::CreateRefund), answer }
            }
        })
    }
}

pub const VISA: &str = "pm_card_visa";
const DECLINED: [&str; 2] = ["pm_card_chargeDeclined", "4000000000009995"];

impl Script {
    /// The script of a seed: a story of each order, woven into one another, with other steps in between.
    pub fn of(seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let orders: Vec<_> = (0..random.usize(1..=3)).map(|_| placing(&mut random)).collect();
        let mut stories: Vec<_> = orders.iter().map(|_| story(&mut random).into_iter()).collect();
        let mut groups = Vec::new();
        let mut open: Vec<usize> = (0..orders.len()).collect();
        while let Some(order) = random.choice(open.iter().copied()) {
            let Some(what) = stories[order].next() else {
                open.retain(|other| *other != order);
                continue;
            };
            let mut group = vec![Step { order, what }];
            for _ in 0..random.choice([0, 0, 0, 1, 2]).unwrap_or(0) {
                group.push(Step { order: random.usize(..orders.len()), what: anything(&mut random) });
            }
            groups.push(group);
            if random.bool() {
                groups.push(vec![Step { order, what: What::Wait(random.u64(..250)) }]);
            }
        }
        Self { seed, orders, groups }
    }
}

/// What would happen to an order if nothing came between.
pub fn story(random: &mut Rng) -> Vec<What> {
    use self::Trouble::{Dispute, DisputeEnds, KeepsError, Refund, RefundFails};
    use What::{
        Cancel, CancelUnits, Capture, Deliver, Expire, ExpireLapsed, Lapse, Receive, RecordTransfer, Return, Ship,
        Start, Sweep, Trouble,
    };

    let pay = What::Pay(VISA);
    let declined = What::Pay(DECLINED[random.usize(..2)]);
    let (units, accepted) = (random.u64(1..=2), random.u8(..4) > 0);
    let back = [Deliver, Return(units), Receive { accepted }];
    let (won, made) = (random.bool(), random.bool());
    let stories: [&[What]; 18] = [
        &[Start, Expire],
        &[declined, pay, Ship],
        &[pay, Cancel],
        &[Start, Cancel, pay],
        &[pay, Capture, Cancel],
        &[pay, Capture, CancelUnits(units), Ship],
        &[CancelUnits(units), pay, Ship, Deliver],
        &[pay, CancelUnits(units), Ship],
        &[pay, Ship, back[0], back[1], back[2]],
        &[pay, Ship, back[0], back[1], back[2], Return(1), back[2]],
        &[pay, Lapse, pay, Ship],
        &[pay, Lapse, Start, ExpireLapsed, pay],
        &[Start, RecordTransfer, pay, Cancel],
        &[pay, Capture, What::Wait(200), Trouble(Refund(500)), Ship],
        &[pay, Capture, CancelUnits(1), Sweep, Trouble(RefundFails), Cancel],
        &[pay, Capture, What::Wait(200), Trouble(Dispute), Ship, Trouble(DisputeEnds { won }), Ship],
        &[pay, Capture, What::Wait(200), Trouble(Dispute), Cancel, Trouble(DisputeEnds { won })],
        &[pay, Capture, Trouble(KeepsError { made }), Cancel, Sweep],
    ];
    let mut story = stories[random.usize(..stories.len())].to_vec();
    if random.u8(..3) == 0 {
        story.push(What::Sweep);
    }
    story
}

fn placing(random: &mut Rng) -> Placing {
    let quantity = random.u64(1..=3);
    let by_gift_card = match random.u8(..8) {
        // The whole order.
        0 => quantity * 1000,
        1 | 2 => random.u64(1..=1000),
        _ => 0,
    };
    Placing { quantity, by_gift_card, is_old: random.u8(..3) == 0 }
}

/// A step that has nothing to do with the order's story.
pub fn anything(random: &mut Rng) -> What {
    match random.u8(..29) {
        0..=1 => What::Start,
        2..=5 => What::Pay(VISA),
        6..=7 => What::Pay(DECLINED[random.usize(..2)]),
        8..=9 => What::Cancel,
        10 => What::CancelUnits(random.u64(1..=3)),
        11..=12 => What::Ship,
        13 => What::Deliver,
        14 => What::Return(random.u64(1..=2)),
        15 => What::Receive { accepted: true },
        16..=17 => What::Capture,
        18 => What::RecordTransfer,
        19 => What::Expire,
        20 => What::ExpireLapsed,
        21..=22 => What::Sweep,
        23..=24 => What::Credit(random.u64(1..=700)),
        25 => What::Close,
        26 => What::Trouble(Trouble::Inquiry),
        27 => What::Trouble(if random.bool() { Trouble::Cancel } else { Trouble::Capture(random.i64(50..=1500)) }),
        _ => What::Lapse,
    }
}
