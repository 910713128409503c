//! The provider's books: payment intents, what happened to each, the answers given, and the events not yet taken.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

mod currency;
mod dispute;
mod entry;
mod intent;
mod refund;

use super::act::{Act, Call, Switches};
use super::refused::Refused;

pub(super) use currency::shown;
pub use dispute::{Dispute, DisputeStatus};
pub use entry::{Entry, Status};
pub(super) use intent::CARDS;
pub use refund::{Refund, RefundStatus};

/// The fields of a request.
pub(super) type Form = BTreeMap<String, String>;

/// Everything that the provider has recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ledger {
    /// The intents by id. Their ids sort by time of creation.
    pub intents: BTreeMap<String, Entry>,
    /// The first answer for each idempotency key.
    answers: BTreeMap<String, Kept>,
    /// The events that the API has not taken yet, the oldest first.
    unsent: Vec<Value>,
    /// What is wrong at present.
    pub switches: Switches,
    last_id: u64,
    /// A random part of each id, so that ids differ from those of a stack that was started before.
    account: String,
}

/// An answer that is given again to the same request.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    /// The time of the answer in seconds since 1970. Until then, the request is being carried out.
    pub(super) at: i64,
    pub(super) request: String,
    pub(super) status: u16,
    pub(super) body: Value,
}

/// The time for which an answer is kept, in seconds. Stripe keeps it for at least 24 hours.
pub(super) const KEPT_SECONDS: i64 = 24 * 60 * 60;

/// An answer, and the events that tell of the change: for each its type and its object.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) status: u16,
    pub(super) body: Value,
    pub(super) events: Vec<(&'static str, Value)>,
}

pub(super) type Changed = Result<Change, Refused>;

impl Default for Ledger {
    fn default() -> Self {
        let mut account = Uuid::new_v4().simple().to_string();
        account.truncate(8);
        Self {
            intents: BTreeMap::new(),
            answers: BTreeMap::new(),
            unsent: Vec::new(),
            switches: Switches::default(),
            last_id: 0,
            account,
        }
    }
}

