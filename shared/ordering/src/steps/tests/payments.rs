//! Laws of payments at a provider: for any sequence of what the customer, the shop, the provider and the settling function
//! do, with reports that come late, several times, in another order or never.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{CardPayment, Command, LineUnits, PaymentStatus, Progress, Report};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::*;
use super::access::undeclared;
use super::{at, sold};

/// What the bank card pays: 1,400 less the discount and the gift card.
const WHOLE: i64 = 700;

/// A provider's books. As at Stripe, the same idempotency key carries out a request once.
#[derive(Clone, Debug, Default)]
struct Books {
    intents: BTreeMap<IntentId, Report>,
    amounts: BTreeMap<IntentId, i64>,
    done: BTreeSet<String>,
    /// Every state that an intent ever had: what a report may say.
    reports: Vec<(IntentId, Report)>,
}

impl Books {
    fn start(&mut self, attempt: u32, amount: Money) -> IntentId {
        let intent: IntentId = format!("pi_{attempt}_{}", amount.amount()).parse().expect("an id");
        if self.amounts.insert(intent.clone(), amount.amount()).is_none() {
            self.put(&intent, Report::STARTED);
        }
        intent
    }

    fn put(&mut self, intent: &IntentId, report: Report) {
        self.intents.insert(intent.clone(), report);
        self.reports.push((intent.clone(), report));
    }

    /// The customer tries to pay.
    fn pay(&mut self, intent: &IntentId, accepted: bool) {
        let report = self.intents[intent];
        if matches!(report.progress, Progress::Started | Progress::Declined) {
            let progress = if accepted { Progress::Authorized } else { Progress::Declined };
            self.put(intent, Report { progress, ..report });
        }
    }

    /// The provider ends an authorization that was not captured in time.
    fn end(&mut self, intent: &IntentId) {
        let report = self.intents[intent];
        if report.progress == Progress::Authorized {
            self.put(intent, Report { progress: Progress::Ended, ..report });
        }
    }

    /// Carries out a command, or refuses it, as the intent's state allows.
    fn carry_out(&mut self, intent: &IntentId, command: Command) {
        let key = match command {
            Command::Capture { amount } => format!("capture:{intent}:{amount}"),
            Command::Void => format!("void:{intent}"),
            Command::Refund { total, .. } => format!("refund:{intent}:{total}"),
        };
        if !self.done.insert(key) {
            return;
        }
        let report = self.intents[intent];
        match (command, report.progress) {
            (Command::Capture { amount }, Progress::Authorized) if amount <= self.amounts[intent] => {
                self.put(intent, Report { progress: Progress::Captured, captured: amount, refunded: 0 });
            }
            (Command::Void, Progress::Started | Progress::Declined | Progress::Authorized) => {
                self.put(intent, Report { progress: Progress::Ended, ..report });
            }
            (Command::Refund { amount, .. }, Progress::Captured) if amount <= report.kept() => {
                self.put(intent, Report { refunded: report.refunded + amount, ..report });
            }
            _ => {}
        }
    }
}

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Happens {
    /// The customer starts or resumes the payment. The function that starts it crashes before it records the intent, or
    /// does not.
    Start {
        crashes: bool,
    },
    /// The customer tries to pay the newest intent.
    Pay {
        accepted: bool,
    },
    /// The provider ends the newest intent's authorization.
    Ends,
    /// A report of some earlier state arrives.
    Reported(Index),
    /// The settling function looks at the provider, asks for what is due, and crashes before it records the answer, or
    /// does not.
    Settle {
        crashes: bool,
    },
    /// The settling function asks for what was due when it read the order, which has changed since.
    SettleLate(Index),
    Changed(Transition<'static>),
    /// The customer cancels units of a line.
    CancelUnits {
        line: usize,
        units: i64,
    },
    /// The customer requests a return of units of a line.
    Return {
        line: usize,
        units: i64,
    },
    /// Staff decide about a return.
    Receive {
        which: Index,
        verdict: ReturnVerdict<'static>,
    },
}

/// Units of one of the order's two lines.
fn some_units() -> impl Strategy<Value = (usize, i64)> {
    (0..2_usize, 1..4_i64)
}

fn anything() -> impl Strategy<Value = Happens> {
    let by_shop = prop_oneof![
        3 => (select(&OrderStatus::ALL[..]), any::<bool>())
            .prop_map(|(to, captures)| Transition::Advance { to, captures }),
        1 => Just(Transition::RequestCapture),
        1 => Just(Transition::Capture { reference: "bank-1" }),
        1 => Just(Transition::ConfirmRefund { reference: "back-1" }),
        1 => select(vec![CancellationCause::Customer, CancellationCause::Staff])
            .prop_map(|cause| Transition::Cancel(Cancel { cause, reason: None })),
        1 => Just(Transition::Expire { deadline: at(5) }),
        1 => Just(Transition::ExpireLapsed { deadline: at(5) }),
    ];
    prop_oneof![
        2 => any::<bool>().prop_map(|crashes| Happens::Start { crashes }),
        3 => any::<bool>().prop_map(|accepted| Happens::Pay { accepted }),
        1 => Just(Happens::Ends),
        4 => any::<Index>().prop_map(Happens::Reported),
        2 => any::<bool>().prop_map(|crashes| Happens::Settle { crashes }),
        1 => any::<Index>().prop_map(Happens::SettleLate),
        4 => by_shop.prop_map(Happens::Changed),
        2 => some_units().prop_map(|(line, units)| Happens::CancelUnits { line, units }),
        2 => some_units().prop_map(|(line, units)| Happens::Return { line, units }),
        2 => (any::<Index>(), any_verdict()).prop_map(|(which, verdict)| Happens::Receive { which, verdict }),
    ]
}

/// A story. Some begin with a payment that is captured, because most credits of such a payment are refunds. Some begin with
/// a bank transfer that is due for refund.
fn any_story() -> impl Strategy<Value = Vec<Happens>> {
    let captured = vec![
        Happens::Start { crashes: false },
        Happens::Pay { accepted: true },
        Happens::Start { crashes: false },
        Happens::Changed(Transition::RequestCapture),
        Happens::Settle { crashes: false },
    ];
    let delivered = [OrderStatus::Shipped, OrderStatus::Delivered]
        .map(|to| Happens::Changed(Transition::Advance { to, captures: true }));
    let delivered = [captured.clone(), delivered.to_vec()].concat();
    // Of a cancelled order, for which the customer had also started a payment at the provider.
    let cancel = Cancel { cause: CancellationCause::Customer, reason: None };
    let transferred = vec![
        Happens::Start { crashes: false },
        Happens::Changed(Transition::Cancel(cancel)),
        Happens::Changed(Transition::Capture { reference: "bank-1" }),
    ];
    (select(vec![Vec::new(), captured, delivered, transferred]), vec(anything(), 0..40))
        .prop_map(|(begin, rest)| [begin, rest].concat())
}

fn any_verdict() -> impl Strategy<Value = ReturnVerdict<'static>> {
    prop_oneof![
        2 => any::<bool>().prop_map(|restock| ReturnVerdict::Accept { restock }),
        1 => Just(ReturnVerdict::Refuse { reason: "used" }),
    ]
}

