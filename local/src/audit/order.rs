//! The amounts, payments, credits, shipments and returns of one order.

use std::collections::BTreeMap;

use key_schema::entity::{
    Balance, Credit, Invoice, LineTax, Order, OrderLine, OrderStatus, Payment, ReturnStatus, WholeOrder, tax_on_top,
    wrongly_taxed,
};
use key_schema::value::Money;

/// The breaches of one order that has all its lines, its invoice and its returns.
pub(crate) fn faults(whole: &WholeOrder) -> Vec<String> {
    let WholeOrder { order, lines, invoice, .. } = whole;
    let mut faults = Vec::new();
    for line in lines {
        if line.unit_price.checked_mul(line.quantity.get()) != Some(line.amount) {
            let OrderLine { product_id, unit_price, amount, .. } = line;
            let quantity = line.quantity.get();
            faults.push(format!("{quantity} {product_id} at {unit_price} are said to be {amount}"));
        }
    }
    let units: u32 = lines.iter().map(|line| line.quantity.get()).sum();
    if units != order.units {
        faults.push(format!("its lines have {units} units, its header says {}", order.units));
    }
    let (currency, zero) = (order.total.currency(), Money::zero(order.total.currency()));
    let amounts = [
        ("the lines", sum(lines.iter().map(|line| line.amount), order.subtotal), "the subtotal", order.subtotal),
        (
            "the taxes of the lines and of shipping",
            Some(tax_on_top(lines, order.shipping_tax, currency).unwrap_or(zero)),
            "the tax",
            order.tax.unwrap_or(zero),
        ),
        ("subtotal less discount plus shipping and tax", with_shipping_and_tax(order), "the total", order.total),
        ("the invoice", Some(invoice.amount), "the total", order.total),
        ("the payments", sum(invoice.payments.iter().map(Payment::amount), order.total), "the total", order.total),
    ];
    for (one, amount, other, expected) in amounts {
        if amount != Some(expected) {
            let amount = amount.map_or("nothing that can be added up".to_owned(), |amount| amount.to_string());
            faults.push(format!("{one}: {amount}; {other}: {expected}"));
        }
    }
    faults.extend(faults_of_discounts(order, lines));
    if order.taxes(lines) != invoice.taxes {
        faults.push(format!("its taxes are not those of its invoice: {:?}", invoice.taxes));
    }
    for OrderLine { product_id, tax, .. } in wrongly_taxed(lines, order.discount) {
        faults.push(format!("the tax of {product_id}{}", not_of_rate(tax.as_ref())));
    }
    if let Some(tax) = order.shipping_tax.filter(|tax| !tax.is_right_for(order.shipping.unwrap_or(zero))) {
        faults.push(format!("the tax of shipping{}", not_of_rate(Some(&tax))));
    }
    if (&invoice.order_id, &invoice.customer_id) != (&order.order_id, &order.customer_id) {
        faults.push(format!("its invoice is for the order {} of {}", invoice.order_id, invoice.customer_id));
    }
    for payment in &invoice.payments {
        if !payment.fits(order.status) {
            let (amount, state) = (payment.amount(), payment.state());
            faults.push(format!("a payment of {amount} is {state:?}, the order {}", order.status));
        }
    }
    if let Some((moved, owed)) = moved_and_owed(order, invoice)
        && moved != owed
    {
        faults.push(format!("money received less money returned: {moved}; the amount due: {owed}"));
    }
    faults.extend(faults_of_credits(whole));
    faults.extend(faults_of_shipments(whole));
    faults
}

fn not_of_rate(tax: Option<&LineTax>) -> String {
    let amount = tax.map_or_else(|| "none".to_owned(), |tax| tax.amount.to_string());
    format!(", {amount}, is not that of its rate; one that another program has reckoned is marked byEngine")
}

/// The breaches of what is taken off the lines, and of what the codes take off.
fn faults_of_discounts(order: &Order, lines: &[OrderLine]) -> Vec<String> {
    let mut faults = Vec::new();
    let off = lines.iter().filter_map(|line| line.discount);
    let of_lines = sum(off.clone(), order.discount);
    if off.count() > 0 && of_lines != Some(order.discount) {
        faults.push(format!("the discounts of the lines: {of_lines:?}; the discount: {}", order.discount));
    }
    for line in lines {
        if line.discount.is_some_and(|off| off.checked_min(line.amount) != Some(off)) {
            faults.push(format!("the discount of {} is more than its amount", line.product_id));
        }
    }
    let of_codes = sum(order.codes.iter().map(|used| used.amount), order.discount);
    // Another shop may have reduced prices without a code.
    let is_right = |sum: Money| match order.imported_at {
        None => sum == order.discount,
        Some(_) => sum.checked_min(order.discount) == Some(sum),
    };
    if !order.codes.is_empty() && !of_codes.is_some_and(is_right) {
        faults.push(format!("its codes take off {of_codes:?}; the discount: {}", order.discount));
    }
    faults
}

