//! The writes of a record: one transaction, which writes all of its items or none, but for the lines of a long order.

use key_schema::entity::{
    Cart, Customer, Discount, EmailClaim, GiftCard, GiftCardEntry, Guest, Order, OrderItem, OrderStatus, Payment,
    Product, ProductDescription, UsernameClaim, WholeOrder, WholeStock,
};
use key_schema::layout::Stored as _;
use key_schema::value::{OrderId, Timestamp};
use ordering::MOST_LINES;
use table::{Cause, Condition, Error, ProductShards, Write};

use super::laws::Placeable;

/// The writes of one record, each with what a failure of its condition means.
#[derive(Clone)]
pub(super) struct Transaction {
    pub(super) writes: Vec<Write>,
    /// The writes that come after the transaction, each by itself: the lines for which it has no room. If the import ends
    /// before them, the next one finds the order [begun](super::existing::Existing::Begun).
    pub(super) later: Vec<Write>,
    /// For each write: the reason for a refusal if its condition fails. `None` if the record itself exists then.
    reasons: Vec<Option<String>>,
}

impl Transaction {
    fn of(first: Write) -> Self {
        Self { writes: vec![first], later: Vec::new(), reasons: vec![None] }
    }

    fn push(&mut self, write: Write, reason: impl Into<String>) {
        self.writes.push(write);
        self.reasons.push(Some(reason.into()));
    }

    /// A profile and its claims; or the tombstone of an erased customer and the item in the place of the cart.
    pub(super) fn of_customer(customer: &Customer) -> Result<Self, Error> {
        let mut this = Self::of(Write::put_new(customer)?);
        let Customer { customer_id, username, email, erased_at, .. } = customer.clone();
        if let Some(at) = erased_at {
            this.push(Write::put(&Cart::erased(customer_id, at))?, "the item of the cart cannot be written");
            return Ok(this);
        }
        let (taken_name, taken_email) = (taken("username", &username), taken("email", &email));
        this.push(Write::put_new(&UsernameClaim { username, customer_id: customer_id.clone() })?, taken_name);
        this.push(Write::put_new(&EmailClaim { email, customer_id })?, taken_email);
        Ok(this)
    }

    /// A guest.
    pub(super) fn of_guest(guest: &Guest) -> Result<Self, Error> {
        Ok(Self::of(Write::put_new(guest)?))
    }

    /// A product, its long description and all cells of its stock.
    pub(super) fn of_product(
        product: &Product,
        long: Option<&ProductDescription>,
        stock: &WholeStock,
    ) -> Result<Self, Error> {
        let mut this = Self::of(Write::put_new(product)?);
        for write in stock::begin(stock)? {
            this.push(write, "its stock exists without a product");
        }
        if let Some(count) = catalogue::enter(product)? {
            this.push(count, "it cannot be counted");
        }
        if let Some(long) = long {
            this.push(Write::put(long)?, "its description cannot be written");
        }
        Ok(this)
    }

    /// A discount code.
    pub(super) fn of_discount(discount: &Discount) -> Result<Self, Error> {
        Ok(Self::of(Write::put_new(discount)?))
    }

    /// A gift card.
    pub(super) fn of_gift_card(card: &GiftCard) -> Result<Self, Error> {
        Ok(Self::of(Write::put_new(card)?))
    }

    /// An order: the header, on condition that it is absent, and everything else of it. It takes the money of its gift
    /// cards and a use of its discount code, as placing does, but no stock.
    pub(super) fn of_order(placeable: &Placeable, shards: ProductShards) -> Result<Self, Error> {
        let Placeable { whole, due } = placeable;
        let order = &whole.order;
        let mut this = Self::of(Write::put_new(order)?);
        let existing = "a part of it exists without the order";
        this.push(Write::put_new(&whole.invoice)?, existing);
        let lines: Vec<_> = items(whole, shards).collect();
        let (lines, later) = lines.split_at(lines.len().min(MOST_LINES));
        for line in lines {
            this.push(Write::put_new(line)?, existing);
        }
        this.later = of_lines(later)?;
        if let Some(address) = &whole.address {
            this.push(Write::put_new(address)?, existing);
        }
        for one in &whole.returns {
            this.push(Write::put_new(one)?, existing);
        }
        for one in &whole.shipments {
            this.push(Write::put_new(one)?, existing);
        }
        if let Some(flag) = &whole.flag {
            this.push(Write::put_new(flag)?, existing);
        }
        if let Some(due) = due {
            this.push(Write::put_new(due)?, existing);
        }
        for code in order.counted_codes().filter(|_| order.status != OrderStatus::Cancelled) {
            let has_uses = Condition::new("#uses < #maxUses").value(":one", 1)?;
            let reason = format!("the code {code} has no uses left");
            this.push(Write::update(Discount::key_of(code), "SET #uses = #uses + :one", has_uses), reason);
        }
        for payment in &whole.invoice.payments {
            this.spend(order.order_id.clone(), order.placed_at, payment)?;
        }
        Ok(this)
    }

    /// Takes the money of a gift card, and writes its entry.
    fn spend(&mut self, order_id: OrderId, at: Timestamp, payment: &Payment) -> Result<(), Error> {
        let Payment::GiftCard { code, amount, status, credited } = payment else { return Ok(()) };
        let (code, amount, status) = (code.clone(), *amount, *status);
        let entry = GiftCardEntry { code, order_id, amount, at, status, returned: *credited };
        let covered = Condition::new("#balance.#amount >= :taken AND #balance.#currency = :currency");
        let covered = covered.value(":taken", entry.taken())?.value(":currency", amount.currency())?;
        let expression = "SET #balance.#amount = #balance.#amount - :taken";
        let reason = format!("giftCards: {} is not there, or has less than {amount}", entry.code);
        self.push(Write::update(GiftCard::key_of(&entry.code), expression, covered), reason);
        self.push(Write::put_new(&entry)?, "giftCards: the card has an entry for this order already");
        Ok(())
    }

    /// The reason of a refusal. `None` if the record itself exists, whose own items fail their conditions as well.
    pub(super) fn refusal(&self, causes: &[Cause]) -> Option<String> {
        let mut failed = causes.iter().zip(&self.reasons).filter(|(cause, _)| matches!(cause, Cause::Condition(_)));
        failed.next().and_then(|(_, reason)| reason.clone())
    }
}

/// The writes that finish an order whose header is there. The first one dates the import anew: its lines count from now on,
/// and a comparison of counts expects them only after some time.
pub(super) fn rest_of(order: &Order, lines: &[OrderItem]) -> Result<Vec<Write>, Error> {
    let is_there = Condition::present().value(":now", order.imported_at)?;
    let header = Write::update(order.key(), "SET #importedAt = :now", is_there);
    Ok(std::iter::once(header).chain(of_lines(lines)?).collect())
}

fn of_lines(lines: &[OrderItem]) -> Result<Vec<Write>, Error> {
    lines.iter().map(Write::put_new).collect()
}

/// The items of the order's lines.
pub(super) fn items(whole: &WholeOrder, shards: ProductShards) -> impl Iterator<Item = OrderItem> {
    let order = &whole.order;
    whole.lines.iter().enumerate().map(move |(at, line)| OrderItem {
        order_id: order.order_id.clone(),
        customer_id: order.customer_id.clone(),
        placed_at: order.placed_at,
        shard: order.order_id.spread(shards.0),
        position: at.into(),
        imported_at: order.imported_at,
        uncounted: order.status == OrderStatus::Cancelled,
        line: line.clone(),
    })
}

fn taken(field: &str, value: &impl std::fmt::Display) -> String {
    format!("{field}: {value} belongs to another customer")
}
