//! The events at the provider that no request of the shop causes: clicks in its dashboard, decisions of banks, and the
//! troubles that a person or a test switches on.

use axum::http::Method;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::api::fields;
use super::ledger::{DisputeStatus, Form};
use super::refused::Refused;

/// An act of a person at the provider, or of a bank. `POST /_pretend/NAME` takes its fields as JSON or as a form.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case", deny_unknown_fields)]
pub enum Act {
    /// The customer pays with a test card.
    Confirm {
        intent: String,
        payment_method: String,
    },
    /// Staff capture an authorization in the dashboard: this amount in minor units, or all.
    Capture {
        intent: String,
        amount: Option<i64>,
    },
    Cancel {
        intent: String,
    },
    /// An authorization was not captured in time.
    Expire {
        intent: String,
    },
    /// Staff refund this amount in minor units, or all that is left, in the dashboard.
    Refund {
        intent: String,
        amount: Option<i64>,
    },
    /// The customer's bank returns a refund to the shop's balance.
    FailRefund {
        refund: String,
    },
    CancelRefund {
        refund: String,
    },
    /// The cardholder disputes this amount in minor units, at most what was captured, or all that the shop has. An
    /// inquiry takes no money.
    Dispute {
        intent: String,
        amount: Option<i64>,
        #[serde(default)]
        inquiry: bool,
    },
    /// The bank decides a dispute (`won`, `lost`), drops an inquiry (`warning_closed`), or makes it a dispute
    /// (`needs_response`).
    UpdateDispute {
        dispute: String,
        status: DisputeStatus,
    },
    /// The next call of this kind, or of any kind, gets this answer.
    Next {
        call: Option<Call>,
        answer: Answer,
    },
    /// Replaces all switches.
    Switch(Switches),
}

/// The switches. At first, nothing is wrong.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Switches {
    /// Refunds stay `pending` until the balance has money again.
    pub balance_is_empty: bool,
    /// A refund that fails or is cancelled lowers `amount_refunded` of its charge. Stripe does not document whether it does.
    pub amount_refunded_falls: bool,
    pub webhooks: Webhooks,
    /// The answers that the next calls get. Each is given once, to a call of its kind.
    pub next: Vec<(Option<Call>, Answer)>,
}

/// The way in which webhooks are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Webhooks {
    #[default]
    Once,
    /// Not at all, until this is switched back.
    Off,
    /// After some seconds.
    Late,
    Twice,
    /// Those that happen within a second are sent with the newest first.
    Reversed,
}

/// The kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Call {
    CreateIntent,
    ReadIntent,
    UpdateIntent,
    ConfirmIntent,
    CaptureIntent,
    CancelIntent,
    CreateRefund,
    ReadRefund,
    ListRefunds,
    ListDisputes,
    ListEvents,
}

/// An answer that differs from the usual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum Answer {
    /// 500, and nothing was done.
    ServerError,
    /// 500 after the work was done.
    ServerErrorAfterwards,
    /// 429.
    RateLimit,
    /// 429.
    LockTimeout,
    /// 409.
    IdempotencyKeyInUse,
    /// 400, for good.
    Refused,
    /// None: the connection is cut after the work was done.
    Cut,
    /// The usual answer after some seconds. Until then, the idempotency key is in use.
    Slow,
    /// The usual answer, and the refund fails some seconds later. Only a call that creates a refund gets it.
    RefundFails,
}

