//! The transaction that places an order, and the meaning of its cancellation.

use key_schema::entity::{
    Cart, Customer, Discount, GiftCard, GiftCardEntry, Guest, Order, OrderAddress, OrderItem, OrderLine, OrderStatus,
    Payment, QueuedOrder, Rejection, Stock, StockCell, WholeOrder,
};
use key_schema::layout::InStock;
use key_schema::value::{CartVersion, LinePosition, OrderId, ProductId, Timestamp};
use stock::Source;
use table::{Cause, Condition, Error, ProductShards, Write, read_item};

use super::guests::GuestLimits;
use super::quote::Quote;
use super::request::{NewOrder, OrderRequest};
use crate::PlacingSettings;

#[cfg(test)]
mod tests;

/// The items of an order that is placed now with this quote.
pub(crate) fn new_order(
    request: &OrderRequest,
    id: &OrderId,
    settings: &PlacingSettings,
    quote: Quote,
    now: Timestamp,
) -> WholeOrder {
    let units = quote.units();
    let status = OrderStatus::when_placed(&quote.payments);
    let order = Order {
        status,
        subtotal: quote.subtotal,
        discount: quote.discount,
        codes: quote.codes,
        tax: quote.tax,
        shipping: quote.shipping,
        shipping_method: quote.shipping_method,
        shipping_tax: quote.shipping_tax,
        request_hash: request.basket.hash().clone(),
        // A basket has at most 40 lines.
        line_count: u8::try_from(quote.lines.len()).unwrap_or(u8::MAX),
        units,
        // An order that gift cards pay waits for nothing.
        pay_later: request.basket.order().pay_later && status == OrderStatus::Pending,
        has_address: quote.address.is_some(),
        shard: id.spread(settings.status_shards.0),
        ..Order::new(id.clone(), request.customer.clone(), now, quote.total)
    };
    let mut whole = WholeOrder::new(order, quote.lines, quote.payments);
    whole.invoice.unnumbered = settings.numbering.shard_of(id, settings.status_shards);
    whole.address = quote.address.map(|address| OrderAddress { order_id: id.clone(), address });
    whole
}

/// The meaning of an action's condition.
#[derive(Clone, Debug)]
enum Guard {
    /// The order does not exist yet.
    Header,
    /// The action has no condition, or one whose failure only leads to another read.
    Nothing,
    /// The cell has enough units, at the quoted price, and the product is not recalled.
    Stock(OrderLine),
    /// The discount code is valid at this time, and has uses left.
    Discount(Timestamp),
    /// The customer's profile exists, and its person was not erased.
    Customer,
    /// The customer's cart has this version.
    Cart(CartVersion),
}

/// The writes of one order, and the meanings of their conditions.
pub(crate) struct OrderTransaction {
    pub(crate) writes: Vec<Write>,
    pub(crate) guards: Guards,
}

/// The meanings of a transaction's conditions, one for each action, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guards(Vec<Guard>);

/// The meaning of a cancelled transaction.
pub(crate) enum CommitFailure {
    /// The order exists already.
    AlreadyPlaced,
    /// The order cannot be placed.
    Rejected(Rejection),
    /// An item has changed since it was read: read again and try again. The cells of the `short` products had too
    /// little.
    Retry { short: Vec<ProductId> },
}

