//! The transaction that places an order, and what its cancellation says.

use key_schema::entity::{
    Discount, GiftCard, GiftCardEntry, Order, OrderItem, OrderLine, Payment, QueuedOrder, Rejection, Stock, StockCell,
    WholeOrder,
};
use key_schema::layout::InStock;
use key_schema::value::ProductId;
use stock::Source;
use table::{Cause, Condition, Error, ProductShards, Write, read_item};

use crate::Basket;

#[cfg(test)]
mod tests;

/// What each action of the transaction guards, in the order of the actions.
#[derive(Clone, Debug)]
enum Guard {
    /// The order is not there yet.
    Header,
    /// Nothing that a refusal is told of: the header's condition covers it, or the next look does.
    Nothing,
    /// Enough units are left, at the quoted price.
    Stock(OrderLine),
    /// The code is in its window and has uses left.
    Discount,
}

/// The writes of one order and what they guard.
pub(crate) struct OrderTransaction {
    pub(crate) writes: Vec<Write>,
    pub(crate) guards: Guards,
}

/// Reads a cancellation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guards(Vec<Guard>);

/// What a cancelled transaction means.
pub(crate) enum Verdict {
    /// The order is there already.
    AlreadyPlaced,
    /// It cannot be placed.
    Rejected(Rejection),
    /// Something moved since it was read: read again and try again. In these products' cells was too little.
    TryAgain { short: Vec<ProductId> },
}

impl OrderTransaction {
    /// Everything that placing this order writes, if each line is taken from the source that stands in its place.
    ///
    /// Header and invoice, two writes for each line, one for a discount code with limited uses, two for each gift card.
    /// Any other discount code is not written: nothing but its uses ever changes, and the quote has seen its window.
    pub(crate) fn of(whole: &WholeOrder, sources: &[Source], shards: ProductShards) -> Result<Self, Error> {
        let mut this = Self { writes: Vec::new(), guards: Guards::default() };
        let order = &whole.order;
        this.push(Write::put_new(order)?, Guard::Header);
        this.push(Write::put(&whole.invoice)?, Guard::Nothing);
        for (line, source) in whole.lines.iter().zip(sources) {
            this.line(order, line, *source, shards)?;
        }
        if let Some(code) = &order.discount_code {
            let is_good = Condition::new(
                "(attribute_not_exists(#from) OR #from <= :now) AND (attribute_not_exists(#to) OR #to > :now) \
                 AND #uses >= :zero AND (attribute_not_exists(#maxUses) OR #uses < #maxUses)",
            );
            let is_good = is_good.value(":one", 1)?.value(":zero", 0)?.value(":now", order.placed_at)?;
            let use_one = Write::update(Discount::key_of(code), "SET #uses = #uses + :one", is_good);
            this.push(use_one, Guard::Discount);
        }
        let mut payments = whole.invoice.payments.iter().peekable();
        while let Some(payment) = payments.next() {
            this.payment(order, payment, payments.peek().is_none())?;
        }
        Ok(this)
    }

    /// One action more, of an order that waited: whoever was told why it cannot be placed has no order of it later.
    pub(crate) fn unless_refused(&mut self, order: &Order) -> Result<(), Error> {
        let stands =
            Condition::new("attribute_not_exists(#PK) OR (#requestHash = :hash AND attribute_not_exists(#refusal))");
        let stands = stands.value(":hash", &order.request_hash)?;
        self.push(Write::check(QueuedOrder::key_of(&order.order_id), stands), Guard::Nothing);
        Ok(())
    }

    fn push(&mut self, write: Write, guard: Guard) {
        self.writes.push(write);
        self.guards.0.push(guard);
    }

    fn line(&mut self, order: &Order, line: &OrderLine, source: Source, shards: ProductShards) -> Result<(), Error> {
        let item = OrderItem {
            order_id: order.order_id.clone(),
            customer_id: order.customer_id.clone(),
            placed_at: order.placed_at,
            shard: order.order_id.spread(shards.0),
            line: line.clone(),
        };
        self.push(Write::put(&item)?, Guard::Nothing);
        let take = stock::take(&line.product_id, source, line.quantity, line.unit_price)?;
        self.push(take, Guard::Stock(line.clone()));
        Ok(())
    }

    fn payment(&mut self, order: &Order, payment: &Payment, is_last: bool) -> Result<(), Error> {
        let Payment::GiftCard { code, amount, status } = payment else { return Ok(()) };
        // Before another payment a card gives all it has, which may be more than was seen.
        let is_covered = if is_last {
            Condition::new("#balance.#amount >= :amount AND #balance.#currency = :currency")
        } else {
            Condition::new("#balance.#amount = :amount AND #balance.#currency = :currency")
        };
        let is_covered = is_covered.value(":amount", amount.amount())?.value(":currency", amount.currency())?;
        let spend =
            Write::update(GiftCard::key_of(code), "SET #balance.#amount = #balance.#amount - :amount", is_covered);
        // Whatever is on the card by now, it pays that: the next quote says.
        self.push(spend, Guard::Nothing);
        let entry = GiftCardEntry {
            code: code.clone(),
            order_id: order.order_id.clone(),
            amount: *amount,
            at: order.placed_at,
            status: *status,
        };
        self.push(Write::put(&entry)?, Guard::Nothing);
        Ok(())
    }
}

impl Guards {
    /// What the causes of the cancellation mean together: an order that is there outweighs a rejection, and the first
    /// rejection counts.
    pub(crate) fn verdict(&self, basket: &Basket, causes: Vec<Cause>) -> Result<Verdict, Error> {
        let mut refused = None;
        let mut short = Vec::new();
        for (guard, cause) in self.0.iter().zip(causes) {
            let Cause::Condition(item) = cause else { continue };
            let rejection = match guard {
                Guard::Header => return Ok(Verdict::AlreadyPlaced),
                Guard::Nothing => continue,
                Guard::Stock(line) => {
                    let stock = match item.map(read_item).transpose()? {
                        Some(InStock::Stock(stock)) if stock.cells.is_one() => stock,
                        // What is too little in one cell of several may be enough in all of them.
                        Some(
                            InStock::Stock(Stock { available, .. }) | InStock::StockCell(StockCell { available, .. }),
                        ) => {
                            if available < line.quantity.get().into() {
                                short.push(line.product_id.clone());
                            }
                            continue;
                        }
                        // A cell that was given up meanwhile.
                        None => {
                            short.push(line.product_id.clone());
                            continue;
                        }
                    };
                    if stock.price != line.unit_price {
                        continue;
                    }
                    let at = basket.request().lines.iter().position(|asked| asked.product_id == line.product_id);
                    Rejection::OutOfStock {
                        line: at.unwrap_or_default(),
                        product: line.product_id.clone(),
                        available: stock.available,
                    }
                }
                Guard::Discount => {
                    let discount: Option<Discount> = item.map(read_item).transpose()?;
                    let Some(discount) = discount else { continue };
                    if discount.has_uses_left() {
                        Rejection::DiscountInvalid { code: discount.code }
                    } else {
                        Rejection::DiscountExhausted { code: discount.code }
                    }
                }
            };
            refused.get_or_insert(rejection);
        }
        Ok(refused.map_or(Verdict::TryAgain { short }, Verdict::Rejected))
    }
}
