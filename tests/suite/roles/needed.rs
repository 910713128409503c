//! No permission is unused: every action for every kind of key in each role is needed by some call of an eventful day.
//! A permission is needed if one of the calls would be refused without it.

use std::collections::BTreeSet;

use devstack::iam::{Ask, Condition, Operator, Policy, Quantifier, Ruling, Statement, permit};
use devstack::template::Function;

use super::day::{Day, eventful_day};

const LEADING_KEYS: &str = "dynamodb:LeadingKeys";
const ENCLOSING_OPERATION: &str = "dynamodb:EnclosingOperation";

/// The end of a resource that does not exist: the secret of a service that the shop of the day does not use. Its statement
/// permits nothing.
const NO_SECRET: &str = ":secret:none";

/// The key of the item with the phase of a migration. Functions read it only while the stack has two tables, but may do
/// so before and after: a deployment that gives up a table changes the roles before the functions.
const PHASE_OF_A_MIGRATION: &str = "migration";

/// Functions that run the code of another one for guests. So they need what the other one needs, and the day need not
/// have each case twice.
const FOR_GUESTS: [(&str, &str); 6] = [
    ("CancelGuestOrder", "CancelOrder"),
    ("PlaceGuestOrder", "PlaceOrder"),
    ("QuoteGuestBasket", "QuoteBasket"),
    ("QuoteGuestDiscount", "QuoteBasket"),
    ("RequestGuestReturn", "RequestReturn"),
    ("StartGuestPayment", "StartPayment"),
];

/// The part of a statement about one action on one resource and, if it names keys, one key pattern.
struct Grant<'a> {
    action: &'a String,
    resource: &'a String,
    keys: Option<&'a String>,
}

impl<'a> Grant<'a> {
    fn all_of(statement: &'a Statement) -> Vec<Self> {
        let keys = statement.conditions.iter().find(|condition| names_keys(condition));
        let keys = keys.map_or(vec![None], |condition| condition.values.iter().map(Some).collect());
        let mut all = Vec::new();
        for action in &statement.actions {
            for resource in &statement.resources {
                all.extend(keys.iter().map(|&keys| Self { action, resource, keys }));
            }
        }
        all
    }

    /// Splits a statement into the statements without this part, and this part alone.
    fn split(&self, statement: &Statement) -> (Vec<Statement>, Statement) {
        let part =
            |actions: &dyn Fn(&String) -> bool, resources: &dyn Fn(&String) -> bool, keys: &dyn Fn(&String) -> bool| {
                let mut part = statement.clone();
                part.actions.retain(actions);
                part.resources.retain(resources);
                part.conditions.iter_mut().filter(|condition| names_keys(condition)).for_each(|condition| {
                    condition.values.retain(keys);
                });
                part
            };
        let (action, resource) = (|it: &String| it == self.action, |it: &String| it == self.resource);
        let keys = |it: &String| Some(it) == self.keys;
        let any = |_: &String| true;
        let mut rest = vec![part(&|it| !action(it), &any, &any), part(&action, &|it| !resource(it), &any)];
        if self.keys.is_some() {
            rest.push(part(&action, &resource, &|it| !keys(it)));
        }
        (rest, part(&action, &resource, &keys))
    }
}

/// Whether the key is of the table's layout. Keys of the second layout begin with a capital letter.
fn is_of_table(keys: &str, resource: &str) -> bool {
    keys == "*" || keys.starts_with(char::is_uppercase) == resource.contains("-table-v2")
}

fn names_keys(condition: &Condition) -> bool {
    condition.key == LEADING_KEYS && condition.operator != Operator::IsNull
}

/// The part restricted to transactions, unless it already is, or is never used in one.
fn in_transactions(part: Statement) -> Option<Statement> {
    let single = ["GetItem", "PutItem", "UpdateItem", "DeleteItem"].map(|action| format!("dynamodb:{action}"));
    let is_so = part.conditions.iter().any(|condition| condition.key == ENCLOSING_OPERATION);
    let transactions = ["TransactWriteItems", "TransactGetItems"].map(str::to_owned).to_vec();
    let operator = Operator::Equals(Quantifier::Any);
    let within = Condition { operator, key: ENCLOSING_OPERATION, values: transactions };
    let conditions = part.conditions.iter().cloned().chain([within]).collect();
    (!is_so && single.contains(&part.actions[0])).then_some(Statement { conditions, ..part })
}

/// The permissions of a role that its function does not need in order to ask this.
fn unneeded(function: &str, policies: &[Policy], asks: &BTreeSet<&Ask>) -> Vec<String> {
    // A part of a statement is about one action, so other calls do not miss it.
    let suffices = |action: &str, at: usize, place: usize, replacement: Vec<Statement>| {
        let mut less = policies.to_vec();
        less[at].statements.splice(place..=place, replacement);
        asks.iter().filter(|ask| ask.action == action).all(|ask| permit(&less, ask))
    };
    // If the role denied a call, it would need each permission by this measure.
    let denied: Vec<_> = asks.iter().filter(|ask| !permit(policies, ask)).collect();
    assert!(denied.is_empty(), "{function}: {denied:?}");
    let mut unneeded = Vec::new();
    for (at, policy) in policies.iter().enumerate() {
        for (place, statement) in policy.statements.iter().enumerate() {
            // Lambda itself writes logs; nothing here calls that service.
            let is_asked = |Grant { action, resource, keys }: &Grant| {
                !action.starts_with("logs:")
                    && !resource.ends_with(NO_SECRET)
                    && keys.is_none_or(|keys| keys != PHASE_OF_A_MIGRATION && is_of_table(keys, resource))
            };
            for grant in Grant::all_of(statement).into_iter().filter(is_asked) {
                let (rest, part) = grant.split(statement);
                let what = format!("{} {} {:?}", grant.action, grant.resource, grant.keys);
                if suffices(grant.action, at, place, rest.clone()) {
                    unneeded.push(what);
                } else if let Some(part) = in_transactions(part)
                    && suffices(grant.action, at, place, rest.into_iter().chain([part]).collect())
                {
                    unneeded.push(format!("{what}, but in transactions"));
                }
            }
        }
    }
    unneeded
}

pub fn in_vain<'a>(functions: impl IntoIterator<Item = &'a Function>, rulings: &[Ruling]) -> Vec<String> {
    let mut vain = Vec::new();
    for Function { logical_id: name, role, .. } in functions {
        let alike = FOR_GUESTS.iter().find(|(guests, _)| guests == name).map(|(_, customers)| *customers);
        // A few calls are made for customers alone, such as the check that a customer is not erased.
        let is_alike = |ruling: &Ruling| Some(&*ruling.caller) == alike && permit(&role.policies, &ruling.ask);
        let calls = rulings.iter().filter(|ruling| ruling.caller == *name || is_alike(ruling));
        let asks = calls.map(|ruling| &ruling.ask).collect();
        vain.extend(unneeded(name, &role.policies, &asks).into_iter().map(|grant| format!("{name}: {grant}")));
    }
    vain
}

#[tokio::test(flavor = "multi_thread")]
async fn every_permission_is_needed_by_a_call() {
    let Day { rulings, functions, .. } = eventful_day().await;
    let vain = in_vain(functions, rulings);
    assert!(vain.is_empty(), "of {} calls none needs:\n{}", rulings.len(), vain.join("\n"));
}
