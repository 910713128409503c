//! The audit log: one line for each request by which staff change something, or try to. It says who, which route and
//! resource, with which result, and when. It has no bodies, names, addresses or codes.
//!
//! Every function runs in [`serve`](crate::serve()), so no route can be left out.

use std::collections::BTreeMap;

use key_schema::value::{CustomerId, ProductId};
use lambda::Outcome;
use serde::Serialize;

use crate::event;
use crate::{ADMIN_SCOPE, Answer, Reply, Route, Scope, Verb, card_number};

/// The value of `audit` in every line, by which the lines are found.
pub const AUDIT_MARK: &str = "staff";

/// The collections whose resources are named by codes. Anybody who knows a code can use it, so no line contains one.
pub const SECRET_COLLECTIONS: [&str; 2] = ["discounts", "gift-cards"];

/// The length of the longest id: an id of an order, and of a part of it.
const LONGEST_ID: usize = 128;

/// A request to be written to the audit log.
pub(crate) struct Audit {
    route: &'static Route,
    by: Option<CustomerId>,
    ids: BTreeMap<String, String>,
}

/// A line of the audit log.
#[serde_with::skip_serializing_none]
#[derive(Serialize)]
struct Entry<'a> {
    audit: &'static str,
    request_id: &'a str,
    /// The subject of the token. Absent if the request has no valid token.
    by: Option<&'a CustomerId>,
    method: &'static str,
    /// The route's path, with the names of the parameters.
    path: &'static str,
    /// The values of the path's parameters.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    ids: &'a BTreeMap<String, String>,
    /// The path of the resource that the request created.
    created: Option<&'a str>,
    /// The products that a batch names.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    products: &'a [AuditedProduct],
    status: u16,
    /// The resource's version after the request.
    version: Option<u64>,
    /// The kind of the problem, if the request was refused or failed.
    problem: Option<&'static str>,
    /// Whether a request that failed may have changed something.
    outcome: Option<Outcome>,
}

/// The result of one product of a batch.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditedProduct {
    pub(crate) product_id: ProductId,
    pub(crate) status: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<u64>,
}

impl Audit {
    /// The audit of a request by which staff may change something; `None` for all others. On a route of customers, the
    /// staff are the callers with the staff's scope. On a route of the staff, everybody is audited: also those who are
    /// refused because they are not staff.
    pub(crate) fn of(route: &'static Route, request: &lambda_http::Request) -> Option<Self> {
        if route.method == Verb::Get {
            return None;
        }
        let claims = event::claims(request);
        let is_staffs = match route.scope {
            Scope::Public => false,
            Scope::Shop => claims.and_then(|claims| claims.get("scope")).is_some_and(|scopes| is_of_staff(scopes)),
            Scope::Admin => true,
        };
        if !is_staffs {
            return None;
        }
        let by = claims.and_then(|claims| claims.get("sub")?.parse().ok());
        let ids = event::path_parameters(request).filter(|(_, value)| !names_secrets(route.path) && is_id(value));
        Some(Self { route, by, ids: ids.map(|(name, value)| (name.to_owned(), value.to_owned())).collect() })
    }

    /// Writes the line of the request with this result.
    pub(crate) fn write(&self, request_id: &str, answer: &Answer, outcome: Option<Outcome>) {
        let (reply, problem) = (answer.as_ref().ok(), answer.as_ref().err());
        let status = answer.as_ref().map_or_else(|problem| problem.kind().status(), Reply::status);
        lambda::audit(&Entry {
            audit: AUDIT_MARK,
            request_id,
            by: self.by.as_ref(),
            method: self.route.method.as_str(),
            path: self.route.path,
            ids: &self.ids,
            created: reply.and_then(Reply::location).filter(|path| !names_secrets(path)),
            products: reply.map_or(&[], Reply::products),
            status: status.as_u16(),
            version: reply.and_then(Reply::version),
            problem: problem.map(|problem| problem.kind().slug()),
            outcome: outcome.filter(|_| status.is_server_error()),
        });
    }
}

/// Whether the path is of a collection whose resources are named by codes.
fn names_secrets(path: &str) -> bool {
    SECRET_COLLECTIONS.iter().any(|name| path.split('/').nth(1) == Some(name))
}

fn is_of_staff(scopes: &str) -> bool {
    scopes.split(' ').any(|scope| scope == ADMIN_SCOPE)
}

/// Whether a value of a path's parameter may be an id. Others, such as an address, are not repeated.
fn is_id(value: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=LONGEST_ID).contains(&value.len()) && value.bytes().all(allowed) && !card_number::is_in(value)
}
