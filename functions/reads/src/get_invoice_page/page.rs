//! The page of an invoice: one document without scripts, which prints on A4.
//!
//! Each amount is an element `data`, whose value is the amount in minor units.

use http_api::Html;
use key_schema::entity::{Address, Balance, CardPayment, OrderStatus, Payment, PaymentState, WholeOrder};
use key_schema::value::Money;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Seller;

const STYLE: &str = include_str!("page.css");

pub(super) fn page(Seller { lines: seller, zone }: &Seller, whole: &WholeOrder) -> Html {
    let WholeOrder { order, invoice, address, .. } = whole;
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { "Invoice " (invoice.invoice_id) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                @if !seller.is_empty() { address class="seller" { (in_lines(seller.iter().map(String::as_str))) } }
                @if let Some(of_order) = address { (buyer(&of_order.address)) }
                h1 { "Invoice" }
                dl {
                    dt { "Invoice" } dd { (invoice.invoice_id) }
                    @if let Some(number) = &invoice.number { dt { "Number" } dd { (number) } }
                    dt { "Date" } dd { (zone.day(invoice.issued_at)) }
                    dt { "Order" } dd { (order.order_id) }
                }
                @if order.status == OrderStatus::Cancelled { p class="cancelled" { "This order is cancelled." } }
                (lines(whole))
                @if !invoice.taxes.is_empty() { (taxes(whole)) }
                @if order.credited() > 0 { (credits(whole)) }
                (payments(whole))
            }
        }
    };
    Html { document: document.into_string(), style: STYLE }
}

fn in_lines<'a>(lines: impl Iterator<Item = &'a str>) -> Markup {
    html! { @for line in lines { (line) br; } }
}

fn buyer(address: &Address) -> Markup {
    let Address { name, line1, line2, city, postal_code, region, country } = address;
    let place = postal_code.as_deref().map_or_else(|| city.clone(), |code| format!("{code} {city}"));
    let country = country.to_string();
    let lines = [Some(&**name), Some(line1), line2.as_deref(), Some(&place), region.as_deref(), Some(&country)];
    html! { address class="buyer" { (in_lines(lines.into_iter().flatten())) } }
}

/// The lines, and the sums that make the total.
fn lines(WholeOrder { order, lines, .. }: &WholeOrder) -> Markup {
    html! {
        table class="lines" {
            thead { tr { th { "Item" } th { "Units" } th { "Price" } th { "Amount" } th { "Discount" } th { "Tax" } } }
            tbody {
                @for (line, net) in lines.iter().zip(order.net_amounts(lines)) {
                    tr {
                        td { (line.name) }
                        td { (line.quantity.get()) }
                        td class="price" { (money(line.unit_price)) }
                        td class="amount" { (money(line.amount)) }
                        td class="share" { (minor(line.amount.amount() - net, order.total)) }
                        td { @if let Some(tax) = line.tax { (tax.rate) } }
                    }
                }
            }
        }
        table class="sums" {
            (row("subtotal", "Subtotal", order.subtotal))
            @if !order.discount.is_zero() { (row("discount", "Discount, taken off", order.discount)) }
            @if let Some(shipping) = order.shipping { (row("shipping", "Shipping", shipping)) }
            @if let Some(tax) = order.tax { (row("tax", "Tax", tax)) }
            (row("total", "Total", order.total))
        }
    }
}

fn taxes(WholeOrder { invoice, .. }: &WholeOrder) -> Markup {
    html! {
        table class="taxes" {
            caption { "Taxes in the total" }
            thead { tr { th { "Rate" } th { "Net" } th { "Tax" } } }
            tbody {
                @for of_rate in &invoice.taxes {
                    tr {
                        td { (of_rate.rate) }
                        td class="net" { (money(of_rate.net)) }
                        td class="tax" { (money(of_rate.tax)) }
                    }
                }
            }
        }
    }
}

/// What was given back: for units that were cancelled or returned, and without units.
fn credits(WholeOrder { order, lines, .. }: &WholeOrder) -> Markup {
    html! {
        table class="credits" {
            caption { "Credits" }
            thead { tr { th { "Item" } th { "Units" } th { "Credit" } } }
            tbody {
                @for credit in &order.credits {
                    tr {
                        @let line = lines.iter().find(|line| line.product_id == credit.product_id);
                        td { @if let Some(line) = line { (line.name) } }
                        td { (credit.units) }
                        td class="credit" { (minor(credit.amount, order.total)) }
                    }
                }
                @for allowance in &order.allowances {
                    tr {
                        td { (allowance.reason.as_deref().unwrap_or(if allowance.key.is_none() { "Shipping" } else { "" })) }
                        td {}
                        td class="credit" { (minor(allowance.amount, order.total)) }
                    }
                }
                @for of_rate in order.credited_taxes(lines) {
                    tr {
                        td { "Tax in the credits, " (of_rate.rate) }
                        td {}
                        td class="credit-tax" { (money(of_rate.tax)) }
                    }
                }
            }
        }
    }
}

/// The payments. The page has no codes of gift cards: they are money, and paper is passed on.
fn payments(WholeOrder { invoice, .. }: &WholeOrder) -> Markup {
    html! {
        table class="payments" {
            caption { "Payments" }
            @for payment in &invoice.payments {
                @let Balance { received, returned, due } = payment.balance();
                @let name = if payment.card().is_some() { "Card or bank transfer" } else { "Gift card" };
                @if !received.is_zero() { (row("received", &format!("{name}: paid"), received)) }
                @if !returned.is_zero() { (row("returned", &format!("{name}: returned"), returned)) }
                @if !due.is_zero() { (row("due", &format!("{name}: to be returned"), due)) }
                @let open = open(payment);
                @if !open.is_zero() {
                    @if payment.state() == PaymentState::Authorized {
                        (row("reserved", &format!("{name}: reserved, not charged yet"), open))
                    } @else {
                        (row("open", "To pay", open))
                    }
                }
            }
        }
    }
}

/// The amount that the shop wants of a payment, and does not have yet.
fn open(payment: &Payment) -> Money {
    let Balance { received, returned, due } = payment.balance();
    let kept = received.amount() - returned.amount() - due.amount();
    let wanted = payment.card().map_or(kept, CardPayment::wanted);
    Money::nearest(wanted - kept, received.currency())
}

fn row(class: &str, name: &str, amount: Money) -> Markup {
    html! { tr class=(class) { td { (name) } td { (money(amount)) } } }
}

/// An amount in minor units, of the same currency as `like`.
fn minor(amount: i64, like: Money) -> Markup {
    money(Money::nearest(amount, like.currency()))
}

fn money(amount: Money) -> Markup {
    html! { data value=(amount.amount()) { (amount.written()) } }
}
