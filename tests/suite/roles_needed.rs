//! Nothing is granted in vain: of each role, every action for every kind of key is needed by some call.
//!
//! The calls are those of an eventful day: every route, every consumer, and whatever makes them do what they seldom
//! do. A grant is needed if one of the calls would be refused without it.

use std::time::{Duration, Instant};

use local::functions;
use local::iam::{Condition, Operator, Policy, Quantifier, Ruling, Statement, permit};
use local::wire::{Fault, Match, WriteLimit};
use reqwest::Method;
use serde_json::json;

use crate::events::{STORY, event};
use crate::queue::{order_later, things};
use crate::shop::{Shop, eur};
use crate::shop_queue::{DEAD_LETTERS, QUEUE};
use crate::shop_reconcile::reconciled;

const LEADING_KEYS: &str = "dynamodb:LeadingKeys";
const ENCLOSING_OPERATION: &str = "dynamodb:EnclosingOperation";

const PATIENCE: Duration = Duration::from_secs(30);

async fn until(what: &str, is_so: impl AsyncFn() -> bool) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A shop whose event sources give up at once.
async fn open() -> Shop {
    let shop = Shop::open_with(|template| {
        reconciled(template, 0, 100_000);
        for queue in &mut template.queues {
            queue.visibility_timeout_seconds = 1;
        }
        for source in &mut template.stream_sources {
            (source.enabled, source.maximum_retry_attempts) = (true, 0);
        }
    })
    .await;
    for id in ["ada", "bob"] {
        shop.sign_up(id).await;
    }
    shop.product("thing", 1000, 100).await;
    shop.discount("TEN", 10, None).await;
    shop.gift_card("GIFT", 100_000).await;
    shop
}

/// Every route is asked, as the sample events do.
async fn story(shop: &Shop) {
    let functions = functions::start_all(&shop.endpoints(), shop.template()).expect("the functions start");
    for (name, _) in STORY {
        let (_, invoke) = functions.handlers.iter().find(|(known, _)| known == name).expect("it is known");
        invoke(event(name)).await.expect("a response");
    }
}

/// What customers and admins do now and then.
async fn now_and_then(shop: &Shop) {
    let (ada, admin, any) = (shop.customer("ada"), shop.admin(), [("if-match", "*")]);
    let change = async |method: Method, path: &str, body: serde_json::Value, status: u16| {
        admin.send(method, path, &any, Some(body.to_string())).await.expect(status);
    };
    change(Method::PATCH, "/customers/bob", json!({ "email": "b@b.de", "username": "bobby" }), 200).await;
    admin.get("/customers?username=bobby").await.expect(200);
    admin.get("/customers?email=b@b.de").await.expect(200);
    change(Method::PATCH, "/products/thing", json!({ "name": "Thing" }), 200).await;
    change(Method::PATCH, "/products/thing", json!({ "price": eur(1100) }), 200).await;
    for _ in 0..100 {
        change(Method::POST, "/products/thing/views", json!({}), 204).await;
    }
    let mut dear = things(2);
    (dear["discountCode"], dear["giftCards"]) = (json!("TEN"), json!(["GIFT"]));
    let order = ada.order("dear", dear.clone()).await.expect(201);
    ada.order("dear", dear).await.expect(201);
    ada.order("too many", things(1000)).await.expect(409);
    ada.post(&format!("/orders/{}/cancellation", order["orderId"].as_str().expect("an id")), json!({}))
        .await
        .expect(200);
}

/// What becomes of orders that wait.
async fn waiting(shop: &Shop) {
    let ada = shop.customer("ada");
    let mut dear = things(2);
    (dear["discountCode"], dear["giftCards"]) = (json!("TEN"), json!(["GIFT"]));
    let defect = Fault::Cancel { item: 0, code: "ValidationError", message: "an operand is of another type" };
    shop.wire().inject(Match::action("TransactWriteItems"), defect, 1);
    order_later(&ada, "later", dear).await.expect(202);
    until("the defect is met", async || shop.wire().pending() == 0).await;
    order_later(&ada, "too many, later", things(1000)).await.expect(202);
    shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": "no order" })).await;
    until("it is dead", async || shop.messages_in(DEAD_LETTERS).await == 1).await;
    until("one is left, which failed", async || shop.queued().await == 1).await;

    shop.wire().limit_writes(Some(WriteLimit::per_second(0.0))).await;
    let body =
        json!({ "version": 1, "customerId": "ada", "idempotencyKey": "w", "queuedAt": "2026-11-21T09:00:00.000Z" });
    let mut message = body;
    message["queuedAt"] = json!(key_schema::value::Timestamp::now().to_string());
    message["request"] = things(1);
    shop.sqs("SendMessage", QUEUE, json!({ "MessageBody": message.to_string() })).await;
    let hides = |ruling: &Ruling| ruling.ask.action == "sqs:ChangeMessageVisibility";
    until("it is hidden", async || shop.guard().rulings().iter().any(hides)).await;
    shop.wire().limit_writes(None).await;
}