fn faults_of_shipments(whole: &WholeOrder) -> Vec<String> {
    let WholeOrder { order, lines, returns, shipments, .. } = whole;
    let mut faults = Vec::new();
    let mut shipped: BTreeMap<_, u32> = BTreeMap::new();
    for units in shipments.iter().flat_map(|shipment| &shipment.lines) {
        *shipped.entry(&units.product_id).or_default() += units.quantity.get();
    }
    let by_order = order.shipped.iter().map(|units| (&units.product_id, units.quantity.get())).collect();
    if shipped != by_order {
        faults.push(format!("the units in shipments are {shipped:?}, by the order {by_order:?}"));
    }
    let delivered = shipments.iter().filter(|shipment| shipment.delivered_at.is_some()).count();
    if !whole.has_all_parts() {
        let by_order = (&order.shipment_statuses, &order.return_statuses);
        faults.push(format!("its shipments or returns have other statuses than by the order {by_order:?}"));
    }
    let is_delivered = order.status == OrderStatus::Delivered;
    if is_delivered && delivered != shipments.len() {
        faults.push(format!("it is delivered, and only {delivered} of its {} shipments are", shipments.len()));
    }
    if !is_delivered && whole.is_in_shipments() && delivered == shipments.len() {
        faults.push(format!("all its units were delivered in shipments, and it is {}", order.status));
    }
    let received = returns.iter().filter(|one| one.status == ReturnStatus::Received).flat_map(|one| &one.lines);
    let received: Vec<_> = received.collect();
    for line in lines {
        let product = &line.product_id;
        let returned: u32 = received.iter().filter(|it| it.product_id == *product).map(|it| it.quantity.get()).sum();
        // Units were cancelled instead of shipped, and returned after they were shipped.
        let gone = (order.credited_units(product) + order.shipped_units(product)).saturating_sub(returned);
        if gone > line.quantity.get() {
            faults.push(format!("{gone} {product} are cancelled or in shipments, of {}", line.quantity.get()));
        }
    }
    faults
}

/// The subtotal less the discount plus the shipping, with the tax that comes on top. `None` if they cannot be added up.
fn with_shipping_and_tax(order: &Order) -> Option<Money> {
    let goods = order.subtotal.checked_sub(order.discount)?;
    let mut more = [order.shipping, order.tax].into_iter().flatten();
    more.try_fold(goods, Money::checked_add)
}

fn faults_of_credits(whole: &WholeOrder) -> Vec<String> {
    let WholeOrder { order, lines, invoice, returns, .. } = whole;
    let mut faults = Vec::new();
    let expected = Credit::of(lines, order.discount, |product| order.credited_units(product));
    if order.credits != expected {
        faults.push(format!("its credits are {:?}, and should be {expected:?}", order.credits));
    }
    if order.allowances.iter().any(|allowance| allowance.amount <= 0)
        || order.allowances.len() > Order::MOST_ALLOWANCES + 1
    {
        faults.push(format!("its allowances are {:?}", order.allowances));
    }
    let (credited, of_payments) = (order.credited(), invoice.credited());
    if credited != of_payments {
        faults.push(format!("{credited} of the order is credited, and {of_payments} of its payments"));
    }
    let each = |invoice: &Invoice| invoice.payments.iter().map(Payment::credited).collect::<Vec<_>>();
    let divided = each(&invoice.clone().with_credited(of_payments));
    if each(invoice) != divided {
        faults.push(format!("{:?} of its payments are credited, and should be {divided:?}", each(invoice)));
    }
    let (mut open, mut received): (BTreeMap<_, u32>, BTreeMap<_, u32>) = Default::default();
    for one in returns {
        let sums = match one.status {
            ReturnStatus::Requested => &mut open,
            ReturnStatus::Received => &mut received,
            ReturnStatus::Refused => continue,
        };
        for units in &one.lines {
            *sums.entry(&units.product_id).or_default() += units.quantity.get();
        }
    }
    let returning = order.returning.iter().map(|units| (&units.product_id, units.quantity.get())).collect();
    if open != returning {
        faults.push(format!("the units in open returns are {open:?}, by the order {returning:?}"));
    }
    for (product, units) in received {
        let credited = order.credited_units(product);
        if units > credited {
            faults.push(format!("{units} {product} were returned, and {credited} are credited"));
        }
    }
    for line in lines {
        let product = &line.product_id;
        let gone = order.credited_units(product) + order.returning_units(product);
        if gone > line.quantity.get() {
            faults.push(format!("{gone} {product} are credited or in open returns, of {}", line.quantity.get()));
        }
    }
    let amounts: i64 = returns.iter().filter_map(|one| one.amount).map(Money::amount).sum();
    if amounts > credited {
        faults.push(format!("its returns are credited with {amounts}, the order with {credited}"));
    }
    faults
}

/// The money received for an order less what was returned or taken back, and the amount that the shop owes for it:
/// goods for what is neither credited nor cancelled nor missing, a refund of the rest, and at any time what was paid
/// twice. `None` if the amounts cannot be added up, which another check reports.
fn moved_and_owed(order: &Order, invoice: &Invoice) -> Option<(Money, Money)> {
    let balances: Vec<_> = invoice.payments.iter().map(Payment::balance).collect();
    let sum = |of: fn(&Balance) -> Money| sum(balances.iter().map(of), order.total);
    let moved = sum(|balance| balance.received)?.checked_sub(sum(|balance| balance.returned)?)?;
    let due = sum(|balance| balance.due)?;
    let money = |amount| Money::new(amount, order.total.currency());
    let card = invoice.card();
    let kept = moved.checked_sub(money(card.map_or(0, |card| card.held().disputed))?)?;
    if order.status == OrderStatus::Cancelled {
        return Some((kept, due));
    }
    // What the card payment was to bring, less what the shop wants of it and has. The shop wants less than nothing if staff
    // wrote off what went back beyond the payment.
    let gone = card.map_or(0, |card| {
        let owed = card.amount.amount() - card.credited;
        let has = card.received() - card.returned() - card.held().disputed;
        owed - (owed - card.written_off).max(has.min(0)) + card.missing()
    });
    Some((kept, money(order.net_total() - gone)?.checked_add(due)?))
}

/// The sum, if all amounts have one currency.
fn sum(amounts: impl Iterator<Item = Money>, like: Money) -> Option<Money> {
    let mut amounts = amounts;
    amounts.try_fold(Money::zero(like.currency()), Money::checked_add)
}
