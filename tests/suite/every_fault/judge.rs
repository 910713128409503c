//! The allowed outcomes of a case with faults.
//!
//! - The client gets the same answer as without faults, or 202 for a queued order, or 503 with an `outcome`.
//! - After a success the case is done completely. `none` means that the table is unchanged to the byte, and `unknown`
//!   that the case is done completely or not at all.
//! - A retry gets the same answer as without faults, and the table is then the same as without faults.
//!
//! A consumer's event is redelivered until no part of it fails.

use devstack::fault_proxy::Call;
use shop::queue::QUEUE;

use super::cases::{Ask, Caller, Case};
use super::kinds::{Injection, Service};
use super::world::{State, World, forget_moments, signature_of, timeless};
use crate::prelude::*;

/// The number of retries. On a busy machine, a request may time out without any fault.
const ATTEMPTS: usize = 20;

/// The result of a case without faults.
pub struct Reference {
    calls: Vec<(Service, Call)>,
    answer: Value,
    again: Value,
    after: State,
    /// The events on the bus.
    told: Vec<String>,
    /// What the payment provider has recorded.
    paid: Vec<String>,
}

impl Reference {
    pub fn calls(&self) -> &[(Service, Call)] {
        &self.calls
    }
}

#[derive(Debug)]
enum Outcome {
    /// The request succeeded, or no part of the event failed.
    Answered(Value),
    /// The order was queued.
    Accepted,
    /// 503 with `none`: nothing was written.
    None,
    /// 503 with `unknown`, or a failed delivery: the case may be done. Contains the answer.
    #[allow(dead_code, reason = "a complaint shows it")]
    Unknown(Value),
    /// An answer that is not allowed.
    Wrong(String),
}

/// Runs a case without faults.
pub async fn reference(world: &World, case: &Case) -> Reference {
    // Discard the calls of creating the world, or of the last case.
    world.take_calls();
    let answer = match run(world, case, None).await {
        Outcome::Answered(answer) => answer,
        other => panic!("{}: {other:?}", case.name),
    };
    let calls = world.take_calls();
    let dump = world.shop.dump().await;
    let again = match run(world, case, None).await {
        Outcome::Answered(answer) => answer,
        other => panic!("{}, again: {other:?}", case.name),
    };
    let settled = settle(world, case).await;
    let after = comparable(world, case, &settled);
    if !case.adds_up && !waits(case) {
        assert_eq!(after, comparable(world, case, &dump), "{}, again", case.name);
    }
    let paid = paid(world);
    world.reset(&settled).await;
    let told = told(&calls);
    Reference { calls, answer, again, after, told, paid }
}

/// Runs a case with these faults, and returns complaints.
pub async fn judge(world: &World, case: &Case, reference: &Reference, injections: &[Injection]) -> Vec<String> {
    let mut complaints = Vec::new();
    for injection in injections {
        world.inject(injection);
    }
    let first = run(world, case, Some(reference)).await;
    world.heal().await;
    let dump = world.shop.dump().await;
    let state = comparable(world, case, &dump);
    match &first {
        Outcome::Answered(answer) if *answer != reference.answer => {
            complaints.push(format!("answered {answer} instead of {}", reference.answer));
        }
        Outcome::Answered(_) if !waits(case) && !case.adds_up => {
            complaints.extend((state != reference.after).then(|| differs("answered, and not done", &state, reference)));
        }
        Outcome::None if !world.is_unchanged(&dump) => {
            complaints.push(differs("the outcome is not none", &state, reference));
        }
        Outcome::Unknown(_) if !case.has_steps && !waits(case) && !case.adds_up => {
            let is_whole = state == reference.after || state == comparable(world, case, &world.seed.items);
            complaints.extend((!is_whole).then(|| differs("done by half", &state, reference)));
        }
        Outcome::Wrong(what) => complaints.push(what.clone()),
        _ => {}
    }
    if case.has_steps {
        complaints.extend(invariants::breaches(&world.shop, invariants::BEFORE_EVERY_CHANGE).await);
    }

    // A client with an unknown outcome retries.
    let mut last = first;
    for _ in 0..ATTEMPTS {
        if case.adds_up && matches!(last, Outcome::Answered(_)) {
            break;
        }
        let was_answered = matches!(last, Outcome::Answered(_));
        last = run(world, case, Some(reference)).await;
        match &last {
            Outcome::Answered(answer) if *answer != reference.answer && !was_answered => {
                complaints.push(format!("again: {answer} instead of {}", reference.answer));
                break;
            }
            Outcome::None | Outcome::Unknown(_) => {}
            Outcome::Accepted => _ = settle(world, case).await,
            Outcome::Answered(_) | Outcome::Wrong(_) => break,
        }
    }
    match &last {
        Outcome::Answered(answer) if [&reference.answer, &reference.again].contains(&answer) => {}
        other => complaints.push(format!("again: {other:?} instead of {}", reference.answer)),
    }
    let settled = settle(world, case).await;
    let state = comparable(world, case, &settled);
    if !case.adds_up && state != reference.after {
        complaints.push(differs("again, and not as it should be", &state, reference));
    }
    if case.has_steps {
        complaints.extend(invariants::breaches(&world.shop, invariants::BEFORE_EVERY_CHANGE).await);
    }
    let told = told(&world.take_calls());
    if told != reference.told {
        complaints.push(format!("the bus was told {told:?} instead of {:?}", reference.told));
    }
    let paid = paid(world);
    if paid != reference.paid {
        complaints.push(format!("the payment provider has {paid:?} instead of {:?}", reference.paid));
    }
    world.reset(&settled).await;
    complaints
}

