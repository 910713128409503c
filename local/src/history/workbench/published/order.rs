//! The items of an order as a record.

use key_schema::entity::OrderStatus;
use key_schema::value::{Money, Quantity, Timestamp};

use super::super::super::order_record::{CancellationRecord, CardRecord, LineRecord, OrderRecord, TransferRecord};
use super::super::super::record::Record;
use super::super::finding::Kind;
use super::Publication;
use super::attributes::{Attributes, ItemKind};

/// Why everything else of an order is left out if a line is: without it the order would be another one.
const ORDER_LEFT_OUT: &str = "a line of its order is left out";

/// The items of an order.
#[derive(Default)]
pub(super) struct Parts {
    headers: Vec<Attributes>,
    lines: Vec<Attributes>,
    invoices: Vec<Attributes>,
    payments: Vec<Attributes>,
}

/// What the money items of an order say.
struct Paid {
    invoice: Option<(String, Timestamp, Option<Money>)>,
    /// The sum of the payments, and the id of the first one.
    payments: Option<(Money, Option<String>)>,
}

impl Parts {
    pub(super) fn add(&mut self, kind: ItemKind, item: Attributes) {
        match kind {
            ItemKind::Line => self.lines.push(item),
            ItemKind::Invoice => self.invoices.push(item),
            ItemKind::Payment => self.payments.push(item),
            ItemKind::Order | ItemKind::Customer | ItemKind::Product => self.headers.push(item),
        }
    }

    fn all(self) -> impl Iterator<Item = Attributes> {
        self.headers.into_iter().chain(self.lines).chain(self.invoices).chain(self.payments)
    }
}

impl Publication {
    /// Adds the record of an order, or leaves its items out.
    pub(super) fn order(&mut self, id: &str, mut parts: Parts) {
        let order_id = match (id.parse(), parts.headers.len()) {
            (Ok(order_id), 1) => order_id,
            (Ok(_), 0) => return self.leave_all_out(parts, "the order itself is not there"),
            (Ok(_), _) => return self.leave_all_out(parts, "there are several orders with this id"),
            (Err(invalid), _) => return self.leave_all_out(parts, &format!("{id}: {invalid}")),
        };
        let mut header = parts.headers.remove(0);
        let customer = header.id(ItemKind::Customer).unwrap_or_default();
        let Ok(customer_id) = customer.parse() else {
            parts.headers.push(header);
            return self.leave_all_out(parts, &format!("{customer:?} is the id of no customer"));
        };
        let placed_at = header.time(
            &["placedat", "orderdate", "orderedat", "createdat", "created", "date"],
            self.since,
            "the order",
        );
        let mut items = std::mem::take(&mut parts.lines);
        let lines: Vec<_> = items.iter_mut().map(|item| self.line(item)).collect();
        if lines.iter().any(Result::is_err) {
            for (item, line) in items.iter().zip(lines) {
                self.leave_out(item, line.err().unwrap_or_else(|| ORDER_LEFT_OUT.to_owned()));
            }
            parts.headers.push(header);
            return self.leave_all_out(parts, ORDER_LEFT_OUT);
        }
        for item in &items {
            self.finish(item);
        }
        let lines: Vec<_> = lines.into_iter().flatten().collect();
        let sum = lines.iter().try_fold(Money::zero(self.amounts.currency), |sum, line| {
            sum.checked_add(line.unit_price.checked_mul(line.quantity.get())?)
        });
        let Some(sum) = sum else {
            parts.headers.push(header);
            return self.leave_all_out(parts, "its lines are worth more than any amount");
        };
        let paid = self.paid(parts, placed_at);
        let total = self.total(&mut header, sum, &paid);
        let status = status(&mut header, &paid);
        let card = card(&mut header, status, total, paid.payments);
        let (invoice_id, issued_at) = match paid.invoice.map(|(id, at, _)| (id.parse(), at)) {
            Some((Ok(id), at)) => (Some(id), Some(at)),
            Some((Err(invalid), at)) => {
                header.make_up(format!("the id of the invoice, because {invalid}"));
                (None, Some(at))
            }
            None => (None, None),
        };
        let cancellation = (status == OrderStatus::Cancelled).then(|| {
            header.make_up("the time of the cancellation: that of the order");
            CancellationRecord { at: placed_at, reason: None, cause: None }
        });
        let record = OrderRecord {
            order_id,
            customer_id,
            status,
            placed_at,
            changed_at: None,
            version: 1,
            lines,
            discount: None,
            codes: Vec::new(),
            shipping: None,
            shipping_tax: None,
            ship_to: None,
            total,
            gift_cards: Vec::new(),
            card,
            invoice_id,
            invoice_number: None,
            issued_at,
            pay_later: false,
            cancellation,
            delivered_at: None,
            credits: Vec::new(),
            returns: Vec::new(),
            shipments: Vec::new(),
            flag: None,
            due_since: None,
            request_hash: None,
        };
        self.add(&header, Record::Order(Box::new(record)));
    }

    fn leave_all_out(&mut self, parts: Parts, why: &str) {
        parts.all().for_each(|item| self.leave_out(&item, why));
    }

    /// The record of a line. An error says why there is none.
    fn line(&self, item: &mut Attributes) -> Result<LineRecord, String> {
        let product = item.id(ItemKind::Product).unwrap_or_default();
        let product_id = product.parse().map_err(|_| format!("{product:?} is the id of no product"))?;
        let unit_price = item.money(&["unitprice", "price"], self.amounts);
        let unit_price = unit_price.ok_or("a line needs the price of the day, which cannot be made up")??;
        let quantity = item.whole::<i64>(&["quantity", "qty", "units", "count"])?.unwrap_or_else(|| {
            item.make_up("a quantity of 1");
            1
        });
        let quantity = Quantity::try_from(quantity).map_err(|_| format!("{quantity} is no quantity"))?;
        let name = item.text(&["name", "productname", "title"]).unwrap_or_else(|| {
            let name = self.names.get(&product).cloned().unwrap_or_else(|| product.clone());
            item.make_up(format!("the name {name}, as the product has it today"));
            name
        });
        Ok(LineRecord { product_id, name, quantity, unit_price, discount: None, tax: None })
    }

