//! The provider's books, and what happens to them without the shop.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{Command, Dispute, Held, Progress};
use key_schema::value::Money;

/// The provider's books.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Books {
    pub(super) intents: BTreeMap<String, Held>,
    /// The amount of each intent.
    pub(super) amounts: BTreeMap<String, Money>,
    /// Of each refund that was asked for, whether the answer is a success. The provider keeps it.
    pub(super) answers: BTreeMap<(String, u32), bool>,
    pub(super) made: BTreeSet<(String, u32)>,
    /// How the next refund fails, if it does.
    pub(super) fails: Option<Failing>,
    /// A refund that was answered with an error, and will be made.
    pub(super) late: Option<(String, u32, i64)>,
    /// The amount that went away without the shop.
    pub(super) outside: i64,
}

/// A failure of the provider at a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    ForGood,
    /// Only the answer is an error. Some time later, the refund is made.
    InAnswer,
}

/// What happens at the provider without the shop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Somebody refunds 100 in the dashboard.
    Refunds,
    RefundsFail,
    /// The next refund is answered with an error.
    Fails(Failing),
    /// The bank disputes the payment, or the dispute ends so.
    Disputes(Dispute),
}

impl Trouble {
    pub(super) const ALL: [Self; 7] = [
        Self::Refunds,
        Self::RefundsFail,
        Self::Fails(Failing::ForGood),
        Self::Fails(Failing::InAnswer),
        Self::Disputes(Dispute::Open),
        Self::Disputes(Dispute::Won),
        Self::Disputes(Dispute::Lost),
    ];
}

impl Books {
    pub(super) fn change(&mut self, intent: &str, states: &[Progress], change: impl FnOnce(&mut Held)) {
        if let Some(held) = self.intents.get_mut(intent).filter(|held| states.contains(&held.progress)) {
            change(held);
        }
    }

    pub(super) fn newest_refund(&self, intent: &str) -> u32 {
        self.made.iter().filter(|(of, _)| of == intent).map(|(_, number)| *number).max().unwrap_or_default()
    }

    /// Makes a refund, if so much is left.
    pub(super) fn refund(&mut self, intent: &str, number: u32, amount: i64) -> bool {
        let is_possible = self.intents.get(intent).is_some_and(|held| amount <= held.kept());
        if is_possible {
            self.change(intent, &[Progress::Captured], |held| held.refunded += amount);
            self.made.insert((intent.to_owned(), number));
        }
        is_possible
    }

    /// The provider makes the refund that it was late with.
    pub(super) fn land(&mut self) {
        if let Some((intent, number, amount)) = self.late.take() {
            self.refund(&intent, number, amount);
        }
    }

    /// The intent ends without a capture.
    pub(super) fn end(&mut self, intent: &str) {
        self.change(intent, &[Progress::Authorized], |held| held.progress = Progress::Released);
        self.change(intent, &[Progress::Started, Progress::Declined], |held| held.progress = Progress::Ended);
    }

    /// Carries out a command, if the state of the intent allows it. Returns whether it answers without an error.
    pub(super) fn carry_out(&mut self, intent: &str, command: Command) -> bool {
        match command {
            Command::Capture { amount } => self.change(intent, &[Progress::Authorized], |held| {
                *held = Held { captured: amount, ..Held::of(Progress::Captured) };
            }),
            Command::Void => self.end(intent),
            Command::Refund { number, amount } => {
                let key = (intent.to_owned(), number);
                if let Some(known) = self.answers.get(&key) {
                    return *known;
                }
                let failing = self.fails.take();
                if failing == Some(Failing::InAnswer) {
                    self.late = Some((intent.to_owned(), number, amount));
                }
                let is_made = failing.is_none() && self.refund(intent, number, amount);
                self.answers.insert(key, is_made);
                return is_made;
            }
        }
        true
    }

    pub(super) fn suffer(&mut self, intent: &str, trouble: Trouble) {
        let before = self.intents.get(intent).map_or(0, |held| held.kept());
        self.change(intent, &[Progress::Captured], |held| match trouble {
            Trouble::Refunds => held.refunded += 100.min(held.kept()),
            Trouble::RefundsFail => (held.failed, held.refunded) = (held.failed + held.refunded, 0),
            Trouble::Fails(_) => {}
            Trouble::Disputes(state) => {
                let is_open = held.dispute == Some(Dispute::Open);
                if is_open != (state == Dispute::Open) && held.dispute != Some(Dispute::Lost) {
                    held.dispute = Some(state);
                    held.disputed = if state == Dispute::Won { 0 } else { held.disputed + held.kept() };
                }
            }
        });
        if let Trouble::Fails(failing) = trouble {
            self.fails = Some(failing);
        }
        self.outside += before - self.intents.get(intent).map_or(0, |held| held.kept());
    }

    /// The amount that the provider holds for the shop.
    pub(super) fn held(&self) -> i64 {
        self.intents.values().map(|held| held.kept()).sum()
    }
}
