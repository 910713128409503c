//! The writes that change an order.

use key_schema::entity::{
    Discount, GiftCard, GiftCardEntry, OrderStatus, Payment, PaymentDue, PaymentStatus, Return, ReturnStatus,
    WholeOrder,
};
use key_schema::layout::Stored;
use key_schema::value::{GiftCardCode, Money, Quantity, Timestamp};
use table::{Condition, Error, Write};

/// The writes that change the order from `from` to `to`. First come the writes that are conditional on the order as it was
/// read: the header, the invoice, the returns and the shipments, each if it differs. Their number is returned, too. Then the
/// mark of a payment that is due is put or deleted. The last writes give back what the order took for its cancelled or
/// returned units. They happen once, because the condition on the header's version is in the same transaction.
pub(super) fn writes(from: &WholeOrder, to: &WholeOrder, now: Timestamp) -> Result<(Vec<Write>, usize), Error> {
    let mut writes = Vec::new();
    if from.order != to.order {
        writes.push(Write::change(&from.order, &to.order, Condition::version(from.order.version)?)?);
    }
    if from.invoice != to.invoice {
        // The header's version does not guard the invoice: a Query may return a header from after a transaction and an
        // invoice from before it, and a report of the payment provider changes the invoice alone.
        writes.push(Write::change(&from.invoice, &to.invoice, Condition::version(from.invoice.version)?)?);
    }
    for parts in changed_returns(from, to) {
        writes.push(part(parts)?);
    }
    for parts in changed(&from.shipments, &to.shipments, |one| &one.shipment_id) {
        writes.push(part(parts)?);
    }
    let guards = writes.len();
    match (from.work(), to.work()) {
        (_, Some(work)) if from.invoice != to.invoice => {
            let (order_id, shard) = (to.order.order_id.clone(), to.order.shard);
            let amount = to.amount_of(work);
            writes.push(Write::put(&PaymentDue { order_id, shard, since: now, work, amount })?);
        }
        (Some(_), None) => writes.push(Write::delete(PaymentDue::key_of(&to.order.order_id))),
        _ => {}
    }
    put_back(from, to, &mut writes)?;
    Ok((writes, guards))
}

/// The write of a return or a shipment that is new or differs. A Query may return one from before a transaction, too.
fn part<T: Stored>((before, after): (Option<&T>, &T)) -> Result<Write, Error> {
    match before {
        None => Write::put_new(after),
        Some(before) => Write::change(before, after, Condition::as_read(before, after)?),
    }
}

/// The returns that differ, each as it was before.
fn changed_returns<'a>(
    from: &'a WholeOrder,
    to: &'a WholeOrder,
) -> impl Iterator<Item = (Option<&'a Return>, &'a Return)> {
    changed(&from.returns, &to.returns, |one| &one.return_id)
}

/// The items that differ, each as it was before.
fn changed<'a, T: PartialEq, Id: PartialEq>(
    from: &'a [T],
    to: &'a [T],
    id: impl Fn(&T) -> &Id,
) -> impl Iterator<Item = (Option<&'a T>, &'a T)> {
    let pairs = to.iter().map(move |after| (from.iter().find(|before| id(before) == id(after)), after));
    pairs.filter(|(before, after)| *before != Some(*after))
}

/// Adds the writes that give back to stocks, discount code and gift cards what the order took for units that it does not
/// have any more, and those that release what a guest held until the payment.
fn put_back(from: &WholeOrder, to: &WholeOrder, writes: &mut Vec<Write>) -> Result<(), Error> {
    let is_cancelled = from.order.status != to.order.status && to.order.status == OrderStatus::Cancelled;
    // Staff say of each return whether its units can be sold again.
    let is_lost =
        changed_returns(from, to).any(|(_, after)| after.status == ReturnStatus::Received && !after.restocked);
    for line in to.lines.iter().filter(|_| !is_lost) {
        let before = from.order.credited_units(&line.product_id);
        let gone = if is_cancelled { line.quantity.get() } else { to.order.credited_units(&line.product_id) };
        let units = units(gone).and_then(|gone| gone.less(before));
        match (from.order.held_units(line) - to.order.held_units(line), units) {
            (0, None) => {}
            (0, Some(units)) => writes.push(stock::put_back(&line.product_id, units)?),
            (released, units) => writes.push(stock::release(&line.product_id, released, units)?),
        }
    }
    let is_released = from.order.is_held_by_guest() && !to.order.is_held_by_guest();
    for code in to.order.counted_codes().filter(|_| is_cancelled || is_released) {
        let was_used = Condition::new("#uses >= :one").value(":one", 1)?;
        let (expression, was_used) = match (is_cancelled, is_released) {
            (true, false) => ("SET #uses = #uses - :one", was_used),
            (true, true) => ("SET #uses = #uses - :one ADD #heldByGuests :released", was_used.value(":released", -1)?),
            (false, _) => ("ADD #heldByGuests :released", Condition::present().value(":released", -1)?),
        };
        writes.push(Write::update(Discount::key_of(code), expression, was_used));
    }
    let entry = |code: &GiftCardCode, amount: Money, status: PaymentStatus, credited: i64| GiftCardEntry {
        code: code.clone(),
        order_id: to.order.order_id.clone(),
        amount,
        at: to.order.placed_at,
        status,
        returned: credited,
    };
    for (before, after) in from.invoice.payments.iter().zip(&to.invoice.payments) {
        let (
            Payment::GiftCard { code, amount, status: was, credited: before },
            Payment::GiftCard { status, credited: after, .. },
        ) = (before, after)
        else {
            continue;
        };
        let (was, now) = (entry(code, *amount, *was, *before), entry(code, *amount, *status, *after));
        if was == now {
            continue;
        }
        let more = was.taken() - now.taken();
        if more > 0 {
            let exists = Condition::present().value(":amount", more)?;
            let key = GiftCard::key_of(code);
            writes.push(Write::update(key, "SET #balance.#amount = #balance.#amount + :amount", exists));
        }
        writes.push(Write::change(&was, &now, Condition::present())?);
    }
    Ok(())
}

/// The units as a quantity; `None` for none.
fn units(count: u32) -> Option<Quantity> {
    Quantity::try_from(i64::from(count)).ok()
}
