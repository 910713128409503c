//! What the table has of a record already, and of what the record refers to.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use key_schema::entity::{
    Customer, Discount, EmailClaim, GiftCard, Guest, Order, OrderItem, OrderStatus, Payment, Product,
    ProductDescription, UsernameClaim, WholeOrder,
};
use key_schema::layout::{Consistency, IMPORTED_INVOICE_BY_ID, InOrder, Key, ORDER_BY_ID, OrderState, Stored as _};
use key_schema::value::{CustomerId, DiscountCode, GiftCardCode, Money, OrderId, ProductId, Timestamp};
use lambda::Budget;
use ordering::MOST_LINES;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use stock::ReadMode;
use table::{Error, ProductShards, Reader, Write};
use tokio::time::sleep;

use super::code_records::{DiscountRecord, GiftCardRecord};
use super::laws::{Circumstances, Placeable};
use super::order_record::{CodeRecord, OrderRecord};
use super::record::{CustomerRecord, GuestRecord, ProductRecord, Record};
use super::write::{self, Transaction};

/// The answer of the table about a record.
pub(super) enum Existing {
    /// It is not there, may be written, and this is how.
    Absent(Transaction),
    /// A long order without some of its lines is there, and these writes, one after the other, finish it.
    Begun(Vec<Write>),
    /// It is there with the same content.
    Same,
    /// It may not be written.
    Refused(String),
}

/// What the records refer to, as far as it was read or written by this import.
#[derive(Default)]
pub(super) struct References(Mutex<Known>);

#[derive(Default)]
struct Known {
    customers: HashMap<CustomerId, bool>,
    products: HashMap<ProductId, bool>,
    /// For each discount code: whether its uses are counted, and how many are left.
    discounts: HashMap<DiscountCode, Option<(bool, u32)>>,
    /// For each gift card: its balance, if the card exists. A check takes what the orders of the files take.
    cards: HashMap<GiftCardCode, Option<Money>>,
}

/// An item of a customer that must be unique.
#[derive(Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
enum Held {
    Customer(Customer),
    EmailClaim(EmailClaim),
    UsernameClaim(UsernameClaim),
}

const OTHER: &str = "it exists with other content";

fn same_if(is_same: bool) -> Existing {
    if is_same { Existing::Same } else { Existing::Refused(OTHER.to_owned()) }
}

fn refused(reasons: &[String]) -> Existing {
    Existing::Refused(reasons.join("; "))
}

/// All items with these keys, strongly consistent.
async fn strong<T: DeserializeOwned>(reader: &Reader, keys: Vec<Key>, budget: Budget) -> Result<Vec<T>, Error> {
    reader.batch(keys, Consistency::Strong, budget).await
}

impl References {
    /// Checks the record, and compares it with the table.
    pub(super) async fn compare(
        &self,
        reader: &Reader,
        record: &Record,
        with: &Circumstances,
        budget: Budget,
    ) -> Result<Existing, Error> {
        let existing = match record {
            Record::Customer(record) => match record.entity(with.now) {
                Ok(customer) => compare_customer(reader, &customer, budget).await?,
                Err(reasons) => refused(&reasons),
            },
            Record::Guest(record) => match record.entity(with.now) {
                Ok(guest) => match strong::<Guest>(reader, vec![guest.key()], budget).await?.pop() {
                    Some(found) => same_if(found.expires_at.is_none() && GuestRecord::from(found) == *record),
                    None => Existing::Absent(Transaction::of_guest(&guest)?),
                },
                Err(reasons) => refused(&reasons),
            },
            Record::Product(record) => match record.entities() {
                Ok((product, long, stock)) => {
                    let found = stock::product(reader, &product.product_id, ReadMode::Strong, budget).await?;
                    match found {
                        // Some units may have been sold since.
                        Some((found, cells)) => same_if(product.is_like(&found) && cells.cells() == stock.cells()),
                        None => Existing::Absent(Transaction::of_product(&product, long.as_ref(), &stock)?),
                    }
                }
                Err(reasons) => refused(&reasons),
            },
            Record::Discount(record) => match record.entity(with.now) {
                Ok(code) => match strong::<Discount>(reader, vec![code.key()], budget).await?.pop() {
                    Some(found) => same_if(DiscountRecord::from(found) == *record),
                    None => Existing::Absent(Transaction::of_discount(&code)?),
                },
                Err(reasons) => refused(&reasons),
            },
            Record::GiftCard(record) => match record.entity(with.now) {
                Ok(card) => match strong::<GiftCard>(reader, vec![card.key()], budget).await?.pop() {
                    Some(found) => same_if(GiftCardRecord::from(found) == *record),
                    None => Existing::Absent(Transaction::of_gift_card(&card)?),
                },
                Err(reasons) => refused(&reasons),
            },
            Record::Order(record) => self.compare_order(reader, record, with, budget).await?,
        };
        if matches!(existing, Existing::Same) {
            self.learn(record);
        }
        Ok(existing)
    }