impl OrderTransaction {
    /// The transaction that places an order. `sources` has the source of each line, in the order of the lines.
    ///
    /// It writes header and invoice, two items for each line, one for each discount code with limited uses, and two
    /// for each gift card. An order with an address writes the address, and checks that the customer exists and was not
    /// erased: so no address appears after an erasure. A discount code with unlimited uses is neither written nor checked:
    /// the orders of a sale would all meet at its item. The quote has checked the code, by a strongly consistent read.
    ///
    /// What an unpaid order of a guest takes is also counted as held by guests, within `limits`: for each line whose units
    /// come from another cell than the first, that is one write more.
    pub(crate) fn of(
        whole: &WholeOrder,
        sources: &[Source],
        limits: Option<GuestLimits<'_>>,
        shards: ProductShards,
    ) -> Result<Self, Error> {
        let mut this = Self { writes: Vec::new(), guards: Guards::default() };
        let order = &whole.order;
        this.push(Write::put_new(order)?, Guard::Header);
        this.push(Write::put(&whole.invoice)?, Guard::Nothing);
        for (at, (line, source)) in whole.lines.iter().zip(sources).enumerate() {
            this.line(order, (at.into(), line), *source, (limits, shards))?;
        }
        for code in order.counted_codes() {
            let is_valid = Condition::new(
                "attribute_not_exists(#revoked) AND (attribute_not_exists(#from) OR #from <= :now) \
                 AND (attribute_not_exists(#to) OR #to > :now) \
                 AND #uses >= :zero AND (attribute_not_exists(#maxUses) OR #uses < #maxUses)",
            );
            let is_valid = is_valid.value(":one", 1)?.value(":zero", 0)?.value(":now", order.placed_at)?;
            let (expression, is_valid) = match limits {
                None => ("SET #uses = #uses + :one", is_valid),
                Some(limits) => {
                    let has_share = Condition::guests_hold_at_most(limits.most_uses(code))?;
                    ("SET #uses = #uses + :one ADD #heldByGuests :one", is_valid.and(has_share))
                }
            };
            let use_one = Write::update(Discount::key_of(code), expression, is_valid);
            this.push(use_one, Guard::Discount(order.placed_at));
        }
        let mut payments = whole.invoice.payments.iter().peekable();
        while let Some(payment) = payments.next() {
            this.payment(order, payment, payments.peek().is_none())?;
        }
        if let Some(address) = &whole.address {
            this.push(Write::put(address)?, Guard::Nothing);
            // Of a guest's order, `of_guest` checks the guest.
            if !order.customer_id.is_guest() {
                let exists = Condition::present().and(Condition::not_erased());
                this.push(Write::check(Customer::key_of(&order.customer_id), exists), Guard::Customer);
            }
        }
        Ok(this)
    }

    /// Adds a condition for a queued order: it was not refused. A customer who was told of a refusal must not get the
    /// order later.
    pub(crate) fn unless_refused(&mut self, order: &Order) -> Result<(), Error> {
        let not_refused =
            Condition::new("attribute_not_exists(#PK) OR (#requestHash = :hash AND attribute_not_exists(#refusal))");
        let not_refused = not_refused.value(":hash", &order.request_hash)?;
        self.push(Write::check(QueuedOrder::key_of(&order.order_id), not_refused), Guard::Nothing);
        Ok(())
    }

    /// Adds the write that empties the cart of which the order is made, on condition that it has the order's version. Of two
    /// orders of one cart, the second one finds another version. A version is written once, with its lines, so the lines
    /// need no condition. An erased customer's item has no version.
    pub(crate) fn empty_cart(&mut self, order: &Order, version: CartVersion, cart: &Cart) -> Result<(), Error> {
        let is_same = Condition::version(version.get())?;
        self.push(Write::change(cart, &cart.emptied(order.placed_at), is_same)?, Guard::Cart(version));
        Ok(())
    }

    /// Adds what an order of a guest needs. The guest's first order keeps the guest for good, on condition that the guest
    /// has not expired: so no guest with an order expires. A later order with an address checks that the guest is still
    /// kept: so no address appears after an erasure.
    pub(crate) fn of_guest(&mut self, whole: &WholeOrder, guest: &Guest) -> Result<(), Error> {
        let (order, key) = (&whole.order, Guest::key_of(&guest.customer_id));
        // After a failure, the next read finds the guest kept by another order, or finds no guest.
        if guest.expires_at.is_some() {
            let is_there =
                Condition::new("attribute_exists(#PK) AND (attribute_not_exists(#expiresAt) OR #expiresAt > :now)");
            let is_there = is_there.value(":now", order.placed_at.as_second())?;
            self.push(Write::update(key, "REMOVE #expiresAt", is_there), Guard::Nothing);
        } else if whole.address.is_some() {
            let is_kept = Condition::new("attribute_exists(#PK) AND attribute_not_exists(#expiresAt)");
            self.push(Write::check(key, is_kept), Guard::Nothing);
        }
        Ok(())
    }

    fn push(&mut self, write: Write, guard: Guard) {
        self.writes.push(write);
        self.guards.0.push(guard);
    }

