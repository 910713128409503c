//! A card payment at a provider: the customer, the shop, the provider, its reports and the settling function, in every
//! interleaving.
//!
//! The shop's decisions are [`ordering::steps`] and [`CardPayment::command`]. A change of the order is one step here: that
//! two changes at once end as if one came after the other is what the model of orders shows.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;

use key_schema::entity::{
    CancellationCause, CardPayment, Command, LineUnits, OrderStatus, Payment, PaymentState, Progress, Report,
    WholeOrder,
};
use key_schema::value::{IntentId, Money, Timestamp};
use ordering::steps::{Cancel, Step, Transition};
use stateright::{Model, Property};

mod scene;
#[cfg(test)]
mod tests;

/// The amount of the payment, in minor units: two units at half of it.
const WHOLE: i64 = 700;

/// One of the two units.
static ONE_UNIT: LazyLock<Vec<LineUnits>> = LazyLock::new(|| {
    let product_id = "thing".parse().expect("an id");
    vec![LineUnits { product_id, quantity: 1.try_into().expect("a quantity") }]
});

/// A fault of the shop that the model must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// A report replaces what is known, instead of being joined with it.
    ReportsReplace,
    /// The settling function asks for what was due when it read the order, without a key for the request.
    AsksWithoutKey,
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
    bug: Option<Bug>,
}

/// The shop, the provider and the settling function.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    whole: WholeOrder,
    books: Books,
    settler: Settler,
    declines: u8,
    ends: u8,
    crashes: u8,
    /// Whether the customer's bank reserved money after the order was cancelled.
    is_late: bool,
}

/// The provider's books.
#[derive(Clone, Debug, Default, PartialEq)]
struct Books {
    intents: BTreeMap<String, Report>,
    /// The amount of each intent.
    amounts: BTreeMap<String, Money>,
    /// The keys of the requests that were carried out.
    keys: BTreeSet<String>,
    /// Every state of an intent: each may be reported, any number of times and in any order.
    reports: Vec<(String, Report)>,
}

/// The settling function, between its steps.
#[derive(Clone, Debug, PartialEq)]
enum Settler {
    Idle,
    /// It saw the intent at the provider.
    Saw(String, Report),
    /// It will ask for this.
    Asks(String, Command),
    /// It got the answer to its request.
    Answered(String, Report),
}

/// The next event.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The customer starts or resumes the payment.
    Start,
    Pay {
        is_accepted: bool,
    },
    /// The provider ends an authorization that was not captured in time.
    End,
    /// A report arrives, by its number.
    Report(usize),
    Change(Change),
    /// The settling function does its next step, or begins.
    Settle,
    Crash,
}

/// A change of the order by the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Ship {
        captures: bool,
    },
    AskForCapture,
    Cancel,
    /// One of the two units is cancelled.
    CancelUnit,
    Expire,
    ExpireLapsed,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        format!("{self:?}").hash(state);
    }
}

/// Models whose every state the tests explore.
pub fn small() -> Vec<Paying> {
    let paying = |name, declines, ends, crashes| Paying { name, declines, ends, crashes, bug: None };
    vec![paying("a payment, a decline and a crash", 1, 0, 1), paying("a payment that ends, and a crash", 0, 1, 1)]
}

/// Larger models.
pub fn large() -> Vec<Paying> {
    vec![Paying { name: "a payment with two of everything", declines: 2, ends: 2, crashes: 2, bug: None }]
}

impl Change {
    const ALL: [Self; 7] = [
        Self::Ship { captures: true },
        Self::Ship { captures: false },
        Self::AskForCapture,
        Self::Cancel,
        Self::CancelUnit,
        Self::Expire,
        Self::ExpireLapsed,
    ];

    fn transition(self) -> Transition<'static> {
        let cancel = Cancel { cause: CancellationCause::Customer, reason: None };
        match self {
            Self::Ship { captures } => Transition::Advance { to: OrderStatus::Shipped, captures },
            Self::AskForCapture => Transition::RequestCapture,
            Self::Cancel => Transition::Cancel(cancel),
            Self::CancelUnit => Transition::CancelUnits { lines: &ONE_UNIT, cancel },
            Self::Expire => Transition::Expire { deadline: now() },
            Self::ExpireLapsed => Transition::ExpireLapsed { deadline: now() },
        }
    }
}

