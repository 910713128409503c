//! The cashier: keeps the table's book of a payment in agreement with the provider's.
//!
//! **Invariant: what is decided about money follows from what the provider holds, never from a message or from its
//! absence.** A message only says where to look. The cashier reads the order, looks at the provider, and writes what it
//! saw on condition that the order has not changed since its read. So of two looks that are recorded, the later one was
//! seen later, and amounts may fall as well as grow.
//!
//! Nothing is asked of the provider twice with effect. A capture and a void have their effect once, because of the
//! state of the intent. A refund has a number, which the table has before the provider is asked.

use key_schema::entity::{CardPayment, Command, Progress, ProviderPayment, WholeOrder, Work};
use key_schema::value::{OrderId, Timestamp};
use lambda::{Failure, Measure, Remedy, Retries};
use ordering::steps::Transition;
use ordering::{Lifecycle, Target, Transitioned};
use table::{Budget, Reader};
use tracing::{error, info};

use crate::{Error, Intent, Provider};

/// The commands that one payment may need: what is due may change while it is settled.
const MOST_COMMANDS: usize = 4;

/// Keeps both books of a payment.
#[derive(Clone, Debug)]
pub struct Cashier {
    reader: Reader,
    orders: Lifecycle,
    provider: Provider,
}

/// An order after a look at its newest intent, and this intent as the provider has it. No intent if the customer has
/// not started to pay, or if [`Cashier::start`] finds nothing to pay.
#[derive(Clone, Debug)]
pub struct Seen {
    pub whole: WholeOrder,
    pub intent: Option<Intent>,
}

/// The outcome of settling a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The provider has done what was due, or was found to have done it.
    ByProvider,
    /// The provider has nothing to do: staff or the customer have, or the order is gone.
    NotForProvider,
}

/// The books could not be compared, or do not agree.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    #[error(transparent)]
    Table(#[from] table::Error),
    #[error(transparent)]
    Provider(#[from] Error),
    /// The provider's intent has another amount or currency than the order.
    #[error("the payment provider has another amount than the order")]
    Differs,
    #[error("the payment is still due after {MOST_COMMANDS} requests to the provider")]
    StillDue,
}

impl Failed {
    /// Whether the provider does not have the order's payment, and will not have it later.
    fn is_for_good(&self) -> bool {
        matches!(self, Self::Differs | Self::Provider(Error::Refused { status: 404, .. }))
    }
}

impl Failure for Failed {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Table(error) => error.remedy(),
            Self::Provider(error) => error.remedy(),
            Self::Differs => Remedy::None,
            Self::StillDue => Remedy::Retry,
        }
    }
}

lambda::from_environment!(Cashier { reader, orders, provider });

impl Cashier {
    /// Looks at the order's newest intent, and records what the provider holds. `None` if the order is gone.
    ///
    /// # Errors
    /// The provider or the table did not answer, or the books differ.
    pub async fn look(&self, order: &OrderId, budget: Budget) -> Result<Option<Seen>, Failed> {
        match self.reader.order(order, budget).await? {
            Some(whole) => self.look_at(whole, budget).await,
            None => Ok(None),
        }
    }

    /// Looks at the newest intent of an order that was read before, and records what the provider holds.
    ///
    /// # Errors
    /// Those of [`look`](Self::look).
    pub async fn look_at(&self, mut whole: WholeOrder, budget: Budget) -> Result<Option<Seen>, Failed> {
        let (order, mut retries) = (whole.order.order_id.clone(), budget.retries());
        loop {
            if let Some(seen) = self.look_once(whole, budget).await? {
                return Ok(Some(seen));
            }
            whole = match self.again(&order, &mut retries, budget).await? {
                Some(again) => again,
                None => return Ok(None),
            };
        }
    }

