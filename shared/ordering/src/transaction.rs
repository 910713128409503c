//! The transaction that places an order, and what its cancellation says.

use key_schema::entity::{
    Discount, GiftCard, GiftCardEntry, Invoice, Order, OrderItem, OrderLine, Payment, Stock, WholeOrder,
};
use key_schema::value::{GiftCardCode, Timestamp};
use table::{Cause, Error, Transaction, Update, read_item};

use crate::{Basket, Rejection};

/// What each action of the transaction guards, in the order of the actions.
#[derive(Clone, Debug)]
enum Guard {
    /// The order is not there yet.
    Header,
    /// Nothing: the header's condition covers it.
    Nothing,
    /// Enough units are left, at the quoted price.
    Stock(OrderLine),
    /// The code is in its window and has uses left.
    Discount,
    /// The gift card holds what is taken.
    GiftCard(GiftCardCode),
}

/// The writes of one order and what they guard.
pub(crate) struct OrderTransaction {
    pub(crate) writes: Transaction,
    guards: Guards,
}

/// Reads a cancellation.
pub(crate) struct Guards(Vec<Guard>);

/// What a cancelled transaction means.
pub(crate) enum Verdict {
    /// The order is there already.
    AlreadyPlaced,
    /// It cannot be placed.
    Rejected(Rejection),
    /// A price moved, or something went away, since it was read: read again and try again.
    TryAgain,
}

impl OrderTransaction {
    /// Everything that placing this order writes.
    ///
    /// Two actions on header and invoice, two for each line, one for the discount code, two for each gift card.
    pub(crate) fn of(whole: &WholeOrder, now: Timestamp) -> Result<Self, Error> {
        let mut this = Self { writes: Transaction::default(), guards: Guards(Vec::new()) };
        this.header(&whole.order, &whole.invoice)?;
        for line in &whole.lines {
            this.line(&whole.order, line)?;
        }
        if let Some(code) = &whole.order.discount_code {
            let update = Update::new(
                Discount::key_of(code),
                "SET #uses = #uses + :one",
                "(attribute_not_exists(#from) OR #from <= :now) AND (attribute_not_exists(#to) OR #to > :now) \
                 AND #uses >= :zero AND (attribute_not_exists(#maxUses) OR #uses < #maxUses)",
            );
            this.writes.update(update.value(":one", 1)?.value(":zero", 0)?.value(":now", now)?);
            this.guards.0.push(Guard::Discount);
        }
        for payment in &whole.invoice.payments {
            this.payment(&whole.order, payment)?;
        }
        Ok(this)
    }

    pub(crate) fn into_parts(self) -> (Transaction, Guards) {
        (self.writes, self.guards)
    }

    fn header(&mut self, order: &Order, invoice: &Invoice) -> Result<(), Error> {
        self.writes.put_new(order)?;
        self.guards.0.push(Guard::Header);
        self.writes.put(invoice)?;
        self.guards.0.push(Guard::Nothing);
        Ok(())
    }

    fn line(&mut self, order: &Order, line: &OrderLine) -> Result<(), Error> {
        self.writes.put(&OrderItem {
            order_id: order.order_id.clone(),
            customer_id: order.customer_id.clone(),
            placed_at: order.placed_at,
            line: line.clone(),
        })?;
        self.guards.0.push(Guard::Nothing);
        let update = Update::new(
            Stock::key_of(&line.product_id),
            "SET #available = #available - :quantity",
            "#available >= :quantity AND #price = :price",
        );
        self.writes.update(update.value(":quantity", line.quantity)?.value(":price", line.unit_price)?);
        self.guards.0.push(Guard::Stock(line.clone()));
        Ok(())
    }

    fn payment(&mut self, order: &Order, payment: &Payment) -> Result<(), Error> {
        let Payment::GiftCard { code, amount, .. } = payment else { return Ok(()) };
        let update = Update::new(
            GiftCard::key_of(code),
            "SET #balance.#amount = #balance.#amount - :amount",
            "#balance.#amount >= :amount AND #balance.#currency = :currency",
        );
        self.writes.update(update.value(":amount", amount.amount())?.value(":currency", amount.currency())?);
        self.guards.0.push(Guard::GiftCard(code.clone()));
        self.writes.put(&GiftCardEntry {
            code: code.clone(),
            order_id: order.order_id.clone(),
            amount: *amount,
            at: order.placed_at,
        })?;
        self.guards.0.push(Guard::Nothing);
        Ok(())
    }
}

impl Guards {
    /// What the causes of the cancellation mean together: an order that is there outweighs a rejection, and the first
    /// rejection counts.
    pub(crate) fn verdict(&self, basket: &Basket, causes: Vec<Cause>) -> Result<Verdict, Error> {
        let mut verdict = Verdict::TryAgain;
        for (guard, cause) in self.0.iter().zip(causes) {
            let Cause::Condition(item) = cause else { continue };
            let rejection = match guard {
                Guard::Header => return Ok(Verdict::AlreadyPlaced),
                Guard::Nothing => continue,
                Guard::Stock(line) => {
                    let stock: Option<Stock> = item.map(read_item).transpose()?;
                    let Some(stock) = stock.filter(|stock| stock.price == line.unit_price) else { continue };
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
                        Rejection::DiscountInvalid(discount.code)
                    } else {
                        Rejection::DiscountExhausted(discount.code)
                    }
                }
                Guard::GiftCard(code) => Rejection::GiftCardBalance(code.clone()),
            };
            if matches!(verdict, Verdict::TryAgain) {
                verdict = Verdict::Rejected(rejection);
            }
        }
        Ok(verdict)
    }
}