fn now() -> Timestamp {
    "2026-11-22T10:00:00.000Z".parse().expect("a time")
}

impl Books {
    fn put(&mut self, intent: &str, report: Report) {
        self.intents.insert(intent.to_owned(), report);
        if !self.reports.contains(&(intent.to_owned(), report)) {
            self.reports.push((intent.to_owned(), report));
        }
    }

    /// Carries out a command, if the state of the intent allows it.
    fn carry_out(&mut self, intent: &str, command: Command) {
        let report = self.intents[intent];
        match (command, report.progress) {
            (Command::Capture { amount }, Progress::Authorized) => {
                self.put(intent, Report { progress: Progress::Captured, captured: amount, refunded: 0 });
            }
            (Command::Void, Progress::Started | Progress::Declined | Progress::Authorized) => {
                self.put(intent, Report { progress: Progress::Ended, ..report });
            }
            // Some providers do not compare the sum of the refunds with the capture, so neither does the model.
            (Command::Refund { amount, .. }, Progress::Captured) => {
                self.put(intent, Report { refunded: report.refunded + amount, ..report });
            }
            _ => {}
        }
    }

    /// The amount that the provider holds for the shop.
    fn held(&self) -> i64 {
        self.intents.values().map(|report| report.kept()).sum()
    }
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
        match transition.of(&self.whole, now()) {
            Step::To(next) => self.whole = *next,
            Step::Stay | Step::Refuse | Step::Deny(_) => return false,
        }
        true
    }

    fn record(&mut self, intent: &str, report: Report, bug: Option<Bug>) {
        let id: IntentId = intent.parse().expect("an id");
        if bug == Some(Bug::ReportsReplace)
            && let Some(Payment::Card(card)) = self.whole.invoice.payments.first_mut()
            && let Some(provider) = card.provider.as_mut().filter(|provider| provider.intent == id)
        {
            provider.report = report;
        }
        let amount = self.books.amounts[intent];
        self.change(Transition::ReportPayment { intent: &id, amount, report });
    }

    fn start(&mut self, bug: Option<Bug>) {
        if let Some(intent) = self.newest() {
            let report = self.books.intents[&intent];
            self.record(&intent, report, bug);
        }
        if let Some(attempt) = self.card().next_attempt() {
            let intent = format!("pi_{attempt}");
            self.books.intents.entry(intent.clone()).or_insert(Report::STARTED);
            let asked = self.card().asked();
            let amount = *self.books.amounts.entry(intent.clone()).or_insert(asked);
            let intent: IntentId = intent.parse().expect("an id");
            self.change(Transition::StartPayment { intent: &intent, attempt, amount });
        }
    }

    /// The settling function's next step: look, record, ask, record.
    fn settle(&mut self, bug: Option<Bug>) {
        self.settler = match std::mem::replace(&mut self.settler, Settler::Idle) {
            Settler::Idle => match (self.newest(), self.card().command()) {
                (Some(intent), Some(command)) if bug == Some(Bug::AsksWithoutKey) => Settler::Asks(intent, command),
                (Some(intent), Some(_)) => {
                    let report = self.books.intents[&intent];
                    Settler::Saw(intent, report)
                }
                _ => Settler::Idle,
            },
            Settler::Saw(intent, report) => {
                self.record(&intent, report, bug);
                match (self.newest(), self.card().command()) {
                    (Some(intent), Some(command)) => Settler::Asks(intent, command),
                    _ => Settler::Idle,
                }
            }
            Settler::Asks(intent, command) => {
                let key = match command {
                    Command::Capture { .. } => format!("capture:{intent}"),
                    Command::Void => format!("void:{intent}"),
                    Command::Refund { total, .. } => format!("refund:{intent}:{total}"),
                };
                if self.books.keys.insert(key) || bug == Some(Bug::AsksWithoutKey) {
                    self.books.carry_out(&intent, command);
                }
                let report = self.books.intents[&intent];
                Settler::Answered(intent, report)
            }
            Settler::Answered(intent, report) => {
                self.record(&intent, report, bug);
                Settler::Idle
            }
        };
    }

    /// Whether the ledgers agree, and nothing is left to do, once the settling function has run for long enough.
    fn settles(&self, bug: Option<Bug>) -> bool {
        let mut state = self.clone();
        for _ in 0..3 {
            if let Some(intent) = state.newest() {
                let report = state.books.intents[&intent];
                state.record(&intent, report, bug);
            }
            for _ in 0..4 {
                state.settle(bug);
            }
        }
        let card = state.card();
        let agrees = card.provider.as_ref().is_none_or(|provider| {
            state.books.intents.get(provider.intent.as_str()).is_some_and(|report| *report == provider.report)
        });
        let wanted = if card.state() == PaymentState::Captured { card.wanted() } else { 0 };
        card.command().is_none() && agrees && state.books.held() == wanted
    }
}