/// A shop with one order, and its provider.
struct Shop {
    whole: WholeOrder,
    /// Every order that was ever read.
    past: Vec<WholeOrder>,
    books: Books,
}

impl Shop {
    fn card(&self) -> &CardPayment {
        self.whole.invoice.card().expect("a card payment")
    }

    fn change(&mut self, transition: Transition<'_>) {
        assert_eq!(undeclared(transition, &self.whole), None);
        if let Some(before) = self.past.last() {
            // A Query that another change overtook: the header is from after it and the invoice from before, or the other
            // way round. The write fails by its conditions, and not by the role.
            let (old_header, old_invoice) = (before.order.clone(), before.invoice.clone());
            for torn in [
                WholeOrder { order: old_header, ..self.whole.clone() },
                WholeOrder { invoice: old_invoice, ..self.whole.clone() },
            ] {
                assert_eq!(undeclared(transition, &torn), None);
            }
        }
        if let Step::To(next) = transition.of(&self.whole, at(6)) {
            self.past.push(std::mem::replace(&mut self.whole, *next));
        }
    }

    fn report(&mut self, intent: &IntentId, report: Report) {
        let amount = Money::nearest(self.books.amounts[intent], self.card().amount.currency());
        self.change(Transition::ReportPayment { intent, amount, report });
    }

    fn look(&mut self) {
        if let Some(intent) = self.card().provider.as_ref().map(|provider| provider.intent.clone()) {
            self.report(&intent, self.books.intents[&intent]);
        }
    }

    fn ask(&mut self, card: &CardPayment) {
        if let (Some(command), Some(provider)) = (card.command(), &card.provider) {
            self.books.carry_out(&provider.intent, command);
        }
    }

