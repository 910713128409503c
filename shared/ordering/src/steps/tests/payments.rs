//! Laws of payments at a provider: for any sequence of what the customer, the shop, the provider and the settling function
//! do, with reports that come late, several times, in another order or never.

use key_schema::entity::{CardPayment, Command, Dispute, Held, LineUnits, Progress, Work};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::super::*;
use super::access::undeclared;
use super::{FORTNIGHT, at, sold};

mod books;

use books::{Answer, Books};

/// What the bank card pays: 1,400 less the discount and the gift card.
const WHOLE: i64 = 700;

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
    /// A message arrives, so the shop looks at the provider. The order changes before the look is recorded, or not.
    Told {
        overtaken: bool,
    },
    /// Somebody acts in the provider's dashboard, or the bank does.
    Dashboard(Click),
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

/// What happens at the provider without the shop.
#[derive(Clone, Copy, Debug)]
enum Click {
    Capture,
    Void,
    Refund(i64),
    RefundFails,
    NextRefund(Answer),
    Dispute(Dispute),
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
        1 => Just(Transition::Capture { reference: "bank-1", amount: None }),
        1 => Just(Transition::ConfirmRefund { reference: "back-1", amount: None }),
        1 => Just(Transition::WriteOff { amount: None }),
        1 => select(vec![CancellationCause::Customer, CancellationCause::Staff])
            .prop_map(|cause| Transition::Cancel(Cancel { cause, reason: None })),
        1 => Just(Transition::Expire { deadline: at(5) }),
        1 => Just(Transition::ExpireLapsed { deadline: at(5) }),
    ];
    prop_oneof![
        2 => any::<bool>().prop_map(|crashes| Happens::Start { crashes }),
        3 => any::<bool>().prop_map(|accepted| Happens::Pay { accepted }),
        1 => Just(Happens::Ends),
        4 => any::<bool>().prop_map(|overtaken| Happens::Told { overtaken }),
        2 => any_click().prop_map(Happens::Dashboard),
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
        Happens::Changed(Transition::Capture { reference: "bank-1", amount: None }),
    ];
    (select(vec![Vec::new(), captured, delivered, transferred]), vec(anything(), 0..40))
        .prop_map(|(begin, rest)| [begin, rest].concat())
}

fn any_click() -> impl Strategy<Value = Click> {
    prop_oneof![
        Just(Click::Capture),
        Just(Click::Void),
        (1..=WHOLE).prop_map(Click::Refund),
        Just(Click::RefundFails),
        select(vec![Answer::Failed, Answer::Refused]).prop_map(Click::NextRefund),
        select(vec![Dispute::Open, Dispute::Won, Dispute::Lost]).prop_map(Click::Dispute),
    ]
}

