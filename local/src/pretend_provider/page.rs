//! The provider's dashboard: what it has recorded, and what a person can do there. The console shows it.

use clap::ValueEnum;
use maud::{Markup, html};
use serde_json::json;

use super::ledger::{CARDS, DisputeStatus, RefundStatus, shown};
use super::{Answer, Call, Entry, Ledger, Status, Switches, Webhooks};

/// The newest intents, with the forms to act on them.
pub(super) fn of(url: &str, ledger: &Ledger) -> Markup {
    html! {
        h1 { "Payments" }
        p.quiet {
            "A pretend provider at " code { (url) } ". It speaks the part of Stripe’s protocol that Till uses, and moves no money."
        }
        @if ledger.intents.is_empty() {
            p { "No payment was started yet. Order something in the " a href="/_local/shop" { "shop" } ": its last page pays." }
        } @else {
            ul.payments { @for entry in ledger.intents.values().rev().take(20) { li { (intent(entry)) } } }
        }
        h2 { "Troubles" }
        p { "Webhooks that the API has not taken yet: " (ledger.unsent().count()) "." }
        (switches(&ledger.switches))
        (form("next", &html! {}, &html! {
            (choice("The next call", "call", &[vec![String::new()], names::<Call>()].concat(), ""))
            (choice("is answered with", "answer", &names::<Answer>(), ""))
        }, "Plan"))
        @if !ledger.switches.next.is_empty() { p { "Planned: " code { (json!(ledger.switches.next)) } } }
    }
}

fn intent(entry: &Entry) -> Markup {
    let amount = |amount| shown(amount, &entry.currency);
    html! {
        h2 { (amount(entry.amount)) " " span.quiet { (format!("{:?}", entry.status)) } }
        dl.pairs {
            dt { "intent" } dd { code { (entry.id) } }
            @if let Some(order) = &entry.order {
                dt { "order" } dd { a href={ "/_local/table?partition=o%23" (order) } { code { (order) } } }
            }
            @if entry.captured > 0 { dt { "captured" } dd { (amount(entry.captured)) } }
            @if entry.refunded > 0 { dt { "refunded" } dd { (amount(entry.refunded)) } }
        }
        (acts_on(entry))
    }
}

/// The forms with which a person acts on an intent, its refunds and its disputes.
fn acts_on(entry: &Entry) -> Markup {
    let intent = hidden("intent", &entry.id);
    let on_intent = |act: &str, inputs: &Markup, label: &str| form(act, &intent, inputs, label);
    let (none, amount) = (html! {}, amount_field());
    html! {
        div.acts {
            @match entry.status {
                Status::RequiresPaymentMethod => {
                    (on_intent("confirm", &choice("Card", "payment_method", &CARDS.map(|(_, method, _)| method), ""), "Pay"))
                    (on_intent("cancel", &none, "Cancel"))
                }
                Status::RequiresCapture => {
                    (on_intent("capture", &amount, "Capture"))
                    (on_intent("cancel", &none, "Cancel"))
                    (on_intent("expire", &none, "Let it expire"))
                }
                Status::Succeeded => {
                    (on_intent("refund", &amount, "Refund"))
                    (on_intent("dispute", &amount, "Dispute"))
                    (form("dispute", &html! { (intent) (hidden("inquiry", "true")) }, &none, "Inquire"))
                }
                Status::Canceled => {}
            }
        }
        @for refund in entry.refunds.iter().filter(|refund| !refund.is_release()) {
            @let id = hidden("refund", &refund.id);
            p { "Refund of " (shown(refund.amount, &entry.currency)) ": " (format!("{:?}", refund.status)) " " code { (refund.id) } }
            div.acts {
                @if matches!(refund.status, RefundStatus::Pending | RefundStatus::Succeeded) { (form("fail_refund", &id, &none, "Let it fail")) }
                @if refund.status == RefundStatus::Pending { (form("cancel_refund", &id, &none, "Cancel")) }
            }
        }
        @for dispute in &entry.disputes {
            p { "Dispute of " (shown(dispute.amount, &entry.currency)) ": " (format!("{:?}", dispute.status)) " " code { (dispute.id) } }
            div.acts {
                @for status in ends(dispute.status) {
                    (form("update_dispute", &html! { (hidden("dispute", &dispute.id)) (hidden("status", status)) }, &none, status))
                }
            }
        }
    }
}

/// What a dispute may become next.
fn ends(status: DisputeStatus) -> &'static [&'static str] {
    match status {
        DisputeStatus::NeedsResponse => &["won", "lost"],
        DisputeStatus::WarningNeedsResponse => &["warning_closed", "needs_response"],
        _ => &[],
    }
}

/// The form of all switches.
fn switches(now: &Switches) -> Markup {
    let check = |name: &str, is_on: bool, label: &str| {
        html! { label { input type="checkbox" name=(name) value="true" checked[is_on]; " " (label) } }
    };
    let mode = json!(now.webhooks);
    let inputs = html! {
        (check("balance_is_empty", now.balance_is_empty, "the balance is empty: refunds stay pending"))
        (check("amount_refunded_falls", now.amount_refunded_falls, "a failed refund lowers amount_refunded"))
        (choice("Webhooks are sent", "webhooks", &names::<Webhooks>(), mode.as_str().unwrap_or_default()))
    };
    form("switch", &html! {}, &inputs, "Switch, and forget what is planned")
}

fn form(act: &str, fields: &Markup, inputs: &Markup, label: &str) -> Markup {
    html! { form.row method="post" action={ "/_local/payments/" (act) } { (fields) (inputs) " " button { (label) } } }
}

fn amount_field() -> Markup {
    html! { label.field { "Minor units" input name="amount" size="6" inputmode="numeric" placeholder="all"; } }
}

fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}

fn names<T: ValueEnum>() -> Vec<String> {
    let values = T::value_variants().iter().filter_map(T::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect()
}

fn choice(label: &str, name: &str, values: &[impl AsRef<str>], chosen: &str) -> Markup {
    html! {
        label.field { (label) select name=(name) {
            @for value in values.iter().map(AsRef::as_ref) {
                option value=(value) selected[value == chosen] { (if value.is_empty() { "any" } else { value }) }
            }
        } }
    }
}
