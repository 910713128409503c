//! A card payment at a provider: the customer, the shop, the provider, its dashboard, the bank and the settling
//! function, in every interleaving.
//!
//! The shop's decisions are [`ordering::steps`] and [`CardPayment::command`]. A change of the order is one step here: that
//! two changes at once end as if one came after the other is what the model of orders shows. A look at the provider is
//! not: the order may change between the read, the look and the write.

use std::hash::{Hash, Hasher};

use key_schema::entity::{
    CancellationCause, CardPayment, Command, Dispute, Held, OrderStatus, PaymentState, Progress, WholeOrder, Work,
};
use key_schema::value::{IntentId, Timestamp};
use ordering::steps::{Step, Transition};
use stateright::{Model, Property};

use books::{Books, Trouble};
use change::Change;

mod books;
mod change;
mod scene;
#[cfg(test)]
mod tests;

/// The amount of the payment, in minor units: two units at half of it.
const WHOLE: i64 = 700;

/// A fault of the shop that the model must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// What was seen is recorded although the order has changed since it was read.
    RecordsLate,
    /// A refund keeps its number, although the provider keeps its failure under that number.
    AsksAgain,
    /// A refund that failed gets another number at once, although it may still be carried out.
    Renumbers,
    /// An unpaid order is cancelled while its customer can pay.
    ExpiresOpen,
    /// Of an intent that ended, the shop does not see that the customer had paid.
    ForgetsRelease,
}

/// A shop with one order.
#[derive(Clone, Debug)]
pub struct Paying {
    pub name: &'static str,
    /// How often the customer's card is declined, at most.
    declines: u8,
    /// How often the provider ends an authorization by itself, at most.
    ends: u8,
    /// How often the settling function crashes, at most.
    crashes: u8,
    /// How often the provider or the bank does something else by itself, at most.
    troubles: u8,
    bug: Option<Bug>,
}

/// The shop, the provider and the settling function.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    whole: WholeOrder,
    books: Books,
    settler: Settler,
    /// Whether an order that its customer had paid in time was cancelled as unpaid.
    is_robbed: bool,
    declines: u8,
    ends: u8,
    crashes: u8,
    troubles: u8,
}

#[derive(Clone, Debug, PartialEq)]
struct Look {
    intent: String,
    held: Held,
    newest_refund: u32,
    /// Whether it finds every refund that will be made of those that failed.
    is_sure: bool,
}

/// The settling function, between its steps.
#[derive(Clone, Debug, PartialEq)]
enum Settler {
    Idle,
    /// It read the order, and saw what the provider holds of the intent.
    Saw(Box<WholeOrder>, Look),
    Asks(String, Command),
}

/// The next event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Start,
    Pay {
        is_accepted: bool,
    },
    /// The provider ends an authorization that was not captured in time.
    End,
    /// A message of the provider arrives: the shop looks, and records what it sees.
    Told,
    /// An order's time is over: the shop ends its intent.
    Void,
    Change(Change),
    /// The settling function does its next step, or begins.
    Settle,
    Crash,
    Trouble(Trouble),
    /// The refund is made whose answer was an error.
    Land,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        format!("{self:?}").hash(state);
    }
}

/// Models whose every state the tests explore.
pub fn small() -> Vec<Paying> {
    let paying =
        |name, declines, ends, crashes, troubles| Paying { name, declines, ends, crashes, troubles, bug: None };
    vec![
        paying("a payment, a decline and a crash", 1, 0, 1, 0),
        paying("a payment that ends, and a crash", 0, 1, 1, 0),
        paying("a payment, a trouble and a crash", 0, 0, 1, 1),
    ]
}

/// Larger models.
pub fn large() -> Vec<Paying> {
    let name = "a payment with two of everything";
    vec![Paying { name, declines: 2, ends: 2, crashes: 2, troubles: 2, bug: None }]
}

fn now() -> Timestamp {
    "2026-11-22T10:00:00.000Z".parse().expect("a time")
}

/// A time at which it is certain that a refund was not made, if a look does not find it.
fn later() -> Timestamp {
    now().plus_seconds(CardPayment::SURE_AFTER)
}

fn is_cancelled_as_unpaid(whole: &WholeOrder) -> bool {
    whole.order.cancellation.as_ref().is_some_and(|it| it.cause == Some(CancellationCause::Unpaid))
}

impl State {
    fn card(&self) -> &CardPayment {
        self.whole.invoice.card().expect("a card payment")
    }