async fn run(world: &World, case: &Case, reference: Option<&Reference>) -> Outcome {
    match &case.ask {
        Ask::Event(event) => deliver(world, &case.function, event).await,
        Ask::Request { by, method, path, headers, body } => {
            let client = match by {
                Caller::Customer(id) => world.shop.customer(id),
                Caller::Admin => world.shop.admin(),
            };
            let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            // A text is sent as it is, because its bytes are signed.
            let body = (!body.is_null()).then(|| body.as_str().map_or_else(|| body.to_string(), str::to_owned));
            let signed = body.as_ref().filter(|_| case.function == "receive-payment-event");
            let signature = signed.map(|report| signature_of(report));
            headers.extend(signature.as_deref().map(|signature| ("stripe-signature", signature)));
            let reply = client.send(method.clone(), path, &headers, body).await;
            let mut answer = json!({
                "status": reply.status, "etag": reply.header("etag"), "location": reply.header("location"),
                "body": reply.body,
            });
            forget_moments(&mut answer);
            forget_intents(world, &mut answer);
            match case.function.as_str() {
                // The versions of a cart and of an address book are random.
                "put-addresses" => answer["etag"] = Value::Null,
                "put-cart" => {
                    answer["etag"] = Value::Null;
                    if let Some(body) = answer["body"].as_object_mut() {
                        body.remove("version");
                    }
                    // Each world has a bucket at an address of its own.
                    let lines = answer.pointer_mut("/body/lines").and_then(Value::as_array_mut);
                    let thumbnails = lines.into_iter().flatten().filter_map(|line| line.get_mut("thumbnail"));
                    thumbnails.for_each(|thumbnail| thumbnail["url"] = Value::Null);
                }
                // The id is random.
                "add-image" => answer["body"] = Value::Null,
                "confirm-image" => {
                    let images = answer.pointer_mut("/body/images").and_then(Value::as_array_mut);
                    images.into_iter().flatten().for_each(|image| image["url"] = Value::Null);
                }
                // The provider chooses a random secret.
                "start-guest-payment" | "start-payment" => answer["body"]["clientSecret"] = Value::Null,
                _ => {}
            }
            if let Some(outcome) = outcome_of_batch(&reply.body) {
                return outcome;
            }
            match (reply.status, reply.body["outcome"].as_str()) {
                (503, _) if reply.header("retry-after").is_none() => {
                    Outcome::Wrong("503 without Retry-After".to_owned())
                }
                (503, Some("none")) => Outcome::None,
                (503, Some("unknown")) => Outcome::Unknown(reply.body),
                (202, _) if reference.is_some_and(|reference| reference.answer["status"] != 202) => Outcome::Accepted,
                _ if reference.is_none_or(|reference| [&reference.answer, &reference.again].contains(&&answer)) => {
                    Outcome::Answered(answer)
                }
                _ => Outcome::Wrong(format!("answered {answer}")),
            }
        }
    }
}