impl Ledger {
    /// Reads a file, which need not exist.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let name = file.display();
        match std::fs::read(file) {
            Ok(text) => serde_json::from_slice(&text).with_context(|| format!("cannot read {name}")),
            // If the directory is none, the stack says so.
            Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
                Ok(Self::default())
            }
            Err(error) => Err(error).with_context(|| format!("cannot read {name}")),
        }
    }

    /// Replaces the file. A crash leaves the old file or the new one.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let new = file.with_extension("new");
        std::fs::write(&new, serde_json::to_vec(self)?).with_context(|| format!("cannot write {}", new.display()))?;
        std::fs::rename(&new, file).with_context(|| format!("cannot replace {}", file.display()))
    }

    /// The intents of an order, oldest first.
    pub fn of_order<'a>(&'a self, order: &'a str) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.intents.values().filter(move |entry| entry.order.as_deref() == Some(order))
    }

    /// The events that the API has not taken yet.
    pub fn unsent(&self) -> impl Iterator<Item = &Value> {
        self.unsent.iter()
    }

    /// Makes events that are to be sent.
    pub(super) fn tell(&mut self, events: Vec<(&'static str, Value)>, key: Option<&str>) -> Vec<Value> {
        let events = events.into_iter().map(|(kind, object)| {
            json!({
                "id": format!("evt_pretend_{}", Uuid::new_v4().simple()),
                "object": "event",
                "created": Timestamp::now().as_second(),
                "livemode": false,
                "type": kind,
                "request": { "idempotency_key": key },
                "data": { "object": object },
            })
        });
        let events: Vec<_> = events.collect();
        self.unsent.extend_from_slice(&events);
        events
    }

    pub(super) fn forget_event(&mut self, event: &Value) {
        self.unsent.retain(|unsent| unsent["id"] != event["id"]);
    }

    /// A fingerprint of a request. The request itself is not kept: it may have a card's number.
    pub(super) fn fingerprint(path: &str, form: &Form) -> String {
        Uuid::new_v5(&Uuid::NAMESPACE_URL, format!("{path} {form:?}").as_bytes()).to_string()
    }

    /// The answer that this idempotency key was given before.
    pub(super) fn answer_of(&self, key: &str, now: i64) -> Option<&Kept> {
        self.answers.get(key).filter(|kept| now - kept.at < KEPT_SECONDS)
    }

    pub(super) fn keep_answer(&mut self, key: &str, answer: Kept) {
        self.answers.retain(|_, kept| answer.at - kept.at < KEPT_SECONDS);
        self.answers.insert(key.to_owned(), answer);
    }

    /// Carries out a request of the API.
    pub(super) fn carry_out(&mut self, call: Call, id: &str, form: &Form) -> Changed {
        let seen = |body| Change { status: 200, body, events: Vec::new() };
        match call {
            Call::CreateIntent => self.create(form),
            Call::ReadIntent => Ok(seen(self.entry(id)?.show(form))),
            Call::UpdateIntent => self.update(id, form),
            Call::ConfirmIntent => self.confirm(id, None, form),
            Call::CaptureIntent => self.capture(id, currency::number(form, "amount_to_capture")?, form),
            Call::CancelIntent => self.end(id, &[Status::RequiresPaymentMethod, Status::RequiresCapture]),
            Call::CreateRefund => {
                let intent = form.get("payment_intent").ok_or_else(|| Refused::parameter_missing("payment_intent"))?;
                self.refund(intent, currency::number(form, "amount")?, form)
            }
            Call::ReadRefund => {
                let mut refunds = self.intents.values().flat_map(|entry| &entry.refunds);
                let refund = refunds.find(|refund| refund.id == id).ok_or_else(|| Refused::missing("refund", id))?;
                Ok(seen(json!(refund)))
            }
            Call::ListRefunds => self.list("/v1/refunds", form, |entry| &entry.refunds).map(seen),
            Call::ListDisputes => self.list("/v1/disputes", form, |entry| &entry.disputes).map(seen),
            Call::ListEvents => self.list_events(form).map(seen),
        }
    }

    /// Lets happen what no request of the shop causes.
    pub(super) fn happen(&mut self, act: Act) -> Changed {
        let form = &Form::new();
        match act {
            Act::Confirm { intent, payment_method } => self.confirm(&intent, Some(&payment_method), form),
            Act::Capture { intent, amount } => self.capture(&intent, amount, form),
            Act::Cancel { intent } => self.end(&intent, &[Status::RequiresPaymentMethod, Status::RequiresCapture]),
            Act::Expire { intent } => self.end(&intent, &[Status::RequiresCapture]),
            Act::Refund { intent, amount } => self.refund(&intent, amount, form),
            Act::FailRefund { refund } => self.end_refund(&refund, RefundStatus::Failed),
            Act::CancelRefund { refund } => self.end_refund(&refund, RefundStatus::Canceled),
            Act::Dispute { intent, amount, inquiry } => self.dispute(&intent, amount, inquiry),
            Act::UpdateDispute { dispute, status } => self.update_dispute(&dispute, status),
            Act::Next { call, answer } => {
                self.switches.next.push((call, answer));
                Ok(Change { status: 200, body: json!(self.switches), events: Vec::new() })
            }
            Act::Switch(switches) => {
                self.switches = switches;
                let events = if self.switches.balance_is_empty { Vec::new() } else { self.pay_pending_refunds() };
                Ok(Change { status: 200, body: json!(self.switches), events })
            }
        }
    }

    /// A page of the objects of all intents, or of one intent or charge that the request names. The newest come first.
    fn list<T: Serialize>(&self, url: &str, form: &Form, of: fn(&Entry) -> &Vec<T>) -> Result<Value, Refused> {
        let is_wanted = |object: &Value| {
            ["payment_intent", "charge"]
                .iter()
                .all(|name| form.get(*name).is_none_or(|wanted| object[name] == **wanted))
        };
        let objects = self.intents.values().flat_map(of).map(|object| json!(object));
        let mut objects: Vec<_> = objects.filter(is_wanted).collect();
        // Ids sort by time of creation.
        objects.sort_by(|one, other| other["id"].as_str().cmp(&one["id"].as_str()));
        page_of(objects, url, form)
    }

    /// A page of the events that the API has not taken, the newest first. Others are not kept, and not listed.
    fn list_events(&self, form: &Form) -> Result<Value, Refused> {
        if form.get("delivery_success").is_none_or(|text| text != "false") {
            return Err(Refused::malformed("Only events with delivery_success=false are kept."));
        }
        let since = currency::number(form, "created[gte]")?;
        let is_wanted = |event: &&Value| {
            let types = form.get("types[]").map(|types| types.split(',').collect::<Vec<_>>());
            types.is_none_or(|types| types.iter().any(|wanted| event["type"] == **wanted))
                && since.is_none_or(|since| event["created"].as_i64() >= Some(since))
        };
        page_of(self.unsent.iter().rev().filter(is_wanted).cloned().collect(), "/v1/events", form)
    }

    /// An id as long as Stripe's, so that items have the same sizes.
    fn new_id(&mut self, kind: &str) -> String {
        self.last_id += 1;
        format!("{kind}_pretend_{}{:08}", self.account, self.last_id)
    }

    fn entry(&mut self, id: &str) -> Result<&mut Entry, Refused> {
        self.intents.get_mut(id).ok_or_else(|| Refused::missing("payment_intent", id))
    }
}

/// The page of these objects that the request asks for, as the API shows it.
fn page_of(mut objects: Vec<Value>, url: &str, form: &Form) -> Result<Value, Refused> {
    let limit = form.get("limit").map_or("10", String::as_str);
    let limit = limit.parse().ok().filter(|limit| (1..=100).contains(limit));
    let limit = limit.ok_or_else(|| Refused::not_an_integer("limit must be between 1 and 100"))?;
    if let Some(last) = form.get("starting_after") {
        let at = objects.iter().position(|object| object["id"] == **last);
        objects.drain(..=at.ok_or_else(|| Refused::missing("object", last))?);
    }
    Ok(page(objects, url, limit))
}

/// The first objects of a list, as the API shows it.
fn page(mut objects: Vec<Value>, url: &str, limit: usize) -> Value {
    let has_more = objects.len() > limit;
    objects.truncate(limit);
    json!({ "object": "list", "data": objects, "has_more": has_more, "url": url })
}
