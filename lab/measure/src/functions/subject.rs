//! The subjects of the measurement: functions, their events and their budgets.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use devstack::Template;
use serde_json::{Value, json};

use super::budget::Budget;
use super::shop::{ORDERED, Shop};
use crate::workspace::sample;

/// A program that runs on Lambda.
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) binary: PathBuf,
    /// The function of Till whose sample event the program gets.
    pub(super) sample: &'static str,
    pub(super) change: Change,
}

/// Changes a sample event into the `n`th event. For a function that writes, each event is different.
pub(super) type Change = fn(&mut Value, &Shop, u32) -> Result<()>;

/// Leaves the sample event as it is.
pub(super) const UNCHANGED: Change = |_, _, _| Ok(());

impl Subject {
    /// The `n`th event.
    pub(super) fn event(&self, shop: &Shop, n: u32) -> Result<Value> {
        let mut event = sample(self.sample)?;
        (self.change)(&mut event, shop, n)?;
        Ok(event)
    }
}

/// A measured function of Till.
pub(super) struct Function {
    pub(super) name: &'static str,
    pub(super) change: Change,
    pub(super) budget: Budget,
}

/// The measured functions of Till. The budgets are a few per cent above the measured figures, for binaries from cargo
/// and from cargo-lambda, whose linker zig uses other start-up code; more for memory and the first event, which vary.
/// docs/performance.md explains the figures.
pub(super) const FUNCTIONS: &[Function] = &[
    Function {
        name: "get-product",
        change: UNCHANGED,
        budget: Budget { init: 11.0, first: 4.9, warm: 4.7, binary: 6.7, memory: 3.8, system_calls: 13.5 },
    },
    Function {
        name: "get-order",
        change: |event, shop, _| {
            event["pathParameters"]["orderId"] = json!(shop.order);
            event["rawPath"] = json!(format!("/orders/{}", shop.order));
            Ok(())
        },
        budget: Budget { init: 11.0, first: 5.8, warm: 5.7, binary: 6.7, memory: 3.8, system_calls: 13.5 },
    },
    Function {
        name: "list-orders",
        change: UNCHANGED,
        budget: Budget { init: 55.0, first: 74.0, warm: 64.0, binary: 6.7, memory: 4.2, system_calls: 78.0 },
    },
    Function {
        name: "place-order",
        change: |event, _, n| {
            event["headers"]["idempotency-key"] = json!(format!("measured-{n:06}"));
            event["body"] = json!(one_line().to_string());
            Ok(())
        },
        budget: Budget { init: 11.8, first: 9.8, warm: 9.7, binary: 7.7, memory: 4.1, system_calls: 16.8 },
    },
    Function {
        name: "drain-writes",
        change: |event, _, n| {
            let message = json!({
                "version": 1, "customerId": "ada", "idempotencyKey": format!("waiting-{n:06}"), "request": one_line(),
                "queuedAt": "2026-11-21T09:34:50.000Z",
            });
            event["Records"][0]["body"] = json!(message.to_string());
            Ok(())
        },
        budget: Budget { init: 11.8, first: 10.7, warm: 10.6, binary: 7.7, memory: 4.1, system_calls: 23.0 },
    },
    Function {
        name: "count-orders",
        change: |event, _, n| {
            let records = event["Records"].as_array_mut().context("the sample event has no records")?;
            for (place, record) in records.iter_mut().enumerate() {
                // Rising, with the same length as those of the stream.
                record["dynamodb"]["SequenceNumber"] =
                    json!(format!("4421584500000000{:012}", 2 * u64::from(n) + place as u64));
            }
            Ok(())
        },
        budget: Budget { init: 11.0, first: 10.4, warm: 6.3, binary: 7.7, memory: 4.0, system_calls: 14.0 },
    },
];

/// The functions of the short form, with the budgets of their development builds: one that reads, one that writes, one
/// that consumes. Such a build is there after the tests, and its counts repeat like those of a release.
pub(super) const SHORT: &[(&str, Budget)] = &[
    ("get-product", Budget { init: 22.0, first: 22.0, warm: 6.5, binary: 7.1, memory: 5.1, system_calls: 13.5 }),
    ("place-order", Budget { init: 22.0, first: 24.0, warm: 15.4, binary: 9.5, memory: 6.6, system_calls: 16.8 }),
    ("drain-writes", Budget { init: 22.0, first: 25.0, warm: 16.1, binary: 8.4, memory: 6.2, system_calls: 23.0 }),
];

fn one_line() -> Value {
    json!({ "lines": [{ "productId": ORDERED, "quantity": 1 }] })
}

/// The environment variables of a function on Lambda: the template's and Lambda's own.
pub(super) fn environment(template: &Template, function: &str) -> BTreeMap<String, String> {
    let declared = template.functions.iter().find(|declared| declared.handler == function);
    let mut environment = declared.map(|declared| declared.environment.clone()).unwrap_or_default();
    // Also for the floor.
    environment.insert("TABLE_NAME".to_owned(), template.table_name().to_owned());
    let own = [
        ("AWS_REGION", "us-east-1"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ACCESS_KEY_ID", "ASIAMEASUREDMEASURED"),
        ("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        ("_HANDLER", function),
        ("AWS_LAMBDA_FUNCTION_NAME", "measured"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
        ("AWS_LAMBDA_LOG_LEVEL", "INFO"),
        ("LANG", "en_US.UTF-8"),
        ("TZ", ":UTC"),
    ];
    environment.extend(own.map(|(name, value)| (name.to_owned(), value.to_owned())));
    // About as long as a real session token, which is sent and signed with every request.
    environment.insert("AWS_SESSION_TOKEN".to_owned(), "IQoJb3JpZ2luX2VjE".repeat(50));
    // Without a rate limit, so that the drain does not sleep.
    environment.insert("DRAIN_WRITE_UNITS".to_owned(), "1000000".to_owned());
    environment
}