    fn line(
        &mut self,
        order: &Order,
        (position, line): (LinePosition, &OrderLine),
        source: Source,
        (limits, shards): (Option<GuestLimits<'_>>, ProductShards),
    ) -> Result<(), Error> {
        let item = OrderItem {
            order_id: order.order_id.clone(),
            customer_id: order.customer_id.clone(),
            placed_at: order.placed_at,
            shard: order.order_id.spread(shards.0),
            position,
            imported_at: None,
            uncounted: false,
            line: line.clone(),
        };
        self.push(Write::put(&item)?, Guard::Nothing);
        let OrderLine { product_id, quantity, unit_price, .. } = line;
        let Some(limits) = limits else {
            self.push(stock::take(product_id, source, *quantity, *unit_price)?, Guard::Stock(line.clone()));
            return Ok(());
        };
        let most = limits.most_units(product_id, quantity.get().into());
        let guards = [Guard::Stock(line.clone()), Guard::Nothing];
        for (write, guard) in
            stock::take_for_guest(product_id, source, *quantity, *unit_price, most)?.into_iter().zip(guards)
        {
            self.push(write, guard);
        }
        Ok(())
    }

    fn payment(&mut self, order: &Order, payment: &Payment, is_last: bool) -> Result<(), Error> {
        let Payment::GiftCard { code, amount, status, credited } = payment else { return Ok(()) };
        // If another payment follows, the quote used up this card, so the balance must be exactly the quoted amount: a
        // card that has more by now would have to pay more.
        let is_covered = if is_last {
            Condition::new("#balance.#amount >= :amount AND #balance.#currency = :currency")
        } else {
            Condition::new("#balance.#amount = :amount AND #balance.#currency = :currency")
        };
        let is_covered = is_covered.value(":amount", amount.amount())?.value(":currency", amount.currency())?;
        // `GiftCard::is_spendable`, as a condition.
        let is_spendable = Condition::new(
            "attribute_not_exists(#blocked) AND (attribute_not_exists(#validUntil) OR #validUntil > :now)",
        );
        let condition = is_covered.and(is_spendable.value(":now", order.placed_at)?);
        let spend =
            Write::update(GiftCard::key_of(code), "SET #balance.#amount = #balance.#amount - :amount", condition);
        // A failure is no rejection: the next quote uses the card as it is by then.
        self.push(spend, Guard::Nothing);
        let entry = GiftCardEntry {
            code: code.clone(),
            order_id: order.order_id.clone(),
            amount: *amount,
            at: order.placed_at,
            status: *status,
            returned: *credited,
        };
        self.push(Write::put(&entry)?, Guard::Nothing);
        Ok(())
    }
}

impl Guards {
    /// The meaning of all causes together: an existing order takes precedence over a rejection, and the first rejection
    /// over the others.
    pub(crate) fn failure(&self, asked: &NewOrder, causes: Vec<Cause>) -> Result<CommitFailure, Error> {
        let mut refused = None;
        let mut short = Vec::new();
        for (guard, cause) in self.0.iter().zip(causes) {
            let Cause::Condition(item) = cause else { continue };
            let rejection = match guard {
                Guard::Header => return Ok(CommitFailure::AlreadyPlaced),
                Guard::Nothing => continue,
                Guard::Customer => Rejection::UnknownCustomer,
                Guard::Cart(cart) => Rejection::CartChanged { cart: *cart },
                Guard::Stock(line) => {
                    let stock = match item.map(read_item).transpose()? {
                        Some(InStock::Stock(stock)) if stock.cells.is_one() => stock,
                        // One of several cells has too little. All of them together may have enough.
                        Some(
                            InStock::Stock(Stock { available, .. }) | InStock::StockCell(StockCell { available, .. }),
                        ) => {
                            if available < line.quantity.get().into() {
                                short.push(line.product_id.clone());
                            }
                            continue;
                        }
                        // The cell has been removed in the meantime.
                        None | Some(InStock::Unknown) => {
                            short.push(line.product_id.clone());
                            continue;
                        }
                    };
                    // The next read names all recalled products of the order.
                    let has_units = stock.available >= line.quantity.get().into();
                    if has_units || stock.price != line.unit_price || stock.recalled {
                        continue;
                    }
                    let at = asked.lines.iter().position(|asked| asked.product_id == line.product_id);
                    Rejection::OutOfStock {
                        line: at.unwrap_or_default(),
                        product: line.product_id.clone(),
                        available: stock.available,
                    }
                }
                Guard::Discount(at) => {
                    let discount: Option<Discount> = item.map(read_item).transpose()?;
                    let Some(Err(rejection)) = discount.map(|discount| discount.check(*at)) else { continue };
                    rejection
                }
            };
            refused.get_or_insert(rejection);
        }
        Ok(refused.map_or(CommitFailure::Retry { short }, CommitFailure::Rejected))
    }
}