    fn happen(&mut self, happens: &Happens) {
        let newest = self.card().provider.as_ref().map(|provider| provider.intent.clone());
        match *happens {
            Happens::Start { crashes } => {
                self.look();
                if let Some(attempt) = self.card().next_attempt() {
                    let amount = self.card().asked();
                    let intent = self.books.start(attempt, amount);
                    if !crashes {
                        self.change(Transition::StartPayment { intent: &intent, attempt, amount });
                    }
                }
            }
            Happens::Pay { accepted } => newest.iter().for_each(|intent| self.books.pay(intent, accepted)),
            Happens::Ends => newest.iter().for_each(|intent| self.books.end(intent)),
            Happens::Reported(index) => {
                if !self.books.reports.is_empty() {
                    let (intent, report) = index.get(&self.books.reports).clone();
                    self.report(&intent, report);
                }
            }
            Happens::Settle { crashes } => {
                if self.card().command().is_some() {
                    self.look();
                    self.ask(&self.card().clone());
                    if !crashes {
                        self.look();
                    }
                }
            }
            Happens::SettleLate(index) => {
                if !self.past.is_empty() {
                    let card = index.get(&self.past).invoice.card().expect("a card payment").clone();
                    self.ask(&card);
                }
            }
            Happens::Changed(transition) => self.change(transition),
            Happens::CancelUnits { line, units } => {
                let cancel = Cancel { cause: CancellationCause::Customer, reason: None };
                self.change(Transition::CancelUnits { lines: &[self.units(line, units)], cancel });
            }
            Happens::Return { line, units } => {
                let key = format!("key {}", self.whole.returns.len()).parse().expect("a key");
                let id = ReturnId::of(&self.whole.order.order_id, &key);
                let lines = [self.units(line, units)];
                let request = ReturnRequest { id: &id, lines: &lines, reason: None, within_days: Some(14) };
                self.change(Transition::RequestReturn(request));
            }
            Happens::Receive { which, verdict } => {
                if !self.whole.returns.is_empty() {
                    let id = which.get(&self.whole.returns).return_id.clone();
                    self.change(Transition::ReceiveReturn(Receipt { id: &id, verdict }));
                }
            }
        }
    }

    fn units(&self, line: usize, units: i64) -> LineUnits {
        let product_id = self.whole.lines[line].product_id.clone();
        LineUnits { product_id, quantity: units.try_into().expect("a quantity") }
    }

    fn is_captured_by_provider(&self) -> bool {
        self.card().status == PaymentStatus::Captured && !self.card().is_recorded_by_staff()
    }

    /// The amount that the provider holds for the shop.
    fn held(&self) -> i64 {
        self.books.intents.values().map(|report| report.kept()).sum()
    }
}

proptest! {
    #[test]
    fn whatever_happens_the_provider_ends_with_what_the_shop_wants(story in any_story()) {
        let whole = sold(&[(3, 400), (2, 150)], 1275, &[300, 275]);
        let mut shop = Shop { whole, past: Vec::new(), books: Books::default() };
        for happens in story {
            let before = shop.whole.clone();
            shop.happen(&happens);
            prop_assert!(shop.whole.is_consistent(), "{:?}", shop.whole);
            prop_assert!(shop.held() <= WHOLE, "one payment is held at a time: {:?}", shop.books);
            if shop.is_captured_by_provider() {
                prop_assert!(shop.held() >= shop.card().wanted(), "nothing is refunded twice: {:?}", shop.books);
            }
            let cause = shop.whole.order.cancellation.as_ref().and_then(|cancellation| cancellation.cause);
            let is_expired = cause == Some(CancellationCause::Unpaid);
            if is_expired && before.order.status == OrderStatus::Paid {
                prop_assert!(!before.invoice.card().is_some_and(CardPayment::is_secured), "{before:?}");
            }
            // A write that changes the header alone leaves the mark as it is. So the mark must stay right.
            if before.invoice == shop.whole.invoice {
                prop_assert_eq!(before.has_lapsed(), shop.whole.has_lapsed(), "{:?}", shop.whole);
            }
            if shop.whole.order.status == OrderStatus::Shipped && before.order.status == OrderStatus::Paid {
                prop_assert!(before.invoice.card().is_some_and(CardPayment::is_secured), "{before:?}");
            }
        }
        // In the end the settling function is called often enough, and its answers arrive.
        for _ in 0..6 {
            shop.look();
            shop.happen(&Happens::Settle { crashes: false });
        }
        prop_assert_eq!(shop.card().command(), None);
        if let Some(provider) = &shop.card().provider {
            prop_assert_eq!(provider.report, shop.books.intents[&provider.intent], "the ledgers agree");
        }
        let expected = if shop.is_captured_by_provider() { shop.card().wanted() } else { 0 };
        prop_assert_eq!(shop.held(), expected, "{:?}", shop.whole);
        // No authorization of a cancelled order stays behind.
        if shop.whole.order.status == OrderStatus::Cancelled {
            let open = |report: &Report| report.progress == Progress::Authorized;
            prop_assert!(!shop.books.intents.values().any(open), "{:?}", shop.books);
        }
    }
}
