//! Models of other people: their items as Till's records, as far as they go.
//!
//! Such a model has the items of a shop under keys of its own. An item's kind is told by its type attribute or by the
//! beginnings of its keys, and its values by the names of its attributes. Whatever Till needs and the model lacks is made
//! up if that harms nothing, and is named; otherwise the item is left out, and is named, too.

mod attributes;
mod order;

use std::collections::{BTreeMap, BTreeSet};

use key_schema::value::Timestamp;

use self::attributes::{Attributes, ItemKind};
use self::order::Parts;
use super::super::record::{CustomerRecord, ProductRecord, Record};
use super::finding::{Finding, Kind};
use super::{Amounts, Numbered, Reading};

/// The category of a product without one.
const NO_CATEGORY: &str = "uncategorised";

/// A reader of the items of a model.
struct Publication {
    /// The time of what has none: when the model was made.
    since: Timestamp,
    amounts: Amounts,
    reading: Reading,
    usernames: BTreeSet<String>,
    /// The names of products, by their ids.
    names: BTreeMap<String, String>,
}

/// Reads the items of all tables.
pub(super) fn read(items: Vec<Numbered>, since: Timestamp, amounts: Amounts) -> Reading {
    let mut this =
        Publication { since, amounts, reading: Reading::default(), usernames: BTreeSet::new(), names: BTreeMap::new() };
    let mut orders: BTreeMap<String, Parts> = BTreeMap::new();
    for numbered in items {
        let mut item = Attributes::of(numbered);
        match item.kind() {
            Some(ItemKind::Customer) => this.customer(item),
            Some(ItemKind::Product) => this.product(item),
            Some(kind) => match item.id(ItemKind::Order) {
                Some(order) => orders.entry(order).or_default().add(kind, item),
                None => this.leave_out(&item, "it names no order"),
            },
            None => this.leave_out(&item, "it is no customer, product, order, line, invoice or payment"),
        }
    }
    for (id, parts) in orders {
        this.order(&id, parts);
    }
    this.reading.findings.sort_by_key(|finding| finding.place.clone());
    this.reading
}

impl Publication {
    fn note(&mut self, item: &Attributes, kind: Kind, text: impl Into<String>) {
        self.reading.findings.push(Finding::about(&item.numbered, kind, text));
    }

    fn leave_out(&mut self, item: &Attributes, why: impl Into<String>) {
        self.note(item, Kind::LeftOut, why);
    }

    /// Adds a record that was made of this item, and names the attributes that were not used.
    fn add(&mut self, item: &Attributes, record: Record) {
        self.finish(item);
        self.reading.records.push((item.numbered.place(), record));
    }

    /// Notes what was made up for an item, and which attributes were not used.
    fn finish(&mut self, item: &Attributes) {
        let unused = item.unused();
        for text in &item.made_up {
            self.note(item, Kind::MadeUp, text.clone());
        }
        if !unused.is_empty() {
            self.note(item, Kind::Unused, unused.join(", "));
        }
    }

    fn customer(&mut self, mut item: Attributes) {
        let id = item.id(ItemKind::Customer).unwrap_or_default();
        let customer_id = match id.parse() {
            Ok(customer_id) => customer_id,
            Err(invalid) => return self.leave_out(&item, format!("{id}: {invalid}")),
        };
        let Some(address) = item.text(&["email", "emailaddress", "mail"]) else {
            return self.leave_out(&item, "a customer needs an e-mail address, which cannot be made up");
        };
        let email = match address.parse() {
            Ok(email) => email,
            Err(invalid) => return self.leave_out(&item, format!("{address}: {invalid}")),
        };
        let text = item.text(&["username", "login", "handle"]).unwrap_or_else(|| {
            let allowed = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            let mailbox = address.split('@').next().unwrap_or_default();
            let mut name: String = mailbox.chars().filter(|c| allowed(*c)).take(40).collect();
            if name.is_empty() || self.usernames.contains(&name.to_lowercase()) {
                name = format!("{name}-{id}").chars().take(64).collect();
            }
            item.make_up(format!("the username {name}, from the e-mail address"));
            name
        });
        self.usernames.insert(text.to_lowercase());
        let username = match text.parse() {
            Ok(username) => username,
            Err(invalid) => return self.leave_out(&item, format!("{text}: {invalid}")),
        };
        let name = item.text(&["name", "fullname", "customername", "displayname"]).unwrap_or_else(|| {
            item.make_up(format!("the name {text}, from the username"));
            text.clone()
        });
        let created_at =
            item.time(&["createdat", "created", "signedupat", "registeredat", "date"], self.since, "the sign-up");
        let record = CustomerRecord::new(customer_id, username, email, name, created_at);
        self.add(&item, Record::Customer(record));
    }

    fn product(&mut self, mut item: Attributes) {
        let id = item.id(ItemKind::Product).unwrap_or_default();
        let product_id = match id.parse() {
            Ok(product_id) => product_id,
            Err(invalid) => return self.leave_out(&item, format!("{id}: {invalid}")),
        };
        let price = match item.money(&["price", "unitprice", "listprice"], self.amounts) {
            Some(Ok(price)) => price,
            Some(Err(why)) => return self.leave_out(&item, why),
            None => return self.leave_out(&item, "a product needs a price, which cannot be made up"),
        };
        let name = item.text(&["name", "title", "productname"]).unwrap_or_else(|| {
            item.make_up(format!("the name {id}, from the id"));
            id.clone()
        });
        let description = item.text(&["description", "details", "summary"]).unwrap_or_default();
        let given = item.text(&["category", "categoryname", "categoryid"]);
        let category = given.as_deref().and_then(|category| category.parse().ok());
        let category = category.or_else(|| {
            let plain: String = given
                .iter()
                .flat_map(|text| text.chars())
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect();
            let name = if plain.is_empty() { NO_CATEGORY } else { &plain };
            item.make_up(format!("the category {name}"));
            name.parse().ok()
        });
        let Some(category) = category else { return self.leave_out(&item, "its category is no name") };
        let available = item.whole(&["available", "stock", "quantity", "inventory", "instock", "units", "onhand"]);
        let available = match available {
            Ok(Some(available)) => available,
            Ok(None) => {
                item.make_up("a stock of 0 units");
                0
            }
            Err(why) => return self.leave_out(&item, why),
        };
        self.names.insert(id, name.clone());
        let product = ProductRecord::new(product_id, name, category, price, available);
        self.add(&item, Record::Product(ProductRecord { description, ..product }));
    }
}
