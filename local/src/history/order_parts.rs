//! The parts of an order as records, and records as parts of an order.

use key_schema::entity::{
    Allowance, Cancellation, CardPayment, CodeUse, Credit, Held, Invoice, LineUnits, Order, OrderFlag, OrderLine,
    OrderStatus, Payment, PaymentStatus, ProviderPayment, Return, Shipment, Transfer, WholeOrder,
};
use key_schema::value::{InvoiceId, Timestamp};

use super::order_record::{
    AllowanceRecord, CancellationRecord, CardRecord, CodeRecord, FlagRecord, GiftCardUse, LineRecord, OrderRecord,
    ProviderRecord, ReturnRecord, ShipmentRecord, TransferRecord, UnitsRecord,
};

impl OrderRecord {
    /// The record of an order. `due_since` is the time in the mark of a payment that is due, if there is one.
    pub(super) fn of(whole: &WholeOrder, due_since: Option<Timestamp>) -> Self {
        let WholeOrder { order, lines, invoice, address, flag, returns, shipments } = whole;
        // Left out is what follows from the rest.
        let Order {
            order_id,
            customer_id,
            status,
            placed_at,
            changed_at,
            version,
            subtotal: _,
            discount,
            codes,
            tax: _,
            shipping,
            shipping_method,
            shipping_tax,
            total,
            request_hash,
            line_count: _,
            units: _,
            pay_later,
            has_address: _,
            shard: _,
            cancellation,
            credits,
            allowances,
            returning: _,
            return_statuses: _,
            shipped: _,
            shipment_statuses: _,
            delivered_at,
            imported_at: _,
            erased,
            // Of this shop's log.
            request_id: _,
        } = order.clone();
        let Invoice {
            invoice_id,
            order_id: _,
            customer_id: _,
            issued_at,
            amount: _,
            taxes: _,
            unnumbered: _,
            number,
            payments,
            version: _,
        } = invoice.clone();
        let mut gift_cards = Vec::new();
        for payment in payments {
            if let Payment::GiftCard { code, amount, .. } = payment {
                gift_cards.push(GiftCardUse { code, amount });
            }
        }
        let is_marked = whole.work().is_some();
        let units = |credit: Credit| {
            let quantity = i64::from(credit.units).try_into().ok()?;
            Some(UnitsRecord { product_id: credit.product_id, quantity })
        };
        Self {
            order_id,
            customer_id,
            status,
            placed_at,
            changed_at: Some(changed_at),
            version,
            lines: lines.iter().map(LineRecord::of).collect(),
            discount: Some(discount).filter(|discount| !discount.is_zero()),
            codes: codes.iter().map(CodeRecord::of).collect(),
            shipping,
            shipping_method,
            shipping_tax,
            total,
            ship_to: address.as_ref().map(|of_order| of_order.address.clone()),
            gift_cards,
            card: invoice.card().map(CardRecord::of),
            invoice_id: Some(invoice_id),
            invoice_number: number,
            issued_at: Some(issued_at),
            pay_later,
            cancellation: cancellation.map(|Cancellation { at, reason, cause }| CancellationRecord {
                at,
                reason,
                cause,
            }),
            delivered_at,
            credits: credits.into_iter().filter_map(units).collect(),
            allowances: allowances.into_iter().map(AllowanceRecord::of).collect(),
            returns: returns.iter().map(ReturnRecord::of).collect(),
            shipments: shipments.iter().map(ShipmentRecord::of).collect(),
            flag: flag.clone().map(|OrderFlag { order_id: _, reason, flagged_at }| FlagRecord { reason, flagged_at }),
            erased,
            due_since: is_marked.then(|| due_since.unwrap_or(changed_at)),
            request_hash: Some(request_hash.as_str().to_owned()),
        }
    }
}

impl AllowanceRecord {
    fn of(Allowance { key, amount, reason, at }: Allowance) -> Self {
        Self { key, amount, reason, at }
    }

    pub(super) fn entity(Self { key, amount, reason, at }: Self) -> Allowance {
        Allowance { key, amount, reason, at }
    }
}

impl LineRecord {
    fn of(line: &OrderLine) -> Self {
        let OrderLine { product_id, name, quantity, unit_price, amount: _, discount, tax, image, attributes } =
            line.clone();
        Self { product_id, name, quantity, unit_price, discount, tax, image: image.map(Into::into), attributes }
    }
}

impl CodeRecord {
    fn of(used: &CodeUse) -> Self {
        let CodeUse { code, amount, counted: _ } = used.clone();
        Self { code, amount }
    }
}

impl UnitsRecord {
    fn of(LineUnits { product_id, quantity }: LineUnits) -> Self {
        Self { product_id, quantity }
    }

    /// The units as an entity.
    pub(super) fn entity(&self) -> LineUnits {
        LineUnits { product_id: self.product_id.clone(), quantity: self.quantity }
    }
}

impl CardRecord {
    fn of(card: &CardPayment) -> Self {
        let CardPayment {
            amount,
            cancelled: _,
            expired,
            credited: _,
            written_off,
            written_off_disputed: _,
            provider,
            transfer,
            refunds,
        } = card.clone();
        let record = |Transfer { reference, amount }| TransferRecord { reference, amount };
        Self {
            amount,
            transfer: transfer.map(record),
            provider: provider.map(ProviderRecord::of),
            expired,
            written_off,
            refunds: refunds.into_iter().map(record).collect(),
        }
    }

