//! What each request did: its calls of other services, in their sequence, and what followed from its writes and messages.
//!
//! An [environment](crate::environments) handles one invocation at a time, and signs with an access key of its own. So the
//! key of a call names the invocation that makes it, whatever runs at the same time. What followed is joined by ids: a
//! record of a stream belongs to the call that wrote the item, a message and an event to the call that was
//! answered with its id, and an invocation to the records or messages that it was invoked with.
//!
//! The newest stories are kept, in memory alone.

mod call;
mod invocation;
mod readable;
mod story;
mod stream;
mod view;
mod writes;

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tokio::sync::watch;

pub use self::call::{Call, Changed, FAILED, Part, Units};
pub(crate) use self::invocation::Invocation;
pub use self::story::{Followed, Story, StreamRecord, Sum, Summary, Work};
use self::writes::Writes;
use crate::fault_proxy::{self, Access};
use crate::iam::Caller;
use crate::template::Template;

/// The number of requests that are remembered.
pub const KEPT: usize = 500;

/// The number of invocations by event sources that are remembered, and of the records and messages that caused them.
const MOST_INVOCATIONS: usize = 2000;
const MOST_CAUSES: usize = 20_000;

/// The calls and records that are told of one invocation. Units are counted of all.
const MOST_CALLS: usize = 200;

/// The names of the attributes of each table's key.
type Keys = BTreeMap<String, Vec<String>>;

/// The prices of units, in US dollars for a million.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    pub reads: f64,
    pub writes: f64,
}

/// The stories of a stack.
pub struct Stories {
    is_on: bool,
    keys: Keys,
    prices: Option<Prices>,
    inside: Mutex<Inside>,
    /// Counts the changes.
    changes: watch::Sender<u64>,
}

#[derive(Default)]
struct Inside {
    begun: u64,
    calls: u64,
    nodes: BTreeMap<u64, Node>,
    requests: VecDeque<u64>,
    invocations: VecDeque<u64>,
    causes: usize,
    /// The invocation that each environment handles, by access key.
    environments: BTreeMap<Arc<str>, u64>,
    /// Who made a record or sent a message.
    makers: BTreeMap<String, u64>,
    /// The invocations with a record or message.
    handled: BTreeMap<String, Vec<u64>>,
    /// The messages in which a rule sent an event on, until its sender is known.
    routed: VecDeque<(String, String)>,
    writes: Writes,
    /// The last record of each shard that was read.
    read: BTreeMap<String, u128>,
}

/// A request, or an invocation by an event source.
struct Node {
    /// `None`: an event source invoked it.
    request: Option<Request>,
    /// The records and messages that it was invoked with.
    causes: Vec<String>,
    function: Option<String>,
    environment: Option<u64>,
    at: Timestamp,
    began: Instant,
    took: Option<Duration>,
    error: Option<String>,
    calls: Vec<Call>,
    calls_left_out: usize,
    /// How often each call was made, by its hash: a repeated one is a further attempt.
    attempts: BTreeMap<u64, usize>,
    read_units: f64,
    write_units: f64,
    records: Vec<StreamRecord>,
    /// The records that it made and the messages that it sent.
    made: Vec<String>,
}

struct Request {
    id: String,
    method: String,
    path: String,
    status: Option<u16>,
}

/// A call that has arrived.
#[derive(Clone)]
pub(crate) struct Arrived {
    by: Option<u64>,
    at: Instant,
    hash: u64,
}

/// The id of a stream's record among all that can cause an invocation.
pub(crate) fn record_id(table: &str, sequence_number: &str) -> String {
    format!("{table} {sequence_number}")
}

impl Stories {
    /// Those of a stack with this template, if they are to be remembered.
    pub(crate) fn new(template: &Template, is_on: bool, prices: Option<Prices>) -> Arc<Self> {
        let keys = template.tables.iter().map(|table| {
            let names = table.creation["KeySchema"].as_array().into_iter().flatten();
            let names = names.filter_map(|key| key["AttributeName"].as_str().map(str::to_owned));
            (table.name().to_owned(), names.collect())
        });
        Arc::new(Self { is_on, keys: keys.collect(), prices, inside: Mutex::default(), changes: watch::Sender::new(0) })
    }

