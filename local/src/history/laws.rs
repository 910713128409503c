//! The laws that an order of a file must keep: those of the audit, and those of its dates, ids and sizes.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{
    Cancellation, CodeUse, Credit, LineUnits, Order, OrderAddress, OrderFlag, OrderLine, OrderStatus, Payment,
    PaymentDue, ReturnStatus, WholeOrder, Work, is_recent, tax_on_top,
};
use key_schema::value::{DiscountCode, InvoiceId, Money, ProductId, RequestHash, Timestamp};
use ordering::{MOST_CODES, MOST_GIFT_CARDS, MOST_LINES};
use table::{ProductShards, StatusShards};

use super::order_parts::invoice;
use super::order_record::{AllowanceRecord, CardRecord, OrderRecord};
use super::record::{past, require};
use crate::audit;

/// The most lines of an order that is over. No request changes all of them at once.
const MOST_PAST_LINES: usize = 200;

/// An order as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placeable {
    pub(super) whole: WholeOrder,
    /// The mark of a payment that is due.
    pub(super) due: Option<PaymentDue>,
}

/// The circumstances of an import, which decide how an order is written and whether it is history.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    pub(super) now: Timestamp,
    pub(super) status_shards: StatusShards,
    pub(super) product_shards: ProductShards,
    /// Whether orders may be imported on which the shop acts by itself.
    pub(super) open: bool,
}

impl OrderRecord {
    /// The order, unless it breaks a law. `is_counted` tells whether a discount code counts its uses.
    pub(super) fn check(
        &self,
        with: &Circumstances,
        is_counted: impl Fn(&DiscountCode) -> bool,
    ) -> Result<Placeable, Vec<String>> {
        let mut reasons = Vec::new();
        self.check_lines(&mut reasons);
        self.check_dates(&mut reasons, with.now);
        self.check_payments(&mut reasons);
        self.check_returns(&mut reasons);
        self.check_shipments(&mut reasons);
        // What follows assumes that sums can be computed.
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let placeable = self.placeable(with, is_counted).ok_or_else(|| vec!["its amounts are too great".to_owned()])?;
        reasons.extend(audit::faults_of_order(&placeable.whole));
        if reasons.is_empty() && !with.open {
            reasons.extend(why_open(&placeable, with.now));
        }
        if reasons.is_empty() { Ok(placeable) } else { Err(reasons) }
    }

    fn check_lines(&self, reasons: &mut Vec<String>) {
        let (count, status) = (self.lines.len(), self.status);
        let most = if status.is_terminal() { MOST_PAST_LINES } else { MOST_LINES };
        let range = || format!("lines: {count}, must be 1 to {most} of an order that is {status}");
        require(reasons, (1..=most).contains(&count), range);
        for units in &self.credits {
            let (product, quantity) = (&units.product_id, units.quantity.get());
            let ordered = self.ordered(product);
            require(reasons, quantity <= ordered, || format!("credits: {quantity} {product}, of {ordered}"));
        }
        self.check_codes(reasons);
        require(reasons, self.shipping_method.is_none() || self.shipping.is_some(), || {
            "shippingMethod: needs shipping, the price, which may be 0".to_owned()
        });
        require(reasons, self.version > 0, || "version: must be at least 1".to_owned());
        require(reasons, self.request_hash.as_ref().is_none_or(|hash| hash.parse::<RequestHash>().is_ok()), || {
            "requestHash: must be a SHA-256 in base64url".to_owned()
        });
    }

    fn check_codes(&self, reasons: &mut Vec<String>) {
        require(reasons, self.codes.len() <= MOST_CODES, || format!("codes: must be at most {MOST_CODES}"));
        let mut seen = BTreeSet::new();
        for used in &self.codes {
            let code = used.code.as_str();
            require(reasons, seen.insert(code), || format!("codes: {code} is there twice"));
        }
    }

    fn check_dates(&self, reasons: &mut Vec<String>, now: Timestamp) {
        let cancelled = self.cancellation.as_ref().map(|cancellation| cancellation.at);
        let later = [
            ("changedAt", self.changed_at),
            ("cancellation.at", cancelled),
            ("deliveredAt", self.delivered_at),
            ("issuedAt", self.issued_at),
            ("dueSince", self.due_since),
            ("flag.flaggedAt", self.flag.as_ref().map(|flag| flag.flagged_at)),
        ];
        past(reasons, "placedAt", self.placed_at, now);
        for (field, at) in later {
            let Some(at) = at else { continue };
            past(reasons, field, at, now);
            require(reasons, at >= self.placed_at, || format!("{field}: {at} is before placedAt"));
        }
        let is_cancelled = self.status == OrderStatus::Cancelled;
        require(reasons, is_cancelled == self.cancellation.is_some(), || {
            format!("cancellation: the order is {}", self.status)
        });
        require(reasons, self.delivered_at.is_none() || self.status == OrderStatus::Delivered, || {
            format!("deliveredAt: the order is {}", self.status)
        });
        let invoice = invoice(self).invoice_id;
        let names_another = invoice.order().is_some_and(|order| order != self.order_id);
        let is_valid = invoice.as_str().parse::<InvoiceId>().is_ok();
        require(reasons, is_valid && !names_another, || {
            format!("invoiceId: {invoice} is too long, or begins like the invoice of another order")
        });
    }