    /// Reads invoices and payments.
    fn paid(&mut self, parts: Parts, placed_at: Timestamp) -> Paid {
        let mut paid = Paid { invoice: None, payments: None };
        for mut item in parts.invoices {
            if paid.invoice.is_some() {
                self.leave_out(&item, "an order has one invoice");
                continue;
            }
            let id = item.id(ItemKind::Invoice).unwrap_or_default();
            let issued_at = item.time(&["issuedat", "invoicedate", "createdat", "date"], placed_at, "the invoice");
            let amount = match item.money(&["amount", "total", "invoiceamount"], self.amounts) {
                Some(Err(why)) => {
                    self.note(&item, Kind::Contradiction, why);
                    None
                }
                amount => amount.and_then(Result::ok),
            };
            self.finish(&item);
            paid.invoice = Some((id, issued_at, amount));
        }
        for mut item in parts.payments {
            let id = item.id(ItemKind::Payment);
            let Some(Ok(amount)) = item.money(&["amount", "total", "paymentamount"], self.amounts) else {
                self.leave_out(&item, "a payment needs an amount");
                continue;
            };
            let Some((sum, first)) = paid.payments.take() else {
                paid.payments = Some((amount, id));
                self.finish(&item);
                continue;
            };
            let Some(more) = sum.checked_add(amount) else {
                paid.payments = Some((sum, first));
                self.leave_out(&item, "the payments are worth more than any amount");
                continue;
            };
            paid.payments = Some((more, first));
            item.make_up("that all payments of the order are one: Till has one besides gift cards");
            self.finish(&item);
        }
        paid
    }

    /// The total of the order. If the parts disagree, the record has what the money says, and the law refuses it.
    fn total(&mut self, header: &mut Attributes, sum: Money, paid: &Paid) -> Money {
        let said = match header.money(&["total", "totalamount", "ordertotal", "amount"], self.amounts) {
            Some(Err(why)) => {
                self.note(header, Kind::Contradiction, why);
                None
            }
            said => said.and_then(Result::ok),
        };
        let of_invoice = paid.invoice.as_ref().and_then(|(_, _, amount)| *amount);
        let of_payments = paid.payments.as_ref().map(|(amount, _)| *amount);
        let mut total = sum;
        for (what, amount) in [("order says", said), ("invoice says", of_invoice), ("payments are", of_payments)] {
            if let Some(amount) = amount.filter(|amount| *amount != sum) {
                self.note(header, Kind::Contradiction, format!("its lines are {sum}, and its {what} {amount}"));
                total = amount;
            }
        }
        total
    }
}

/// The payment of the order.
fn card(
    header: &mut Attributes,
    status: OrderStatus,
    total: Money,
    payments: Option<(Money, Option<String>)>,
) -> Option<CardRecord> {
    let (amount, reference) = match payments {
        Some((amount, reference)) => {
            match status {
                OrderStatus::Pending => header.make_up("that the payment is not captured, because the order is open"),
                OrderStatus::Cancelled => header.make_up("that the payment was voided, because the order is cancelled"),
                _ => {}
            }
            (amount, reference)
        }
        None if total.is_zero() => return None,
        None => {
            header.make_up(match status {
                OrderStatus::Pending => format!("a payment of {total} that has not come"),
                OrderStatus::Cancelled => format!("a payment of {total} that never came"),
                _ => format!("a payment of {total} that came"),
            });
            (total, None)
        }
    };
    // Of an order that is cancelled or open, no money is left.
    let came = !matches!(status, OrderStatus::Pending | OrderStatus::Cancelled);
    let transfer = came.then(|| TransferRecord {
        reference: reference.unwrap_or_else(|| "unknown".to_owned()),
        amount: amount.amount(),
    });
    Some(CardRecord { amount, transfer, provider: None, expired: false, written_off: 0, refunds: Vec::new() })
}

/// The status that the order says or, if it says none, the one that its invoice and its payments suggest.
fn status(header: &mut Attributes, paid: &Paid) -> OrderStatus {
    let text = header.text(&["status", "orderstatus", "state"]);
    let plain = text.as_deref().map(str::to_lowercase);
    let said = plain.as_deref().and_then(|status| match status {
        "pending" | "placed" | "new" | "open" | "created" => Some(OrderStatus::Pending),
        "paid" | "confirmed" | "processing" | "accepted" => Some(OrderStatus::Paid),
        "packing" | "packed" | "partially shipped" => Some(OrderStatus::Packing),
        "shipped" | "sent" | "in transit" => Some(OrderStatus::Shipped),
        "delivered" | "completed" | "complete" | "closed" | "fulfilled" => Some(OrderStatus::Delivered),
        "cancelled" | "canceled" => Some(OrderStatus::Cancelled),
        _ => None,
    });
    if let Some(status) = said {
        return status;
    }
    let status = match (&paid.invoice, &paid.payments) {
        (None, None) => OrderStatus::Pending,
        _ => OrderStatus::Delivered,
    };
    let because = match (text, status) {
        (Some(text), _) => format!("because Till has no status {text}"),
        (None, OrderStatus::Pending) => "because it has neither invoice nor payment".to_owned(),
        (None, _) => "because it has an invoice or a payment, and history is closed".to_owned(),
    };
    header.make_up(format!("the status {status}, {because}"));
    status
}