fn any_verdict() -> impl Strategy<Value = ReturnVerdict<'static>> {
    prop_oneof![
        2 => any::<bool>().prop_map(|restock| ReturnVerdict::Accept { restock, with_shipping: true }),
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
        self.change_at(transition, at(6));
    }

    fn change_at(&mut self, transition: Transition<'_>, now: Timestamp) {
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
        if let Step::To(next) = transition.of(&self.whole, now) {
            self.past.push(std::mem::replace(&mut self.whole, *next));
        }
    }

    /// Looks at the provider, minutes after the last failure, and records what it holds.
    fn look(&mut self) {
        let Some(intent) = self.card().provider.as_ref().map(|provider| provider.intent.clone()) else { return };
        let amount = Money::nearest(self.books.amounts[&intent], self.card().amount.currency());
        let (held, newest_refund) = (self.books.intents[&intent], self.books.newest_refund(&intent));
        let later = at(6).plus_seconds(CardPayment::SURE_AFTER);
        self.change_at(Transition::ObservePayment { intent: &intent, amount, held, newest_refund }, later);
    }

    /// Asks for what this payment says is due, as the settling function does.
    fn ask(&mut self, card: &CardPayment) {
        let (Some(command), Some(provider)) = (card.command(), &card.provider) else { return };
        let code = match self.books.carry_out(&provider.intent, command) {
            Answer::Done => return,
            Answer::Failed => None,
            Answer::Refused => Some("charge_disputed"),
        };
        self.look();
        self.change(Transition::FailCommand { command, code });
    }

    fn click(&mut self, intent: &IntentId, click: Click) {
        let amount = self.books.amounts[intent];
        match click {
            Click::Capture => self.books.capture(intent, amount),
            Click::Void => _ = self.books.carry_out(intent, Command::Void),
            Click::Refund(amount) => self.books.refund_in_dashboard(intent, amount),
            Click::RefundFails => self.books.fail_refund(intent),
            Click::NextRefund(answer) => self.books.next = answer,
            Click::Dispute(state) => self.books.dispute(intent, state),
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
            // A look that another change overtook is not recorded; the shop looks again.
            Happens::Told { overtaken } => {
                if !overtaken {
                    self.look();
                }
            }
            Happens::Dashboard(click) => newest.iter().for_each(|intent| self.click(intent, click)),
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
                let request = ReturnRequest { id: &id, lines: &lines, reason: None, within: Some(&FORTNIGHT) };
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

    /// The amount that the provider holds for the shop.
    fn held(&self) -> i64 {
        self.books.intents.values().map(|held| held.kept()).sum()
    }
}

proptest! {
    #[test]
    fn whatever_happens_both_books_end_with_what_the_shop_wants(story in any_story()) {
        let whole = sold(&[(3, 400), (2, 150)], 1275, &[300, 275]);
        let mut shop = Shop { whole, past: Vec::new(), books: Books::default() };
        for happens in story {
            let (before, books) = (shop.whole.clone(), shop.books.clone());
            shop.happen(&happens);
            prop_assert!(shop.whole.is_consistent(), "{:?}", shop.whole);
            prop_assert!(shop.held() <= WHOLE, "one payment is held at a time: {:?}", shop.books);
            let is_cancelled = |whole: &WholeOrder| whole.order.status == OrderStatus::Cancelled;
            let cause = shop.whole.order.cancellation.as_ref().and_then(|cancellation| cancellation.cause);
            if is_cancelled(&shop.whole) && !is_cancelled(&before) && cause == Some(CancellationCause::Unpaid) {
                prop_assert!(!books.intents.values().any(|held| held.is_some()), "it was paid: {:?}", books);
            }
            // A write that changes the header alone leaves the mark as it is. So the mark must stay right.
            if before.invoice == shop.whole.invoice {
                prop_assert_eq!(before.work(), shop.whole.work(), "{:?}", shop.whole);
            }
            if shop.whole.order.status == OrderStatus::Shipped && before.order.status == OrderStatus::Paid {
                prop_assert!(before.invoice.card().is_some_and(CardPayment::is_secured), "{before:?}");
            }
        }
        // In the end the settling function is called often enough, and every dispute ends.
        if let Some(intent) = shop.card().provider.as_ref().map(|provider| provider.intent.clone()) {
            shop.books.dispute(&intent, Dispute::Lost);
        }
        shop.books.next = Answer::Done;
        for _ in 0..6 {
            shop.look();
            shop.happen(&Happens::Settle { crashes: false });
        }
        prop_assert_eq!(shop.card().command(), None);
        if let Some(provider) = &shop.card().provider {
            prop_assert_eq!(provider.held, shop.books.intents[&provider.intent], "the ledgers agree");
        }
        // Staff close what is left, each thing with one request.
        if shop.whole.work() == Some(Work::Capture) {
            shop.change(Transition::RequestCapture);
        }
        shop.change(Transition::ConfirmRefund { reference: "back-2", amount: None });
        shop.change(Transition::WriteOff { amount: None });
        // What is written off is not wanted, so a payment that the customer began again is void.
        shop.happen(&Happens::Settle { crashes: false });
        let work = shop.whole.work();
        prop_assert!(work.is_none(), "{work:?} of {:?}", shop.whole);
        // No authorization of a cancelled order stays behind.
        if shop.whole.order.status == OrderStatus::Cancelled {
            let is_reserved = |held: &Held| held.progress == Progress::Authorized;
            prop_assert!(!shop.books.intents.values().any(is_reserved), "{:?}", shop.books);
        }
    }
}