    fn check_payments(&self, reasons: &mut Vec<String>) {
        let most = MOST_GIFT_CARDS;
        require(reasons, self.gift_cards.len() <= most, || format!("giftCards: must be at most {most}"));
        let mut seen = BTreeSet::new();
        for used in &self.gift_cards {
            let code = used.code.as_str();
            require(reasons, seen.insert(code), || format!("giftCards: {code} is there twice"));
            require(reasons, !used.amount.is_zero(), || format!("giftCards: {code} pays nothing"));
        }
        if let Some(card) = &self.card {
            card.check(reasons);
        }
    }

    fn check_returns(&self, reasons: &mut Vec<String>) {
        let most = Order::MOST_RETURNS;
        let (count, status) = (self.returns.len(), self.status);
        require(reasons, count <= most, || format!("returns: must be at most {most}"));
        require(reasons, count == 0 || status == OrderStatus::Delivered, || format!("returns: the order is {status}"));
        let mut ids = BTreeSet::new();
        for one in &self.returns {
            let id = &one.return_id;
            require(reasons, ids.insert(id.as_str()), || format!("returns: {id} is there twice"));
            require(reasons, id.order().as_ref() == Some(&self.order_id), || {
                format!("returns: {id} does not begin with ret- and the order's id")
            });
            let is_open = one.status == ReturnStatus::Requested;
            require(reasons, is_open != one.closed_at.is_some(), || format!("returns: closedAt of {id}"));
            let is_received = one.status == ReturnStatus::Received;
            require(reasons, is_received == one.amount.is_some(), || format!("returns: amount of {id}"));
            let is_ordered = one.lines.iter().all(|units| self.ordered(&units.product_id) > 0);
            let is_some = (1..=MOST_LINES).contains(&one.lines.len());
            require(reasons, is_ordered && is_some, || {
                format!("returns: the lines of {id} must be 1 to {MOST_LINES} of the order's")
            });
        }
    }

    /// The units of a product that were ordered.
    pub(super) fn ordered(&self, product: &ProductId) -> u32 {
        self.lines.iter().find(|line| line.product_id == *product).map_or(0, |line| line.quantity.get())
    }

    /// The entities of the record. `None` if a sum exceeds the greatest amount of money.
    fn placeable(&self, with: &Circumstances, is_counted: impl Fn(&DiscountCode) -> bool) -> Option<Placeable> {
        let lines = self.entity_lines()?;
        let currency = self.total.currency();
        let subtotal = lines.iter().map(|line| line.amount).try_fold(Money::zero(currency), Money::checked_add)?;
        let discount = self.discount.unwrap_or(Money::zero(currency));
        let credited = |product: &ProductId| {
            let units = self.credits.iter().find(|units| units.product_id == *product);
            units.map_or(0, |units| units.quantity.get())
        };
        let codes = self.codes.iter().map(|used| CodeUse {
            code: used.code.clone(),
            amount: used.amount,
            counted: is_counted(&used.code),
        });
        let changed_at = self.changed_at.unwrap_or_else(|| self.latest());
        let hash = self.request_hash.as_ref().and_then(|hash| hash.parse().ok());
        let mut order = Order {
            order_id: self.order_id.clone(),
            customer_id: self.customer_id.clone(),
            status: self.status,
            placed_at: self.placed_at,
            changed_at,
            version: self.version,
            subtotal,
            discount,
            codes: codes.collect(),
            tax: tax_on_top(&lines, self.shipping_tax, currency),
            shipping: self.shipping,
            shipping_method: self.shipping_method.clone(),
            shipping_tax: self.shipping_tax,
            total: self.total,
            // No request has this hash: a request is a JSON document.
            request_hash: hash.unwrap_or_else(|| RequestHash::of(self.order_id.as_str().as_bytes())),
            line_count: u8::try_from(lines.len()).ok()?,
            units: lines.iter().try_fold(0_u32, |sum, line| sum.checked_add(line.quantity.get()))?,
            pay_later: self.pay_later,
            has_address: self.ship_to.is_some(),
            shard: self.order_id.spread(with.status_shards.0),
            cancellation: self.cancellation.clone().map(|cancellation| Cancellation {
                at: cancellation.at,
                reason: cancellation.reason,
                cause: cancellation.cause,
            }),
            credits: Credit::of(&lines, discount, credited),
            allowances: self.allowances.iter().cloned().map(AllowanceRecord::entity).collect(),
            returning: Vec::new(),
            return_statuses: Vec::new(),
            shipped: self.shipped_lines(&lines),
            shipment_statuses: Vec::new(),
            delivered_at: (self.status == OrderStatus::Delivered).then(|| self.delivered_at.unwrap_or(changed_at)),
            imported_at: Some(with.now),
            erased: self.erased,
            request_id: None,
        };
        let returns = self.returns.iter().map(|one| one.entity(&order)).collect();
        order.returning = self.returning(&lines);
        let shipments = self.shipments.iter().map(|one| one.entity(&order)).collect();
        let flag = self.flag.clone().map(|flag| OrderFlag {
            order_id: self.order_id.clone(),
            reason: flag.reason,
            flagged_at: flag.flagged_at,
        });
        let order_id = self.order_id.clone();
        let address = self.ship_to.clone().map(|address| OrderAddress { order_id, address });
        let mut invoice = invoice(self).with_credited(order.credited());
        invoice.taxes = order.taxes(&lines);
        // A refund that is under way is as the record says, and not computed anew.
        for payment in &mut invoice.payments {
            if let (Payment::Card(card), Some(record)) = (payment, &self.card) {
                card.provider = record.entity(card.cancelled).provider;
            }
        }
        let mut whole = WholeOrder { order, lines, invoice, address, flag, returns, shipments }.with_statuses();
        // A record names the units of a return or shipment in any order.
        let returned = whole.returns.iter_mut().map(|one| &mut one.lines);
        for units in returned.chain(whole.shipments.iter_mut().map(|one| &mut one.lines)) {
            *units = LineUnits::in_order(units, &whole.lines);
        }
        let due = whole.work().map(|work| PaymentDue {
            order_id: self.order_id.clone(),
            shard: whole.order.shard,
            since: self.due_since.unwrap_or(whole.order.changed_at),
            work,
            amount: whole.amount_of(work),
        });
        Some(Placeable { whole, due })
    }