    /// The same, unless the order has changed since it was read: then `None`.
    async fn look_once(&self, whole: WholeOrder, budget: Budget) -> Result<Option<Seen>, Failed> {
        let before = whole.work();
        let newest = whole.invoice.card().and_then(|card| card.provider.as_ref());
        let Some(newest) = newest else { return Ok(Some(Seen { whole, intent: None })) };
        let intent = self.provider.look_at(&newest.intent).await?;
        let Intent { id, amount, held, newest_refund, .. } = &intent;
        let (amount, held, newest_refund) = (*amount, *held, *newest_refund);
        let observed = Transition::ObservePayment { intent: id, amount, held, newest_refund };
        match Box::pin(self.orders.change_as_read(whole, observed, budget)).await {
            Ok(Some(Transitioned::Done(whole) | Transitioned::DoneBefore(whole))) => {
                tell_staff(before, &whole);
                Ok(Some(Seen { whole, intent: Some(intent) }))
            }
            Ok(Some(_)) => Err(Failed::Differs),
            Ok(None) | Err(table::Error::Unanswered(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The order, read again after a pause. `None` if it is gone.
    async fn again(
        &self,
        order: &OrderId,
        retries: &mut Retries,
        budget: Budget,
    ) -> Result<Option<WholeOrder>, Failed> {
        if !retries.pause().await {
            return Err(table::Error::contention("other requests were changing the order for too long").into());
        }
        Ok(self.reader.order(order, budget).await?)
    }

    /// Starts the payment of an order, or looks at the one that is open. No intent if nothing is to be paid any more.
    ///
    /// # Errors
    /// Those of [`look`](Self::look), and [`Error::TooSmall`].
    pub async fn start(&self, mut whole: WholeOrder, budget: Budget) -> Result<Option<Seen>, Failed> {
        let (order, mut retries) = (whole.order.order_id.clone(), budget.retries());
        // One time for all tries, so that they start one intent.
        let now = Timestamp::now();
        loop {
            let card = whole.invoice.card();
            let Some((attempt, asked)) = card.and_then(|card| Some((card.next_attempt()?, card.asked()))) else {
                let is_known = card.and_then(|card| card.provider.as_ref());
                let is_open = is_known.is_some_and(|provider| !provider.has_ended());
                return if is_open {
                    self.look_at(whole, budget).await
                } else {
                    Ok(Some(Seen { whole, intent: None }))
                };
            };
            let intent = self.provider.start(&order, attempt, asked, now).await?;
            // Before the customer gets the secret: an intent that the table does not know must hold no money.
            let start = Transition::StartPayment { intent: &intent.id, attempt, amount: intent.amount };
            match Box::pin(self.orders.change_as_read(whole, start, budget)).await {
                Ok(Some(Transitioned::Done(whole) | Transitioned::DoneBefore(whole))) => {
                    return Ok(Some(Seen { whole, intent: Some(intent) }));
                }
                Ok(Some(Transitioned::NotPlaced(_) | Transitioned::NotFound)) => return Ok(None),
                // Another request has started a payment, or the order has changed.
                Ok(Some(Transitioned::Refused(_) | Transitioned::Denied(_)) | None)
                | Err(table::Error::Unanswered(_)) => {}
                Err(error) => return Err(error.into()),
            }
            whole = match self.again(&order, &mut retries, budget).await? {
                Some(again) => again,
                None => return Ok(None),
            };
        }
    }

    /// Asks the provider for what is due, until nothing is.
    ///
    /// # Errors
    /// Those of [`look`](Self::look). The provider could not do it now; the next call tries again.
    pub async fn settle(&self, order: &OrderId, budget: Budget) -> Result<Settled, Failed> {
        let Some(mut whole) = self.reader.order(order, budget).await? else { return Ok(Settled::NotForProvider) };
        let (mut asked, mut retries) = (None, budget.retries());
        for _ in 0..MOST_COMMANDS {
            // The provider may have done it, after a command whose answer was lost, or for somebody else.
            let seen = match self.look_once(whole.clone(), budget).await {
                Err(error) if error.is_for_good() => return self.settle_without(&whole, error, budget).await,
                seen => seen?,
            };
            if let Some(Seen { whole, intent }) = &seen {
                let command = whole.invoice.card().and_then(CardPayment::command);
                let (Some(command), Some(intent)) = (command, intent) else {
                    let is_done = whole.work().is_none();
                    return Ok(if is_done { Settled::ByProvider } else { Settled::NotForProvider });
                };
                match asked.take() {
                    // It was asked for, and the provider still has not done it.
                    Some((again, error)) if again == command => self.give_up(order, command, error, budget).await?,
                    // Under its number, the provider repeats a failure. A look in some minutes gives it another one.
                    _ if whole.invoice.card().is_some_and(CardPayment::refund_has_failed) => {
                        return Err(Failed::StillDue);
                    }
                    _ => match self.provider.carry_out(command, order, intent).await {
                        Ok(()) => info!(%order, ?command, "asked of the payment provider"),
                        // It may have been carried out all the same. The next look tells.
                        Err(error @ Error::Failed { .. }) => asked = Some((command, error)),
                        Err(error) if error.code().is_some() => asked = Some((command, error)),
                        Err(error) => return Err(error.into()),
                    },
                }
            }
            let again = match seen {
                Some(_) => self.reader.order(order, budget).await?,
                // What was due may not be due any more.
                None => self.again(order, &mut retries, budget).await?,
            };
            let Some(again) = again else { return Ok(Settled::NotForProvider) };
            whole = again;
        }
        Err(Failed::StillDue)
    }

    /// Records that the provider failed at a command, or refuses it for good. Only a refusal is an end; the next call
    /// tries again what failed.
    async fn give_up(&self, order: &OrderId, command: Command, error: Error, budget: Budget) -> Result<(), Failed> {
        error!(order_id = order.as_str(), ?command, %error, "the payment provider has not carried out a command");
        // The customer may still pay an intent that is not void, so a void is asked for until the intent has ended.
        let code = error.code().filter(|_| command != Command::Void);
        let failed = Transition::FailCommand { command, code };
        let changed = Box::pin(self.orders.change(Target::Order(order), failed, budget)).await?;
        if let Transitioned::Done(whole) = &changed {
            tell_staff(Some(Work::Provider), whole);
        }
        if code.is_some() { Ok(()) } else { Err(error.into()) }
    }

    /// Leaves what is due to staff, because the provider does not know the intent, or has another amount.
    async fn settle_without(&self, whole: &WholeOrder, error: Failed, budget: Budget) -> Result<Settled, Failed> {
        let order = &whole.order.order_id;
        let card = whole.invoice.card();
        let is_new = card.and_then(|card| card.provider.as_ref()).is_none_or(|provider| !provider.is_unknown());
        match card.and_then(CardPayment::command) {
            None if is_new => return Err(error),
            None => {}
            Some(command) => {
                let is_other = matches!(error, Failed::Differs);
                let code = if is_other { ProviderPayment::OTHER_AMOUNT } else { ProviderPayment::UNKNOWN };
                let failed = Transition::FailCommand { command, code: Some(code) };
                let changed = Box::pin(self.orders.change(Target::Order(order), failed, budget)).await?;
                if is_new && matches!(&changed, Transitioned::Done(whole) if whole.work().is_some()) {
                    error!(order_id = order.as_str(), ?command, %error, "the payment provider cannot do what is due");
                    sound_for_staff();
                }
            }
        }
        Ok(Settled::NotForProvider)
    }

    /// Cancels an order whose time to pay is over, by this change: [`Transition::Expire`] or
    /// [`Transition::ExpireLapsed`]. First it ends the intent at the provider, so that the customer cannot pay an order
    /// that is cancelled. An order that turns out to be paid stays.
    ///
    /// # Errors
    /// Those of [`look`](Self::look), and the provider cannot end the intent now. The order stays until a later call.
    pub async fn expire(
        &self,
        order: &OrderId,
        expiry: Transition<'_>,
        budget: Budget,
    ) -> Result<Transitioned, Failed> {
        for _ in 0..MOST_COMMANDS {
            let Some(whole) = self.reader.order(order, budget).await? else { return Ok(Transitioned::NotFound) };
            let before = whole.invoice.card().map(CardPayment::held);
            let Some(seen) = self.look_at(whole, budget).await? else { return Ok(Transitioned::NotFound) };
            let held = seen.whole.invoice.card().map(CardPayment::held);
            if held != before && held.is_some_and(|held| held.progress == Progress::Released) {
                // The customer had just paid, and has the whole time again.
                return Ok(Transitioned::DoneBefore(seen.whole));
            }
            let Some(intent) = seen.intent.filter(|_| expiry.needs_void(&seen.whole)) else {
                if let Some(done) = Box::pin(self.orders.change_as_read(seen.whole, expiry, budget)).await? {
                    return Ok(done);
                }
                continue;
            };
            match self.provider.carry_out(Command::Void, order, &intent).await {
                // The customer may have paid in this moment. The next look tells.
                Ok(()) | Err(Error::Refused { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Failed::StillDue)
    }
}

/// Sounds the alarm `PaymentsNeedStaff` if staff have to do something about a payment that they had not to do before.
fn tell_staff(before: Option<Work>, whole: &WholeOrder) {
    let work = whole.work().filter(|work| matches!(work, Work::Dispute | Work::Missing | Work::Refund));
    if work.is_some() && work != before {
        error!(order_id = whole.order.order_id.as_str(), ?work, "staff have to look at a payment");
        sound_for_staff();
    }
}

fn sound_for_staff() {
    lambda::metrics_of_shop(&[("PaymentsForStaff", Measure::Count(1))], None);
}