impl Call {
    /// The kind of a request, and the id in its path, which is empty if there is none.
    pub(super) fn of<'a>(method: &Method, path: &'a str) -> Option<(Self, &'a str)> {
        let segments: Vec<_> = path.strip_prefix("/v1/")?.split('/').collect();
        Some(match (method.as_str(), segments.as_slice()) {
            ("POST", ["payment_intents"]) => (Self::CreateIntent, ""),
            ("GET", ["payment_intents", id]) => (Self::ReadIntent, id),
            ("POST", ["payment_intents", id]) => (Self::UpdateIntent, id),
            ("POST", ["payment_intents", id, "confirm"]) => (Self::ConfirmIntent, id),
            ("POST", ["payment_intents", id, "capture"]) => (Self::CaptureIntent, id),
            ("POST", ["payment_intents", id, "cancel"]) => (Self::CancelIntent, id),
            ("POST", ["refunds"]) => (Self::CreateRefund, ""),
            ("GET", ["refunds"]) => (Self::ListRefunds, ""),
            ("GET", ["refunds", id]) => (Self::ReadRefund, id),
            ("GET", ["disputes"]) => (Self::ListDisputes, ""),
            ("GET", ["events"]) => (Self::ListEvents, ""),
            _ => return None,
        })
    }

    /// Refuses a parameter that Stripe does not know. Of those that it knows, this list has what Till and browsers
    /// send.
    pub(super) fn refuse_unknown(self, form: &Form) -> Result<(), Refused> {
        let known: &[&str] = match self {
            Self::CreateIntent => &["amount", "currency", "capture_method", "payment_method_types", "metadata"],
            Self::ReadIntent => &["client_secret"],
            Self::UpdateIntent => &["payment_method", "metadata"],
            Self::ConfirmIntent => &["client_secret", "payment_method", "payment_method_data"],
            Self::CaptureIntent => &["amount_to_capture"],
            Self::CancelIntent => &["cancellation_reason"],
            Self::CreateRefund => &["payment_intent", "amount", "reason", "metadata"],
            Self::ReadRefund => &[],
            Self::ListRefunds | Self::ListDisputes => &["payment_intent", "charge", "limit", "starting_after"],
            Self::ListEvents => &["delivery_success", "types", "created", "limit", "starting_after"],
        };
        let name = |field: &str| field.split('[').next().unwrap_or_default().to_owned();
        match form.keys().find(|field| !["expand"].iter().chain(known).any(|known| name(field) == **known)) {
            Some(field) => {
                Err(Refused::early(400, Some("parameter_unknown"), format!("Received unknown parameter: {field}")))
            }
            None => Ok(()),
        }
    }

    /// Whether the call may change something.
    pub(super) fn is_write(self) -> bool {
        use Call::{ListDisputes, ListEvents, ListRefunds, ReadIntent, ReadRefund};
        !matches!(self, ReadIntent | ReadRefund | ListRefunds | ListDisputes | ListEvents)
    }
}

impl Answer {
    /// The refusal that a call gets instead of being carried out.
    pub(super) fn refusal(self) -> Option<Refused> {
        match self {
            Self::ServerError => Some(Refused::server_error()),
            Self::RateLimit => Some(Refused::rate_limit()),
            Self::LockTimeout => Some(Refused::lock_timeout()),
            Self::IdempotencyKeyInUse => Some(Refused::key_in_use()),
            Self::Refused => Some(Refused::new(400, Some("amount_too_small"), "The amount is too small.")),
            Self::ServerErrorAfterwards | Self::Cut | Self::Slow | Self::RefundFails => None,
        }
    }
}

impl Switches {
    /// The answer that is switched on for a call. It is given once.
    pub(super) fn take(&mut self, call: Call) -> Option<Answer> {
        let is_for = |(kind, answer): &(Option<Call>, Answer)| {
            kind.is_none_or(|kind| kind == call) && (*answer != Answer::RefundFails || call == Call::CreateRefund)
        };
        let at = self.next.iter().position(is_for)?;
        Some(self.next.remove(at).1)
    }
}

/// The act of this name, with fields in JSON or in a form.
pub(super) fn read(act: String, body: &[u8]) -> Result<Act, serde_json::Error> {
    let mut read: Map<String, Value> = if body.starts_with(b"{") {
        serde_json::from_slice(body)?
    } else {
        // A form has texts alone. An amount is a number, and the rest has no number.
        let named = fields([body]).into_iter().filter(|(_, text)| !text.is_empty());
        let typed = named.map(|(name, text)| {
            let value = match (&*name, text.parse::<i64>()) {
                ("amount", Ok(amount)) => amount.into(),
                _ if text == "true" => true.into(),
                _ => text.into(),
            };
            (name, value)
        });
        typed.collect()
    };
    read.insert("act".to_owned(), act.into());
    serde_json::from_value(read.into())
}