    /// The order's newest intent.
    fn newest(&self) -> Option<String> {
        self.card().provider.as_ref().map(|provider| provider.intent.to_string())
    }

    fn change(&mut self, transition: Transition<'_>) -> bool {
        self.change_at(transition, now())
    }

    fn change_at(&mut self, transition: Transition<'_>, now: Timestamp) -> bool {
        let Step::To(next) = transition.of(&self.whole, now) else { return false };
        let is_unpaid = is_cancelled_as_unpaid(&next) && self.whole.order.status == OrderStatus::Pending;
        self.is_robbed |= is_unpaid && self.books.intents.values().any(|held| held.progress == Progress::Released);
        self.whole = *next;
        true
    }

    /// What the provider is seen to hold of the newest intent.
    fn see(&self, bug: Option<Bug>) -> Option<Look> {
        let intent = self.newest()?;
        let (mut held, newest_refund) = (self.books.intents[&intent], self.books.newest_refund(&intent));
        if bug == Some(Bug::ForgetsRelease) && held.progress == Progress::Released {
            held.progress = Progress::Ended;
        }
        // Any look may be minutes after a failure. But the provider is not as late as that.
        let is_sure = self.books.late.is_none() || bug == Some(Bug::Renumbers);
        Some(Look { intent, held, newest_refund, is_sure })
    }

    fn record(&mut self, Look { intent, held, newest_refund, is_sure }: Look) {
        let id: IntentId = intent.parse().expect("an id");
        let amount = self.books.amounts[&intent];
        let observed = Transition::ObservePayment { intent: &id, amount, held, newest_refund };
        self.change_at(observed, if is_sure { later() } else { now() });
    }

    /// Looks at the provider, and records what it holds.
    fn look(&mut self, bug: Option<Bug>) {
        if let Some(look) = self.see(bug) {
            self.record(look);
        }
    }

    fn start(&mut self, bug: Option<Bug>) {
        self.look(bug);
        if let Some(attempt) = self.card().next_attempt() {
            let intent = format!("pi_{attempt}");
            self.books.intents.entry(intent.clone()).or_insert(Held::NOTHING);
            let asked = self.card().asked();
            let amount = *self.books.amounts.entry(intent.clone()).or_insert(asked);
            let intent: IntentId = intent.parse().expect("an id");
            self.change(Transition::StartPayment { intent: &intent, attempt, amount });
        }
    }

    /// The settling function's next step: read and look, record, ask.
    fn settle(&mut self, bug: Option<Bug>) {
        self.settler = match std::mem::replace(&mut self.settler, Settler::Idle) {
            Settler::Idle => match self.see(bug) {
                Some(look) => Settler::Saw(Box::new(self.whole.clone()), look),
                None => Settler::Idle,
            },
            Settler::Saw(read, look) => {
                if *read != self.whole && bug != Some(Bug::RecordsLate) {
                    return;
                }
                self.record(look);
                match (self.newest(), self.card().command()) {
                    (Some(intent), Some(command)) => Settler::Asks(intent, command),
                    _ => Settler::Idle,
                }
            }
            Settler::Asks(intent, command) => {
                if !self.books.carry_out(&intent, command) && bug != Some(Bug::AsksAgain) {
                    self.look(bug);
                    self.change(Transition::FailCommand { command, code: None });
                }
                Settler::Idle
            }
        };
    }

    /// Whether the books agree once the settling function has run for long enough and the bank has decided, and whether
    /// staff can then close what is left, each thing with one request.
    fn settles(&self, bug: Option<Bug>) -> bool {
        let mut state = self.clone();
        if let Some(intent) = state.newest() {
            state.books.suffer(&intent, Trouble::Disputes(Dispute::Lost));
        }
        for _ in 0..4 {
            state.books.land();
            state.look(bug);
            for _ in 0..3 {
                state.settle(bug);
            }
        }
        state.look(bug);
        let agrees = state.card().provider.as_ref().is_none_or(|provider| {
            state.books.intents.get(provider.intent.as_str()).is_some_and(|held| *held == provider.held)
        });
        let is_asked = state.card().command().is_some();
        if state.whole.work() == Some(Work::Capture) {
            state.change(Transition::RequestCapture);
        }
        state.change(Transition::ConfirmRefund { reference: "back", amount: None });
        state.change(Transition::WriteOff { amount: None });
        // What is written off is not wanted, so a payment that the customer began again is void.
        for _ in 0..2 {
            state.look(bug);
            (0..3).for_each(|_| state.settle(bug));
        }
        agrees && !is_asked && state.whole.work().is_none()
    }
}