    /// Of nothing.
    #[cfg(test)]
    pub(crate) fn off() -> Arc<Self> {
        let (keys, inside, changes) = (Keys::new(), Mutex::default(), watch::Sender::new(0));
        Arc::new(Self { is_on: false, keys, prices: None, inside, changes })
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Tells of each change from now on.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known.
    fn change<T>(&self, change: impl FnOnce(&mut Inside) -> T) -> Option<T> {
        if !self.is_on {
            return None;
        }
        let result = change(&mut self.inside());
        self.changes.send_modify(|changes| *changes += 1);
        Some(result)
    }

    /// A request has arrived at the gateway. Its function is known once an environment handles it.
    pub(crate) fn request(self: &Arc<Self>, id: &str, method: &str, path: &str) -> Invocation {
        let number = self.change(|inside| {
            let (id, method, path) = (id.to_owned(), method.to_owned(), path.to_owned());
            let number = inside.begin(Some(Request { id, method, path, status: None }), None, Vec::new());
            inside.requests.push_back(number);
            if inside.requests.len() > KEPT
                && let Some(oldest) = inside.requests.pop_front()
            {
                inside.forget(oldest);
            }
            number
        });
        Invocation { stories: Arc::clone(self), number }
    }

    /// An event source invokes this function with these records or messages.
    pub(crate) fn invocation(self: &Arc<Self>, function: &str, causes: Vec<String>) -> Invocation {
        let number = self.change(|inside| {
            let number = inside.begin(None, Some(function), causes);
            inside.invocations.push_back(number);
            while (inside.invocations.len() > MOST_INVOCATIONS || inside.causes > MOST_CAUSES)
                && inside.invocations.len() > 1
                && let Some(oldest) = inside.invocations.pop_front()
            {
                inside.forget(oldest);
            }
            number
        });
        Invocation { stories: Arc::clone(self), number }
    }

    fn enter(&self, number: Option<u64>, access_key: &Arc<str>) {
        let Some(number) = number else { return };
        self.change(|inside| {
            if let Some(node) = inside.nodes.get_mut(&number) {
                let Caller { function, environment } = Caller::of(access_key);
                (node.function, node.environment) = (Some(function.to_owned()), environment);
            }
            inside.environments.insert(Arc::clone(access_key), number);
        });
    }

    fn ended(&self, number: Option<u64>, status: Option<u16>, error: Option<&str>) {
        let Some(number) = number else { return };
        self.change(|inside| {
            let Some(node) = inside.nodes.get_mut(&number) else { return };
            node.took = Some(node.began.elapsed());
            node.error = error.map(str::to_owned);
            if let Some(request) = &mut node.request {
                request.status = status;
            }
        });
    }

    /// A call that was signed with this access key arrives at a service.
    pub(crate) fn arrived(&self, access_key: Option<&str>, action: &str, body: &[u8]) -> Arrived {
        let at = Instant::now();
        if !self.is_on {
            return Arrived { by: None, at, hash: 0 };
        }
        let mut hasher = DefaultHasher::new();
        (action, body).hash(&mut hasher);
        let by = access_key.and_then(|key| self.inside().environments.get(key).copied());
        Arrived { by, at, hash: hasher.finish() }
    }

    /// The call was answered, or failed.
    pub(crate) fn called(&self, arrived: &Arrived, call: &fault_proxy::Call, service: &'static str) {
        let Some(by) = arrived.by else { return };
        let told = Call::of(call, service, &self.keys);
        let units = |access| {
            let of_kind = call.consumed.iter().filter(|consumed| consumed.access == access);
            of_kind.map(fault_proxy::Consumed::units).sum::<f64>()
        };
        let (read, write) = (units(Access::Read), units(Access::Write));
        self.tell(by, arrived, told, read, write);
    }

    /// The same for a service without units, of which the call is known already.
    pub(crate) fn served(&self, arrived: &Arrived, call: Call) {
        if let Some(by) = arrived.by {
            self.tell(by, arrived, call, 0.0, 0.0);
        }
    }

    fn tell(&self, by: u64, arrived: &Arrived, mut call: Call, read: f64, write: f64) {
        self.change(|inside| {
            let sent = if matches!(call.service, "SQS" | "EventBridge") { inside.sent(&call) } else { Vec::new() };
            let Some(node) = inside.nodes.get_mut(&by) else { return };
            call.after_ms = millis(arrived.at.saturating_duration_since(node.began));
            call.took_ms = millis(arrived.at.elapsed());
            let attempt = node.attempts.entry(arrived.hash).or_default();
            *attempt += 1;
            call.attempt = *attempt;
            node.read_units += read;
            node.write_units += write;
            if node.calls.len() < MOST_CALLS {
                // They end in another sequence than they begin in, if some are under way at the same time.
                let at = node.calls.partition_point(|earlier| earlier.after_ms <= call.after_ms);
                node.calls.insert(at, call);
            } else {
                node.calls_left_out += 1;
            }
            node.made.extend(sent.iter().cloned());
            inside.makers.extend(sent.into_iter().map(|id| (id, by)));
        });
    }

    /// A rule of a bus sent an event on in this message. The call that sent the event is not answered yet.
    pub(crate) fn routed(&self, event: &str, message: &str) {
        self.change(|inside| {
            inside.routed.push_back((event.to_owned(), message.to_owned()));
            if inside.routed.len() > KEPT {
                inside.routed.pop_front();
            }
        });
    }
}

impl Inside {
    fn begin(&mut self, request: Option<Request>, function: Option<&str>, causes: Vec<String>) -> u64 {
        self.begun += 1;
        for cause in &causes {
            self.handled.entry(cause.clone()).or_default().push(self.begun);
        }
        self.causes += causes.len();
        let node = Node {
            request,
            causes,
            function: function.map(str::to_owned),
            environment: None,
            at: Timestamp::now(),
            began: Instant::now(),
            took: None,
            error: None,
            calls: Vec::new(),
            calls_left_out: 0,
            attempts: BTreeMap::new(),
            read_units: 0.0,
            write_units: 0.0,
            records: Vec::new(),
            made: Vec::new(),
        };
        self.nodes.insert(self.begun, node);
        self.begun
    }

    fn forget(&mut self, number: u64) {
        let Some(node) = self.nodes.remove(&number) else { return };
        for made in &node.made {
            self.makers.remove(made);
        }
        self.causes -= node.causes.len();
        for cause in &node.causes {
            if let Some(handled) = self.handled.get_mut(cause) {
                handled.retain(|other| *other != number);
                if handled.is_empty() {
                    self.handled.remove(cause);
                }
            }
        }
    }

    /// The ids of the messages that a call sent, also of those in which rules sent its events on.
    fn sent(&mut self, call: &Call) -> Vec<String> {
        let ids: Vec<_> = call.parts.iter().flat_map(|part| part.keys.iter().flatten().cloned()).collect();
        if call.service == "SQS" {
            return ids;
        }
        let (ours, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.routed).into_iter().partition(|(event, _)| ids.contains(event));
        self.routed = others.into();
        ours.into_iter().map(|(_, message)| message).collect()
    }
}

fn millis(duration: Duration) -> f64 {
    // To the microsecond.
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