/// What is given up is told to a queue.
async fn lost(shop: &Shop) {
    shop.settle().await;
    let counting = Match::action("TransactWriteItems").when(|request| request.to_string().contains("shard#"));
    shop.wire().inject(counting, Fault::InternalError, usize::MAX);
    shop.bus().fail(|_| Some("InternalFailure"));
    shop.customer("ada").order("lost", things(1)).await.expect(201);
    for queue in ["till-local-lost-counts", "till-local-lost-events"] {
        until(queue, async || shop.messages_in(queue).await > 0).await;
    }
    shop.wire().heal();
    shop.bus().heal();
}

/// Every kind of counter is wrong, and mended; and the schedule comes.
async fn drifted(shop: &Shop) {
    shop.settle().await;
    shop.add("c#ada", "stats", "orders", 3).await;
    shop.add("p#thing", "stats", "units", 5).await;
    shop.add(&format!("day#{}", key_schema::value::Timestamp::now().day()), "totals", "orders", 1).await;
    shop.reconcile(true).await;
    shop.reconciler()(json!({ "source": "aws.events", "detail": {} })).await.expect("an answer");
}

async fn eventful_day() -> Vec<Ruling> {
    let shop = open().await;
    story(&shop).await;
    now_and_then(&shop).await;
    waiting(&shop).await;
    lost(&shop).await;
    drifted(&shop).await;
    shop.guard().rulings()
}

/// The part of a statement that is about one action and, if it names keys, one pattern of them.
struct Grant {
    action: String,
    keys: Option<String>,
}

impl Grant {
    fn all_of(statement: &Statement) -> Vec<Self> {
        let keys = statement.conditions.iter().find(|condition| condition.key == LEADING_KEYS && named(condition));
        let keys = keys.map_or(vec![None], |condition| condition.values.iter().cloned().map(Some).collect());
        let actions = statement.actions.iter();
        actions.flat_map(|action| keys.iter().map(|keys| Self { action: action.clone(), keys: keys.clone() })).collect()
    }

    /// The statement without this part, and this part alone.
    fn split(&self, statement: &Statement) -> (Vec<Statement>, Statement) {
        let with = |actions: Vec<String>, keep: &dyn Fn(&String) -> bool| {
            let mut some = Statement { actions, ..statement.clone() };
            for condition in
                some.conditions.iter_mut().filter(|condition| condition.key == LEADING_KEYS && named(condition))
            {
                condition.values.retain(keep);
            }
            some
        };
        let others = statement.actions.iter().filter(|action| **action != self.action).cloned().collect();
        let is_this = |keys: &String| Some(keys) == self.keys.as_ref();
        let one = || vec![self.action.clone()];
        let mut rest = vec![with(others, &|_| true)];
        if self.keys.is_some() {
            rest.push(with(one(), &|keys| !is_this(keys)));
        }
        (rest, with(one(), &is_this))
    }
}

fn named(condition: &Condition) -> bool {
    condition.operator != Operator::IsNull
}

/// The part for transactions only, unless it is so already or never is in one.
fn in_transactions(part: Statement) -> Option<Statement> {
    let single = ["GetItem", "PutItem", "UpdateItem", "DeleteItem"].map(|action| format!("dynamodb:{action}"));
    let is_so = part.conditions.iter().any(|condition| condition.key == ENCLOSING_OPERATION);
    let transactions = ["TransactWriteItems", "TransactGetItems"].map(str::to_owned).to_vec();
    let operator = Operator::Equals(Quantifier::Any);
    let within = Condition { operator, key: ENCLOSING_OPERATION, values: transactions };
    let conditions = part.conditions.iter().cloned().chain([within]).collect();
    (!is_so && single.contains(&part.actions[0])).then(|| Statement { conditions, ..part })
}

/// What these calls of one function do not need of its role.
fn unneeded(policies: &[Policy], calls: &[&Ruling]) -> Vec<String> {
    let suffices = |at: usize, place: usize, replacement: Vec<Statement>| {
        let mut less = policies.to_vec();
        less[at].statements.splice(place..=place, replacement);
        calls.iter().all(|call| permit(&less, &call.ask))
    };
    let mut unneeded = Vec::new();
    for (at, policy) in policies.iter().enumerate() {
        for (place, statement) in policy.statements.iter().enumerate() {
            // Lambda writes the log, where nobody listens here.
            for grant in Grant::all_of(statement).into_iter().filter(|grant| !grant.action.starts_with("logs:")) {
                let (rest, part) = grant.split(statement);
                let what = format!("{} {:?} {:?}", grant.action, grant.keys, statement.resources);
                if suffices(at, place, rest.clone()) {
                    unneeded.push(what);
                } else if let Some(part) = in_transactions(part)
                    && suffices(at, place, rest.into_iter().chain([part]).collect())
                {
                    unneeded.push(format!("{what}, but in transactions"));
                }
            }
        }
    }
    unneeded
}

#[tokio::test(flavor = "multi_thread")]
async fn every_grant_is_needed_by_a_call() {
    let rulings = eventful_day().await;
    let mut vain = Vec::new();
    for function in crate::completeness::template().functions {
        let name = &function.logical_id;
        let calls: Vec<_> = rulings.iter().filter(|ruling| ruling.caller == *name).collect();
        vain.extend(unneeded(&function.role.policies, &calls).into_iter().map(|grant| format!("{name}: {grant}")));
    }
    assert!(vain.is_empty(), "of {} calls none needs:\n{}", rulings.len(), vain.join("\n"));
}