impl Model for Paying {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let Self { declines, ends, crashes, .. } = *self;
        let (whole, books, settler) = (scene::placed(), Books::default(), Settler::Idle);
        vec![State { whole, books, settler, declines, ends, crashes, is_late: false }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend([Action::Start, Action::Settle]);
        actions.extend((0..state.books.reports.len()).map(Action::Report));
        actions.extend(Change::ALL.map(Action::Change));
        let progress = state.newest().map(|intent| state.books.intents[&intent].progress);
        if matches!(progress, Some(Progress::Started | Progress::Declined)) {
            actions.push(Action::Pay { is_accepted: true });
            actions.extend((state.declines > 0).then_some(Action::Pay { is_accepted: false }));
        }
        actions.extend((progress == Some(Progress::Authorized) && state.ends > 0).then_some(Action::End));
        actions.extend((state.settler != Settler::Idle && state.crashes > 0).then_some(Action::Crash));
    }

    fn next_state(&self, before: &State, action: Action) -> Option<State> {
        let mut state = before.clone();
        match action {
            Action::Start => state.start(self.bug),
            Action::Pay { is_accepted } => {
                let intent = state.newest()?;
                let progress = if is_accepted { Progress::Authorized } else { Progress::Declined };
                state.books.put(&intent, Report { progress, ..before.books.intents[&intent] });
                state.declines -= u8::from(!is_accepted);
                state.is_late |= is_accepted && before.whole.order.status == OrderStatus::Cancelled;
            }
            Action::End => {
                let intent = state.newest()?;
                state.books.put(&intent, Report { progress: Progress::Ended, ..before.books.intents[&intent] });
                state.ends -= 1;
            }
            Action::Report(number) => {
                let (intent, report) = before.books.reports[number].clone();
                state.record(&intent, report, self.bug);
            }
            Action::Change(change) => _ = state.change(change.transition()),
            Action::Settle => state.settle(self.bug),
            Action::Crash => (state.settler, state.crashes) = (Settler::Idle, state.crashes - 1),
        }
        (state != *before).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn is(state: &State, wanted: PaymentState) -> bool {
            state.card().state() == wanted
        }
        vec![
            Property::always(HELD, |_, state: &State| (0..=WHOLE).contains(&state.books.held())),
            Property::always(FITS, |_, state: &State| state.whole.is_consistent()),
            Property::always(SETTLES, |model: &Self, state: &State| state.settles(model.bug)),
            Property::sometimes("a payment is captured", |_, state: &State| is(state, PaymentState::Captured)),
            Property::sometimes("a payment is void", |_, state: &State| is(state, PaymentState::Voided)),
            Property::sometimes("a payment is expired", |_, state: &State| is(state, PaymentState::Expired)),
            Property::sometimes("a payment is refunded", |_, state: &State| is(state, PaymentState::Refunded)),
            Property::sometimes("a part is refunded", |_, state: &State| {
                state.books.intents.values().any(|report| report.refunded > 0 && report.kept() > 0)
            }),
            Property::sometimes("a part is captured", |_, state: &State| {
                state.books.intents.values().any(|report| report.captured > 0 && report.captured < WHOLE)
            }),
            Property::sometimes("the customer pays after the cancellation", |_, state: &State| state.is_late),
        ]
    }
}

const HELD: &str = "the provider holds at most what the order costs, and never less than nothing";
const FITS: &str = "the payment's state fits the order's status";
const SETTLES: &str = "once the settling function has run, both ledgers are the same, and nothing is due";