    /// The payment without credits, of an order that is cancelled or not.
    pub(super) fn entity(&self, cancelled: bool) -> CardPayment {
        let Self { amount, transfer, provider, expired, written_off, refunds } = self.clone();
        let entity = |TransferRecord { reference, amount }| Transfer { reference, amount };
        let written_off_disputed = provider.as_ref().map_or(0, |own| own.disputed.min(written_off));
        CardPayment {
            amount,
            cancelled,
            expired,
            credited: 0,
            written_off,
            written_off_disputed,
            provider: provider.map(ProviderRecord::entity),
            transfer: transfer.map(entity),
            refunds: refunds.into_iter().map(entity).collect(),
        }
    }
}

impl ProviderRecord {
    fn of(provider: ProviderPayment) -> Self {
        let ProviderPayment {
            intent,
            attempt,
            amount,
            capture_requested,
            awaits_capture,
            refund,
            refunding,
            failed_at: _,
            refused,
            held,
        } = provider;
        let Held { progress, captured, refunded, failed, disputed, dispute } = held;
        Self {
            intent,
            attempt,
            amount,
            capture_requested,
            awaits_capture,
            refund,
            refunding,
            refused,
            progress,
            captured,
            refunded,
            failed,
            disputed,
            dispute,
        }
    }

    pub(super) fn entity(self) -> ProviderPayment {
        let Self {
            intent,
            attempt,
            amount,
            capture_requested,
            awaits_capture,
            refund,
            refunding,
            refused,
            progress,
            captured,
            refunded,
            failed,
            disputed,
            dispute,
        } = self;
        let held = Held { progress, captured, refunded, failed, disputed, dispute };
        ProviderPayment {
            intent,
            attempt,
            amount,
            capture_requested,
            awaits_capture,
            refund,
            refunding,
            failed_at: None,
            refused,
            held,
        }
    }
}

impl ReturnRecord {
    fn of(one: &Return) -> Self {
        let Return {
            return_id,
            order_id: _,
            customer_id: _,
            shard: _,
            lines,
            reason,
            requested_at,
            status,
            closed_at,
            restocked,
            amount,
            refusal,
        } = one.clone();
        let lines = lines.into_iter().map(UnitsRecord::of).collect();
        Self { return_id, lines, reason, requested_at, status, closed_at, restocked, amount, refusal }
    }

    /// The return of an order in this shard.
    pub(super) fn entity(&self, order: &Order) -> Return {
        let Self { return_id, reason, requested_at, status, closed_at, restocked, amount, refusal, .. } = self.clone();
        Return {
            return_id,
            order_id: order.order_id.clone(),
            customer_id: order.customer_id.clone(),
            shard: order.shard,
            lines: self.lines.iter().map(UnitsRecord::entity).collect(),
            reason,
            requested_at,
            status,
            closed_at,
            restocked,
            amount,
            refusal,
        }
    }
}

impl ShipmentRecord {
    fn of(one: &Shipment) -> Self {
        let Shipment {
            shipment_id,
            order_id: _,
            customer_id: _,
            lines,
            all_left: _,
            carrier,
            tracking_number,
            tracking_url,
            shipped_at,
            delivered_at,
        } = one.clone();
        let lines = lines.into_iter().map(UnitsRecord::of).collect();
        Self { shipment_id, lines, carrier, tracking_number, tracking_url, shipped_at, delivered_at }
    }

    /// The shipment of an order.
    pub(super) fn entity(&self, order: &Order) -> Shipment {
        let Self { shipment_id, carrier, tracking_number, tracking_url, shipped_at, delivered_at, .. } = self.clone();
        Shipment {
            shipment_id,
            order_id: order.order_id.clone(),
            customer_id: order.customer_id.clone(),
            lines: self.lines.iter().map(UnitsRecord::entity).collect(),
            all_left: false,
            carrier,
            tracking_number,
            tracking_url,
            shipped_at,
            delivered_at,
        }
    }
}

/// The invoice of an order with these payments, without the taxes.
pub(super) fn invoice(record: &OrderRecord) -> Invoice {
    let is_cancelled = record.status == OrderStatus::Cancelled;
    let status = if is_cancelled { PaymentStatus::Refunded } else { PaymentStatus::Captured };
    let paid = |GiftCardUse { code, amount }: &GiftCardUse| Payment::GiftCard {
        code: code.clone(),
        amount: *amount,
        status,
        credited: 0,
    };
    let card = record.card.iter().map(|card| Payment::Card(card.entity(is_cancelled)));
    Invoice {
        invoice_id: record.invoice_id.clone().unwrap_or_else(|| InvoiceId::of(&record.order_id)),
        order_id: record.order_id.clone(),
        customer_id: record.customer_id.clone(),
        issued_at: record.issued_at.unwrap_or(record.placed_at),
        amount: record.total,
        taxes: Vec::new(),
        unnumbered: None,
        number: record.invoice_number.clone(),
        payments: record.gift_cards.iter().map(paid).chain(card).collect(),
        version: 1,
    }
}
