//! The provider's books.

use std::collections::BTreeMap;

use key_schema::entity::{Command, Dispute, Held, Progress};
use key_schema::value::{IntentId, Money};

/// A provider's books. As at Stripe, the same idempotency key gets the same answer.
#[derive(Clone, Debug, Default)]
pub(super) struct Books {
    pub(super) intents: BTreeMap<IntentId, Held>,
    pub(super) amounts: BTreeMap<IntentId, i64>,
    /// The answers to the refunds, by their numbers.
    pub(super) answers: BTreeMap<(IntentId, u32), Answer>,
    /// What the next refund is answered, whether it is carried out or not.
    pub(super) next: Answer,
}

/// The provider's answer to a refund.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answer {
    #[default]
    Done,
    /// An error of the provider's own.
    Failed,
    /// A refusal for good.
    Refused,
}

impl Books {
    pub(super) fn start(&mut self, attempt: u32, amount: Money) -> IntentId {
        let intent: IntentId = format!("pi_{attempt}_{}", amount.amount()).parse().expect("an id");
        if self.amounts.insert(intent.clone(), amount.amount()).is_none() {
            self.intents.insert(intent.clone(), Held::NOTHING);
        }
        intent
    }

    /// Changes what the provider holds of an intent, if it has one of these states of progress.
    pub(super) fn change(&mut self, intent: &IntentId, states: &[Progress], change: impl FnOnce(&mut Held)) {
        let held = self.intents.get_mut(intent).expect("an intent");
        if states.contains(&held.progress) {
            change(held);
        }
    }

    /// The customer tries to pay.
    pub(super) fn pay(&mut self, intent: &IntentId, accepted: bool) {
        let progress = if accepted { Progress::Authorized } else { Progress::Declined };
        self.change(intent, &[Progress::Started, Progress::Declined], |held| held.progress = progress);
    }

    /// The provider ends an authorization that was not captured in time.
    pub(super) fn end(&mut self, intent: &IntentId) {
        self.change(intent, &[Progress::Authorized], |held| held.progress = Progress::Released);
    }

    pub(super) fn capture(&mut self, intent: &IntentId, amount: i64) {
        let captured = Held { captured: amount, ..Held::of(Progress::Captured) };
        self.change(intent, &[Progress::Authorized], |held| *held = captured);
    }

    /// Somebody refunds something in the provider's dashboard.
    pub(super) fn refund_in_dashboard(&mut self, intent: &IntentId, amount: i64) {
        self.change(intent, &[Progress::Captured], |held| held.refunded += amount.min(held.kept()));
    }

    /// A refund fails after it was made.
    pub(super) fn fail_refund(&mut self, intent: &IntentId) {
        self.change(intent, &[Progress::Captured], |held| {
            held.failed += held.refunded;
            held.refunded = 0;
        });
    }

    /// The bank disputes the payment, or the dispute ends.
    pub(super) fn dispute(&mut self, intent: &IntentId, state: Dispute) {
        self.change(intent, &[Progress::Captured], |held| {
            let is_possible = (state == Dispute::Open) != (held.dispute == Some(Dispute::Open));
            if is_possible && held.dispute != Some(Dispute::Lost) {
                held.dispute = Some(state);
                held.disputed = if state == Dispute::Won { 0 } else { held.disputed + held.kept() };
            }
        });
    }

    /// Carries out a command, or not, as the intent's state allows.
    pub(super) fn carry_out(&mut self, intent: &IntentId, command: Command) -> Answer {
        match command {
            Command::Capture { amount } => self.capture(intent, amount),
            Command::Void => {
                self.end(intent);
                let open = [Progress::Started, Progress::Declined];
                self.change(intent, &open, |held| held.progress = Progress::Ended);
            }
            Command::Refund { number, amount } => {
                if let Some(known) = self.answers.get(&(intent.clone(), number)) {
                    return *known;
                }
                let held = self.intents[intent];
                let is_possible = amount <= held.kept() && held.dispute != Some(Dispute::Open);
                let answer = if is_possible { std::mem::take(&mut self.next) } else { Answer::Refused };
                self.answers.insert((intent.clone(), number), answer);
                if answer == Answer::Done {
                    self.change(intent, &[Progress::Captured], |held| held.refunded += amount);
                }
                return answer;
            }
        }
        Answer::Done
    }

    /// The highest number of a refund that was made.
    pub(super) fn newest_refund(&self, intent: &IntentId) -> u32 {
        let made = self.answers.iter().filter(|((of, _), answer)| of == intent && **answer == Answer::Done);
        made.map(|((_, number), _)| *number).max().unwrap_or_default()
    }
}