    async fn compare_order(
        &self,
        reader: &Reader,
        record: &OrderRecord,
        with: &Circumstances,
        budget: Budget,
    ) -> Result<Existing, Error> {
        let mut reasons = Vec::new();
        if !self.knows_customer(reader, &record.customer_id, budget).await? {
            reasons.push(format!("customerId: there is no customer {}", record.customer_id));
        }
        for line in &record.lines {
            if !self.knows_product(reader, &line.product_id, budget).await? {
                reasons.push(format!("lines: there is no product {}", line.product_id));
            }
        }
        let mut counted = BTreeSet::new();
        for CodeRecord { code, .. } in &record.codes {
            if self.discount(reader, code, budget).await?.is_some_and(|(is_counted, _)| is_counted) {
                counted.insert(code.as_str());
            }
        }
        let placeable = match record.check(with, |code| counted.contains(code.as_str())) {
            Ok(placeable) if reasons.is_empty() => placeable,
            Ok(_) => return Ok(refused(&reasons)),
            Err(more) => return Ok(refused(&[reasons, more].concat())),
        };
        if placeable.whole.lines.len() > MOST_LINES {
            let items = reader.collection(&ORDER_BY_ID.ask(&record.order_id)).await?;
            if items.iter().any(|item| matches!(item, InOrder::Order(_))) {
                return continued(&placeable, items, with.product_shards);
            }
        } else {
            match read_order(reader, &record.order_id).await {
                Ok(None) => {}
                Ok(Some(found)) => return Ok(same_if(found == of(&placeable))),
                // Such as a long order that an import began, and that is shorter in this file.
                Err(Error::Inconsistent(_)) => return Ok(same_if(false)),
                Err(error) => return Err(error),
            }
        }
        let invoice = &placeable.whole.invoice.invoice_id;
        // An id that does not contain the order's may belong to another order's invoice.
        if invoice.order().is_none() && reader.one(&IMPORTED_INVOICE_BY_ID.ask(invoice)).await?.is_some() {
            return Ok(refused(&[format!("invoiceId: {invoice} belongs to another order")]));
        }
        Ok(Existing::Absent(Transaction::of_order(&placeable, with.product_shards)?))
    }

    /// Records that a record is in the table, or would be.
    pub(super) fn learn(&self, record: &Record) {
        let mut known = self.known();
        match record {
            Record::Customer(record) => _ = known.customers.insert(record.customer_id.clone(), true),
            Record::Guest(record) => _ = known.customers.insert(record.customer_id.clone(), true),
            Record::Product(record) => _ = known.products.insert(record.product_id.clone(), true),
            Record::Discount(record) => {
                let limit = record.max_uses;
                known.discounts.entry(record.code.clone()).or_insert(Some((limit.is_some(), limit.unwrap_or(0))));
            }
            Record::GiftCard(record) => _ = known.cards.entry(record.code.clone()).or_insert(Some(record.initial)),
            Record::Order(_) => {}
        }
    }