    fn entity_lines(&self) -> Option<Vec<OrderLine>> {
        let lines = self.lines.iter().map(|line| {
            Some(OrderLine {
                product_id: line.product_id.clone(),
                name: line.name.clone(),
                quantity: line.quantity,
                unit_price: line.unit_price,
                amount: line.unit_price.checked_mul(line.quantity.get())?,
                discount: line.discount,
                tax: line.tax,
                image: line.image.clone().map(Into::into),
                attributes: line.attributes.clone(),
            })
        });
        lines.collect()
    }

    /// The units in open returns, in the order of the lines.
    fn returning(&self, lines: &[OrderLine]) -> Vec<LineUnits> {
        let mut open: BTreeMap<&ProductId, i64> = BTreeMap::new();
        for one in self.returns.iter().filter(|one| one.status == ReturnStatus::Requested) {
            for units in &one.lines {
                *open.entry(&units.product_id).or_default() += i64::from(units.quantity.get());
            }
        }
        let of_line = |line: &OrderLine| {
            let quantity = (*open.get(&line.product_id)?).try_into().ok()?;
            Some(LineUnits { product_id: line.product_id.clone(), quantity })
        };
        lines.iter().filter_map(of_line).collect()
    }

    /// The latest time at which something happened to the status or the credits.
    fn latest(&self) -> Timestamp {
        let closed = self.returns.iter().filter_map(|one| one.closed_at);
        let cancelled = self.cancellation.as_ref().map(|cancellation| cancellation.at);
        closed.chain(cancelled).chain(self.delivered_at).fold(self.placed_at, Timestamp::max)
    }
}

impl CardRecord {
    fn check(&self, reasons: &mut Vec<String>) {
        let of_provider = self
            .provider
            .iter()
            .flat_map(|it| [it.amount.unwrap_or(0), it.refunding, it.captured, it.refunded, it.failed, it.disputed]);
        let transfers = self.transfer.iter().chain(&self.refunds).map(|transfer| transfer.amount);
        let amounts = transfers.chain([self.written_off]).chain(of_provider);
        let whole = self.amount.amount();
        require(reasons, amounts.into_iter().all(|amount| (0..=whole).contains(&amount)), || {
            format!("card: its amounts must be 0 to {whole}")
        });
        let is_possible = self.provider.as_ref().is_none_or(|it| it.refunded <= it.captured && it.attempt > 0);
        require(reasons, is_possible, || "card.provider: more is refunded than captured, or attempt is 0".to_owned());
    }
}

/// The reasons why the shop would act on the order by itself, or tell of it, as soon as it is imported.
fn why_open(placeable: &Placeable, now: Timestamp) -> Option<String> {
    let Placeable { whole, due } = placeable;
    let what = if whole.order.status == OrderStatus::Pending {
        "it is PENDING, and would be cancelled when its time to pay is over"
    } else if whole.invoice.card().is_some_and(|card| card.command().is_some()) {
        "its payment is not finished at the provider, which would be asked to finish it"
    } else if due.as_ref().is_some_and(|due| due.work == Work::Provider && is_recent(due.since, now)) {
        "its refund became due less than an hour ago, and an event would tell of it"
    } else if whole.returns.iter().any(|one| is_recent(one.requested_at, now)) {
        "a return was requested less than an hour ago, and an event would tell of it"
    } else {
        return None;
    };
    Some(format!("{what}: this is no history (--open imports it all the same)"))
}
