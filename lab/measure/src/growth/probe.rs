//! Measures a route: its requests to DynamoDB and their capacity.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use devstack::Stack;
use devstack::fault_proxy::{Access, Call};
use key_schema::value::CustomerId;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    /// The requests to DynamoDB, for example `BatchGetItem, TransactWriteItems`.
    pub(super) requests: String,
    pub(super) read: f64,
    /// Write units of the table, of GSI1 and of GSI2.
    pub(super) written: [f64; 3],
}

/// One route, measured.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    /// The description of the operation.
    pub(super) what: String,
    /// The cost, which is the same in every round.
    pub(super) cost: Cost,
}

/// The measured stack, and the figures so far.
pub(super) struct Probe<'a> {
    stack: &'a Stack,
    http: Client,
    admin: String,
    seen: Vec<Measured>,
}

impl<'a> Probe<'a> {
    pub(super) fn of(stack: &'a Stack) -> Result<Self> {
        let admin = stack.token("measure", http_api::ADMIN_SCOPE)?;
        Ok(Self { stack, http: Client::builder().no_proxy().build()?, admin, seen: Vec::new() })
    }

    /// The figures, in the order of the first measurements.
    pub(super) fn measured(self) -> Vec<Measured> {
        self.seen
    }

    /// Reads something, as an admin.
    ///
    /// # Errors
    /// The answer is not a success, or the cost is another one than before. The same holds for all operations.
    pub(super) async fn get(&mut self, what: &str, path: &str) -> Result<Value> {
        self.send(what, Method::GET, path, &Value::Null).await
    }

    /// Places an order.
    pub(super) async fn place(&mut self, shopper: &CustomerId, what: &str, key: &str, body: &Value) -> Result<Value> {
        let shopper = self.stack.token(shopper.as_str(), http_api::SHOP_SCOPE)?;
        let request = self.http.post(format!("{}/orders", self.stack.url())).header("idempotency-key", key);
        self.measure(what, request.bearer_auth(shopper).json(body)).await
    }

    /// Changes something, as an admin.
    pub(super) async fn send(&mut self, what: &str, method: Method, path: &str, body: &Value) -> Result<Value> {
        self.measure(what, self.request(method, path, body)).await
    }

    /// Changes something, as an admin, without measuring.
    pub(super) async fn prepare(&self, method: Method, path: &str, body: &Value) -> Result<()> {
        self.request(method, path, body).send().await?.error_for_status()?;
        Ok(())
    }

    fn request(&self, method: Method, path: &str, body: &Value) -> RequestBuilder {
        let is_put = method == Method::PUT;
        let request = self.http.request(method, format!("{}{path}", self.stack.url())).bearer_auth(&self.admin);
        // The request may create the resource.
        let request = if is_put { request } else { request.header("if-match", "*") };
        if body.is_null() { request } else { request.json(body) }
    }

    async fn measure(&mut self, what: &str, request: RequestBuilder) -> Result<Value> {
        let proxy = self.stack.fault_proxy().context("the stack has no proxy")?;
        proxy.take_calls();
        let response = request.send().await?;
        let (status, body) = (response.status(), response.text().await?);
        ensure!(status.is_success(), "{what}: {status}: {body}");

        let cost = Cost::of(&proxy.take_calls());
        match self.seen.iter().find(|seen| seen.what == what) {
            Some(seen) => ensure!(seen.cost == cost, "{what}: cost {:?} once and {cost:?} another time", seen.cost),
            None => self.seen.push(Measured { what: what.to_owned(), cost }),
        }
        if status == StatusCode::NO_CONTENT { Ok(Value::Null) } else { Ok(serde_json::from_str(&body)?) }
    }
}

impl Cost {
    fn of(calls: &[Call]) -> Self {
        let mut actions: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut read, mut written) = (0.0, [0.0; 3]);
        for call in calls {
            *actions.entry(&call.action).or_default() += 1;
            for consumed in &call.consumed {
                match consumed.access {
                    Access::Read => read += consumed.units(),
                    Access::Write => {
                        let of = |index: &str| consumed.index_units.get(index).copied().unwrap_or_default();
                        let units = [consumed.table_units, of("GSI1"), of("GSI2")];
                        written.iter_mut().zip(units).for_each(|(sum, units)| *sum += units);
                    }
                }
            }
        }
        let times = |(action, times): (&str, usize)| match times {
            1 => action.to_owned(),
            times => format!("{times} x {action}"),
        };
        Self { requests: actions.into_iter().map(times).collect::<Vec<_>>().join(", "), read, written }
    }
}