    /// Takes the money of an order's gift cards and a use of its code, for a check. The reason for a refusal if it cannot.
    pub(super) async fn reserve(
        &self,
        reader: &Reader,
        record: &Record,
        with: &Circumstances,
        budget: Budget,
    ) -> Result<Option<String>, Error> {
        let Record::Order(record) = record else { return Ok(None) };
        if record.status == OrderStatus::Cancelled {
            return Ok(None);
        }
        for used in &record.gift_cards {
            let is_read = self.known().cards.contains_key(&used.code);
            if !is_read {
                let found: Option<GiftCard> = strong(reader, vec![GiftCard::key_of(&used.code)], budget).await?.pop();
                self.known().cards.entry(used.code.clone()).or_insert(found.map(|card| card.balance));
            }
        }
        let Ok(placeable) = record.check(with, |_| false) else { return Ok(None) };
        let mut known = self.known();
        let mut cards = Vec::new();
        for payment in &placeable.whole.invoice.payments {
            let Payment::GiftCard { code, amount, credited, .. } = payment else { continue };
            let taken = Money::nearest(amount.amount() - credited, amount.currency());
            match known.cards.get(code).copied().flatten().and_then(|balance| balance.checked_sub(taken)) {
                Some(left) => cards.push((code.clone(), Some(left))),
                None => return Ok(Some(format!("giftCards: {code} is not there, or has less than {amount}"))),
            }
        }
        let has_left = |code: &DiscountCode| !matches!(known.discounts.get(code), Some(Some((true, 0))));
        if let Some(CodeRecord { code, .. }) = record.codes.iter().find(|used| !has_left(&used.code)) {
            return Ok(Some(format!("the code {code} has no uses left")));
        }
        for CodeRecord { code, .. } in &record.codes {
            if let Some(Some((true, left))) = known.discounts.get_mut(code) {
                *left -= 1;
            }
        }
        known.cards.extend(cards);
        Ok(None)
    }

    async fn knows_customer(&self, reader: &Reader, id: &CustomerId, budget: Budget) -> Result<bool, Error> {
        let known = self.known().customers.get(id).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = if id.is_guest() {
            // An expiring guest may be gone before its orders are.
            strong::<Guest>(reader, vec![Guest::key_of(id)], budget)
                .await?
                .iter()
                .any(|guest| guest.expires_at.is_none())
        } else {
            !strong::<Customer>(reader, vec![Customer::key_of(id)], budget).await?.is_empty()
        };
        self.known().customers.insert(id.clone(), found);
        Ok(found)
    }

    async fn knows_product(&self, reader: &Reader, id: &ProductId, budget: Budget) -> Result<bool, Error> {
        let known = self.known().products.get(id).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found = !strong::<Product>(reader, vec![Product::key_of(id)], budget).await?.is_empty();
        self.known().products.insert(id.clone(), found);
        Ok(found)
    }

