//! The page at `/`, which is the provider's dashboard: what it has recorded, and what a person can do there.

use std::fmt::Write as _;

use clap::ValueEnum;
use serde_json::json;

use super::ledger::{CARDS, DisputeStatus, RefundStatus, shown};
use super::{Answer, Call, Entry, Ledger, Status, Switches, Webhooks};

const AMOUNT: &str = "<input name=\"amount\" size=\"6\" placeholder=\"minor units\">";

/// The page, with the newest intents.
pub(super) fn of(url: &str, ledger: &Ledger) -> String {
    let mut rows = String::new();
    for entry in ledger.intents.values().rev().take(20) {
        _ = write!(
            rows,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:?}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(&entry.id),
            escaped(entry.order.as_deref().unwrap_or("-")),
            shown(entry.amount, &entry.currency),
            entry.status,
            shown(entry.captured, &entry.currency),
            shown(entry.refunded, &entry.currency),
            forms_of(entry),
        );
    }
    let waiting = ledger.unsent().count();
    let switches = switches(&ledger.switches);
    let calls = [vec![String::new()], names::<Call>()].concat();
    let next = format!("{} gets {}", choice("call", &calls, ""), choice("answer", &names::<Answer>(), ""));
    let next = form("next", "", &next, "plan");
    let planned = json!(ledger.switches.next);
    format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Pretend payment provider</title>
<style>form {{ display: inline-block; margin: 0 0.5em }} table {{ border-spacing: 1em 0.3em }}</style>
<h1>Pretend payment provider</h1>
<p>No money moves here. It speaks the part of Stripe's protocol that Till uses.</p>
<p>To pay, start the payment of an order, and confirm it with a test card below, or as a browser does:</p>
<pre>curl {url}/v1/payment_intents/INTENT_ID/confirm -d client_secret=CLIENT_SECRET -d payment_method=pm_card_visa</pre>
<h2>Troubles</h2>
<p>{switches}</p>
<p>The next call of the kind {next} Planned: {planned}</p>
<p>Webhooks that the API has not taken yet: {waiting}.</p>
<h2>Payments</h2>
<table><tr><th>intent<th>order<th>amount<th>status<th>captured<th>refunded<th></tr>{rows}</table>"
    )
}

/// The forms with which a person acts on an intent, its refunds and its disputes.
fn forms_of(entry: &Entry) -> String {
    let intent = hidden("intent", &entry.id);
    let on_intent = |act: &str, inputs: &str| form(act, &intent, inputs, act);
    let mut forms = match entry.status {
        Status::RequiresPaymentMethod => {
            on_intent("confirm", &choice("payment_method", &CARDS.map(|(_, method, _)| method), ""))
                + &on_intent("cancel", "")
        }
        Status::RequiresCapture => on_intent("capture", AMOUNT) + &on_intent("cancel", "") + &on_intent("expire", ""),
        Status::Succeeded => {
            let inquiry = format!("{intent}{}", hidden("inquiry", "true"));
            on_intent("refund", AMOUNT) + &on_intent("dispute", AMOUNT) + &form("dispute", &inquiry, "", "inquire")
        }
        Status::Canceled => String::new(),
    };
    for refund in entry.refunds.iter().filter(|refund| !refund.is_release()) {
        let id = hidden("refund", &refund.id);
        _ = write!(forms, "<br>{} {}: {:?}", refund.id, shown(refund.amount, &entry.currency), refund.status);
        if matches!(refund.status, RefundStatus::Pending | RefundStatus::Succeeded) {
            forms += &form("fail_refund", &id, "", "fail");
        }
        if refund.status == RefundStatus::Pending {
            forms += &form("cancel_refund", &id, "", "cancel");
        }
    }
    for dispute in &entry.disputes {
        _ = write!(forms, "<br>{} {}: {:?}", dispute.id, shown(dispute.amount, &entry.currency), dispute.status);
        let ends: &[_] = match dispute.status {
            DisputeStatus::NeedsResponse => &["won", "lost"],
            DisputeStatus::WarningNeedsResponse => &["warning_closed", "needs_response"],
            _ => &[],
        };
        for status in ends {
            let fields = hidden("dispute", &dispute.id) + &hidden("status", status);
            forms += &form("update_dispute", &fields, "", status);
        }
    }
    forms
}

/// The form of all switches.
fn switches(now: &Switches) -> String {
    let check = |name: &str, is_on: bool, label: &str| {
        let checked = if is_on { " checked" } else { "" };
        format!("<label><input type=\"checkbox\" name=\"{name}\" value=\"true\"{checked}> {label}</label> ")
    };
    let mode = json!(now.webhooks);
    let mode = choice("webhooks", &names::<Webhooks>(), mode.as_str().unwrap_or_default());
    let inputs = check("balance_is_empty", now.balance_is_empty, "the balance is empty: refunds stay pending")
        + &check("amount_refunded_falls", now.amount_refunded_falls, "a failed refund lowers amount_refunded")
        + &format!("webhooks are sent {mode}");
    form("switch", "", &inputs, "switch, and forget what is planned")
}

fn form(act: &str, fields: &str, inputs: &str, label: &str) -> String {
    format!("<form method=\"post\" action=\"/_pretend/{act}\">{fields}{inputs} <button>{label}</button></form>")
}

fn hidden(name: &str, value: &str) -> String {
    format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", escaped(value))
}

fn names<T: ValueEnum>() -> Vec<String> {
    let values = T::value_variants().iter().filter_map(T::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

fn choice(name: &str, values: &[impl AsRef<str>], chosen: &str) -> String {
    let options = values.iter().map(AsRef::as_ref).map(|value| {
        let selected = if value == chosen { " selected" } else { "" };
        let label = if value.is_empty() { "any" } else { value };
        format!("<option value=\"{value}\"{selected}>{label}</option>")
    });
    format!("<select name=\"{name}\">{}</select>", options.collect::<String>())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