/// The outcome of a batch, if some of its entries found no capacity or were not answered.
fn outcome_of_batch(body: &Value) -> Option<Outcome> {
    let results = body["results"].as_array()?;
    let outcomes: Vec<_> = results.iter().filter_map(|result| result["problem"]["outcome"].as_str()).collect();
    match outcomes.as_slice() {
        [] => None,
        outcomes if outcomes.len() == results.len() && outcomes.iter().all(|outcome| *outcome == "none") => {
            Some(Outcome::None)
        }
        _ => Some(Outcome::Unknown(body.clone())),
    }
}

/// Delivers an event once to a new environment.
async fn deliver(world: &World, function: &str, event: &Value) -> Outcome {
    match world.consumer(function)(event.clone()).await {
        Ok(answer) => {
            let failures = answer["batchItemFailures"].as_array().map_or(0, Vec::len);
            let is_failed = failures > 0 || answer["failed"].as_u64().is_some_and(|failed| failed > 0);
            if is_failed || answer["done"] == false { Outcome::Unknown(answer) } else { Outcome::Answered(Value::Null) }
        }
        Err(error) => Outcome::Unknown(json!(error)),
    }
}

/// The functions that place orders, perhaps through the queue.
const PLACES: [&str; 2] = ["place-guest-order", "place-order"];

/// Places the queued orders, and returns the items of the table.
async fn settle(world: &World, case: &Case) -> Vec<Value> {
    if PLACES.contains(&case.function.as_str()) {
        let messages = world.shop.take_from(QUEUE).await;
        if !messages.is_empty() {
            let event = json!({ "Records": messages });
            let mut last = Outcome::None;
            for _ in 0..ATTEMPTS {
                last = deliver(world, "drain-writes", &event).await;
                if matches!(last, Outcome::Answered(_)) {
                    break;
                }
            }
            assert!(matches!(last, Outcome::Answered(_)), "{} is not drained: {last:?}", case.name);
        }
    }
    world.shop.dump().await
}

/// Whether the case queues an order first.
fn waits(case: &Case) -> bool {
    matches!(&case.ask, Ask::Request { headers, .. } if headers.iter().any(|(name, _)| *name == "prefer"))
}

/// What of these items is the same after every run: without times, the item of a queued order, unless the case itself writes
/// or changes it, and the ids of intents that the run has started.
fn comparable(world: &World, case: &Case, items: &[Value]) -> State {
    let mut state = timeless(items);
    if PLACES.contains(&case.function.as_str()) {
        state.retain(|item| item["EntityType"]["S"] != "queuedOrder");
    }
    for item in &mut state {
        forget_intents(world, item);
    }
    state
}

/// Replaces the ids of intents that the world did not begin with. Each try of a start that failed may have begun one, under
/// a key of its second; the customer hears of none that the table does not know.
fn forget_intents(world: &World, value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("pi_") && !world.began_with(text) => "<started>".clone_into(text),
        Value::Array(values) => values.iter_mut().for_each(|value| forget_intents(world, value)),
        Value::Object(fields) => fields.values_mut().for_each(|value| forget_intents(world, value)),
        _ => {}
    }
}

/// What the payment provider has recorded.
fn paid(world: &World) -> Vec<String> {
    let ledger = world.shop.ledger();
    let entries = ledger.intents.values().map(|entry| {
        let id = if world.began_with(&entry.id) { entry.id.as_str() } else { "<started>" };
        format!("{id}: {:?} {} {}", entry.status, entry.captured, entry.refunded)
    });
    entries.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The events that the bus accepted, each once.
fn told(calls: &[(Service, Call)]) -> Vec<String> {
    let taken = calls.iter().filter(|(service, call)| *service == Service::EventBridge && call.status == Some(200));
    let entries = taken.flat_map(|(_, call)| {
        let answers = call.response["Entries"].as_array().into_iter().flatten();
        let asked = call.request["Entries"].as_array().into_iter().flatten();
        asked
            .zip(answers)
            .filter(|(_, answer)| answer["EventId"].is_string())
            .map(|(entry, _)| entry["Detail"].to_string())
    });
    let mut told: Vec<_> = entries.collect();
    told.sort_unstable();
    told.dedup();
    told
}

fn differs(what: &str, state: &State, reference: &Reference) -> String {
    let only = |these: &State, those: &State| -> Vec<String> {
        these.iter().filter(|item| !those.contains(item)).map(ToString::to_string).collect()
    };
    let (found, deficits) = (only(state, &reference.after), only(&reference.after, state));
    format!("{what}:\n  found {}\n  instead of {}", found.join("\n    "), deficits.join("\n    "))
}