    async fn discount(
        &self,
        reader: &Reader,
        code: &DiscountCode,
        budget: Budget,
    ) -> Result<Option<(bool, u32)>, Error> {
        let known = self.known().discounts.get(code).copied();
        if let Some(known) = known {
            return Ok(known);
        }
        let found: Option<Discount> = strong(reader, vec![Discount::key_of(code)], budget).await?.pop();
        let left = |code: &Discount| code.max_uses.map_or(0, |most| most.saturating_sub(code.uses));
        let found = found.map(|code| (code.is_limited(), left(&code)));
        self.known().discounts.insert(code.clone(), found);
        Ok(found)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn compare_customer(reader: &Reader, customer: &Customer, budget: Budget) -> Result<Existing, Error> {
    let transaction = Transaction::of_customer(customer)?;
    let claims = [
        EmailClaim { email: customer.email.clone(), customer_id: customer.customer_id.clone() }.key(),
        UsernameClaim { username: customer.username.clone(), customer_id: customer.customer_id.clone() }.key(),
    ];
    let claims = claims.into_iter().filter(|_| !customer.is_erased());
    let keys = std::iter::once(customer.key()).chain(claims).collect();
    let mut reasons = Vec::new();
    for held in strong::<Held>(reader, keys, budget).await? {
        match held {
            Held::Customer(found) => {
                return Ok(same_if(CustomerRecord::from(found) == CustomerRecord::from(customer.clone())));
            }
            Held::EmailClaim(claim) => reasons.push(format!("email: {} belongs to another customer", claim.email)),
            Held::UsernameClaim(claim) => {
                reasons.push(format!("username: {} belongs to another customer", claim.username));
            }
        }
    }
    Ok(if reasons.is_empty() { Existing::Absent(transaction) } else { refused(&reasons) })
}

/// A long order whose header is in the table. An interrupted import may not have written all of its lines.
fn continued(placeable: &Placeable, mut items: Vec<InOrder>, shards: ProductShards) -> Result<Existing, Error> {
    let Placeable { whole: expected, .. } = placeable;
    let is_there = |line: &OrderItem| {
        let is_it = |there: &OrderItem| there.line.product_id == line.line.product_id;
        items.iter().any(|item| matches!(item, InOrder::OrderItem(there) if is_it(there)))
    };
    let missing: Vec<_> = write::items(expected, shards).filter(|line| !is_there(line)).collect();
    items.extend(missing.iter().cloned().map(InOrder::OrderItem));
    let lines = items.iter().filter(|item| matches!(item, InOrder::OrderItem(_))).count();
    let is_header = |item: &InOrder| matches!(item, InOrder::Order(header) if usize::from(header.line_count) == lines);
    if !items.iter().any(is_header) {
        return Ok(same_if(false));
    }
    let due = due_since(&items);
    let Ok(Some(OrderState::Placed(mut found))) = InOrder::assemble(items) else {
        return Err(Error::contention("another import is writing the order"));
    };
    if !missing.is_empty() {
        // Without all of its lines no request can read the order, and a flag is all that one can have changed.
        found.flag.clone_from(&expected.flag);
    }
    // A record leaves out what follows from the lines, of which the header may have been made of others.
    let sums = |whole: &WholeOrder| {
        let Order { subtotal, units, tax, credits, .. } = &whole.order;
        (*subtotal, *units, *tax, credits.clone(), whole.invoice.taxes.clone())
    };
    let is_same = OrderRecord::of(&found, due) == of(placeable) && sums(&found) == sums(expected);
    Ok(match (is_same, missing.is_empty()) {
        (true, false) => Existing::Begun(write::rest_of(&expected.order, &missing)?),
        (is_same, _) => same_if(is_same),
    })
}

/// The order in the table, as a record.
pub(super) async fn read_order(reader: &Reader, id: &OrderId) -> Result<Option<OrderRecord>, Error> {
    // The loop repeats only while a transaction of this order becomes visible.
    for _ in 0..20 {
        let items = reader.collection(&ORDER_BY_ID.ask(id)).await?;
        let due = due_since(&items);
        match InOrder::assemble(items) {
            Ok(Some(OrderState::Placed(whole))) if whole.is_consistent() => {
                return Ok(Some(OrderRecord::of(&whole, due)));
            }
            Ok(None | Some(OrderState::Queued(_))) => return Ok(None),
            Ok(Some(OrderState::Placed(_))) | Err(_) => {
                sleep(Duration::from_millis(20)).await;
            }
        }
    }
    Err(Error::Inconsistent("an order is incomplete"))
}

/// The time since which the payment of an order with these items is due, if it has a mark.
pub(super) fn due_since(items: &[InOrder]) -> Option<Timestamp> {
    items.iter().find_map(|item| match item {
        InOrder::PaymentDue(due) => Some(due.since),
        _ => None,
    })
}

fn of(placeable: &Placeable) -> OrderRecord {
    OrderRecord::of(&placeable.whole, placeable.due.as_ref().map(|due| due.since))
}

/// The product of a whole stock, as a record.
pub(super) async fn read_product(
    reader: &Reader,
    id: &ProductId,
    budget: Budget,
) -> Result<Option<ProductRecord>, Error> {
    let Some((product, stock)) = stock::product(reader, id, ReadMode::Snapshot, budget).await? else { return Ok(None) };
    let keys = vec![ProductDescription::key_of(id)];
    let long = if product.description_continues() { strong(reader, keys, budget).await?.pop() } else { None };
    let Some(described) = catalogue::described(reader, product, long, budget).await? else { return Ok(None) };
    let description = described.description.ok_or(Error::Inconsistent("a product has no description"))?;
    Ok(Some(ProductRecord::of(described.product, description, &stock)))
}