impl Model for Paying {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Self { declines, ends, crashes, troubles, .. } = *self;
        let (whole, books, settler) = (scene::placed(), Books::default(), Settler::Idle);
        vec![State { whole, books, settler, is_robbed: false, declines, ends, crashes, troubles }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend([Action::Start, Action::Told, Action::Void, Action::Settle]);
        actions.extend(Change::ALL.map(Action::Change));
        let progress = state.newest().map(|intent| state.books.intents[&intent].progress);
        if matches!(progress, Some(Progress::Started | Progress::Declined)) {
            actions.push(Action::Pay { is_accepted: true });
            actions.extend((state.declines > 0).then_some(Action::Pay { is_accepted: false }));
        }
        actions.extend((progress == Some(Progress::Authorized) && state.ends > 0).then_some(Action::End));
        actions.extend((state.settler != Settler::Idle && state.crashes > 0).then_some(Action::Crash));
        actions.extend(state.books.late.as_ref().map(|_| Action::Land));
        if progress == Some(Progress::Captured) && state.troubles > 0 {
            actions.extend(Trouble::ALL.map(Action::Trouble));
        }
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Start => state.start(self.bug),
            Action::Pay { is_accepted } => {
                let progress = if is_accepted { Progress::Authorized } else { Progress::Declined };
                let open = [Progress::Started, Progress::Declined];
                state.books.change(&before.newest()?, &open, |held| held.progress = progress);
                state.declines -= u8::from(!is_accepted);
            }
            Action::End => {
                let intent = state.newest()?;
                state.books.end(&intent);
                state.ends -= 1;
            }
            Action::Land => state.books.land(),
            Action::Told => state.look(self.bug),
            // The time is over once: the customer may start one more payment.
            Action::Void if state.whole.order.status == OrderStatus::Pending && state.books.intents.len() == 1 => {
                _ = state.books.carry_out(&before.newest()?, Command::Void);
            }
            Action::Void => {}
            Action::Change(change) => _ = state.change(change.transition(self.bug)),
            Action::Settle => state.settle(self.bug),
            Action::Crash => (state.settler, state.crashes) = (Settler::Idle, state.crashes - 1),
            Action::Trouble(trouble) => {
                state.books.suffer(&before.newest()?, trouble);
                state.troubles -= 1;
            }
        }
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn is(state: &State, wanted: PaymentState) -> bool {
            state.card().state() == wanted
        }
        fn any(state: &State, wanted: impl Fn(&Held) -> bool) -> bool {
            state.books.intents.values().any(wanted)
        }
        vec![
            Property::always(HELD, |_, state: &State| {
                let held = state.books.held();
                let is_kept = any(state, |held| held.progress == Progress::Captured);
                (0..=WHOLE).contains(&held) && (!is_kept || held + state.books.outside >= state.card().wanted())
            }),
            Property::always(FITS, |_, state: &State| state.whole.is_consistent()),
            Property::always(UNPAID, |_, state: &State| {
                let is_taken = is_cancelled_as_unpaid(&state.whole) && any(state, |held| held.is_some());
                !state.is_robbed && !is_taken
            }),
            Property::always(SETTLES, |model: &Self, state: &State| state.settles(model.bug)),
            Property::sometimes("a payment is captured", |_, state: &State| is(state, PaymentState::Captured)),
            Property::sometimes("a payment is void", |_, state: &State| is(state, PaymentState::Voided)),
            Property::sometimes("a payment is expired", |_, state: &State| is(state, PaymentState::Expired)),
            Property::sometimes("a payment is refunded", |_, state: &State| is(state, PaymentState::Refunded)),
            Property::sometimes("a part is refunded", |_, state: &State| {
                any(state, |held| held.refunded > 0 && held.kept() > 0)
            }),
            Property::sometimes("a part is captured", |_, state: &State| {
                any(state, |held| held.captured > 0 && held.captured < WHOLE)
            }),
        ]
    }
}

const HELD: &str = "the provider holds at most what the order costs, and nothing is refunded twice";
const FITS: &str = "the payment's state fits the order's status";
const UNPAID: &str = "no order that its customer has paid is cancelled for being unpaid";
const SETTLES: &str = "in the end both books are the same, and staff can close what is left";
