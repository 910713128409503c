//! The attributes of an item whose names are not known exactly.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;
use std::sync::Arc;

use jiff::civil::DateTime;
use key_schema::value::{Money, Timestamp};
use serde_json::Value;

use super::super::{Amounts, Numbered, format};

/// The kinds of items that Till has a place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ItemKind {
    Customer,
    Product,
    Order,
    Line,
    Invoice,
    Payment,
}

/// An item, the attributes that were asked for, and what was made up for it.
pub(super) struct Attributes {
    pub(super) numbered: Numbered,
    /// The values by their names in lower case without punctuation, also those inside of maps, each with its path.
    values: BTreeMap<String, (String, Value)>,
    used: BTreeSet<String>,
    pub(super) made_up: Vec<String>,
    /// The ids in the keys, by the kind that their beginnings name.
    ids: Vec<(ItemKind, String)>,
}

impl ItemKind {
    /// The kind with this name, however it is spelled.
    fn named(name: &str) -> Option<Self> {
        Some(match plain(name).as_str() {
            "c" | "cust" | "customer" | "customers" | "user" | "client" | "account" => Self::Customer,
            "p" | "prod" | "product" | "products" => Self::Product,
            "o" | "ord" | "order" | "orders" | "orderheader" => Self::Order,
            "orderitem" | "orderline" | "lineitem" | "orderproduct" | "line" | "item" => Self::Line,
            "i" | "inv" | "invoice" | "invoices" => Self::Invoice,
            "pay" | "pmt" | "payment" | "payments" => Self::Payment,
            _ => return None,
        })
    }

    /// Whether an attribute of this name has an id.
    fn is_id(plain: &str) -> bool {
        let kinds = [Self::Customer, Self::Product, Self::Order, Self::Line, Self::Invoice, Self::Payment];
        kinds.iter().any(|kind| kind.id_names().contains(&plain))
    }

    /// The names of an attribute with an id of this kind.
    fn id_names(self) -> [&'static str; 2] {
        match self {
            Self::Customer => ["customerid", "userid"],
            Self::Product => ["productid", "sku"],
            Self::Order => ["orderid", "ordernumber"],
            Self::Line => ["lineid", "orderitemid"],
            Self::Invoice => ["invoiceid", "invoicenumber"],
            Self::Payment => ["paymentid", "transactionid"],
        }
    }
}

/// A name in lower case, without punctuation.
fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

fn collect(path: &str, item: &BTreeMap<String, Value>, values: &mut BTreeMap<String, (String, Value)>) {
    for (name, value) in item {
        let path = format!("{path}{name}");
        match value["M"].as_object() {
            Some(fields) => {
                let fields = fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                collect(&format!("{path}."), &fields, values);
            }
            // An attribute of the item itself comes before one inside of a map.
            None if path.contains('.') => _ = values.entry(plain(name)).or_insert((path, value.clone())),
            None => _ = values.insert(plain(name), (path, value.clone())),
        }
    }
}

impl Attributes {
    pub(super) fn of(numbered: Numbered) -> Self {
        let mut values = BTreeMap::new();
        collect("", &numbered.item, &mut values);
        let ids = numbered.key.iter().filter_map(|key| key.split_once('#'));
        let ids = ids.filter_map(|(kind, id)| Some((ItemKind::named(kind)?, id.to_owned()))).collect();
        // The key is no value, unless its attribute is named like an id, and no more is what repeats it for an index.
        let keys = Arc::clone(&numbered.keys);
        values.retain(|plain, (path, value)| {
            let repeats = || format::text(value).is_some_and(|text| numbered.key.iter().any(|key| key == text));
            let is_key = keys.of_table.contains(path) || (keys.of_indexes.contains(path) && repeats());
            !is_key || ItemKind::is_id(plain)
        });
        Self { numbered, values, used: BTreeSet::new(), made_up: Vec::new(), ids }
    }

    /// The kind of the item, by its type or by its keys.
    pub(super) fn kind(&mut self) -> Option<ItemKind> {
        for name in ["entitytype", "entity", "itemtype", "recordtype", "type"] {
            let Some((_, value)) = self.values.get(name) else { continue };
            if let Some(kind) = format::text(value).and_then(ItemKind::named) {
                self.used.insert(name.to_owned());
                return Some(kind);
            }
            // `type` may be the type of a payment; the others name a kind that is not known.
            if name != "type" {
                return None;
            }
        }
        let kinds: Vec<_> = self.ids.iter().map(|(kind, _)| *kind).collect();
        match kinds[..] {
            [one] => Some(one),
            [one, other] if one == other => Some(one),
            [_, ItemKind::Payment] => Some(ItemKind::Payment),
            [ItemKind::Order, ItemKind::Product] => Some(ItemKind::Line),
            [ItemKind::Order, ItemKind::Invoice] => Some(ItemKind::Invoice),
            [ItemKind::Order, ItemKind::Customer] | [ItemKind::Customer, ItemKind::Order] => Some(ItemKind::Order),
            _ => None,
        }
    }

    /// The id of this kind, in a key or in an attribute.
    pub(super) fn id(&mut self, kind: ItemKind) -> Option<String> {
        let in_key = self.ids.iter().find(|(of, _)| *of == kind).map(|(_, id)| id.clone());
        let in_attribute = self.text(&kind.id_names());
        in_key.or_else(|| in_attribute.map(|id| id.split_once('#').map_or(id.clone(), |(_, id)| id.to_owned())))
    }

    /// The text of the first of these attributes that the item has.
    pub(super) fn text(&mut self, names: &[&str]) -> Option<String> {
        let name = names.iter().find(|name| self.values.contains_key(**name))?;
        let text = format::text(&self.values[*name].1)?.to_owned();
        self.used.insert((*name).to_owned());
        Some(text)
    }

    /// A whole number, if the item has one of these attributes. An error says why it is none.
    pub(super) fn whole<T: FromStr>(&mut self, names: &[&str]) -> Result<Option<T>, String> {
        let Some(name) = names.iter().find(|name| self.values.contains_key(**name)) else { return Ok(None) };
        let number = self.text(&[name]).and_then(|text| text.parse().ok());
        number.map(Some).ok_or_else(|| format!("{name} is no whole number"))
    }

    /// An amount of money. An error says why it is none.
    pub(super) fn money(&mut self, names: &[&str], amounts: Amounts) -> Option<Result<Money, String>> {
        let text = self.text(names)?;
        let money = minor_units(&text, amounts.decimals).and_then(|amount| Money::new(amount, amounts.currency));
        if money.is_some() {
            self.make_up(format!("the currency of {text}"));
        }
        Some(money.ok_or_else(|| format!("{text} is no amount of at most {} decimals", amounts.decimals)))
    }

    /// A time: that of an attribute, or else this one.
    pub(super) fn time(&mut self, names: &[&str], otherwise: Timestamp, what: &str) -> Timestamp {
        let Some(text) = self.text(names) else {
            self.make_up(format!("the time of {what}, {otherwise}"));
            return otherwise;
        };
        if let Ok(at) = text.parse() {
            return at;
        }
        let local = text.parse::<DateTime>().ok().and_then(|at| format!("{at}Z").parse().ok());
        if let Some(at) = local {
            self.make_up(format!("the time zone of {text}: UTC"));
            at
        } else {
            self.make_up(format!("the time of {what}, {otherwise}, because {text} is none"));
            otherwise
        }
    }

    pub(super) fn make_up(&mut self, text: impl Into<String>) {
        self.made_up.push(text.into());
    }

    /// The paths of the attributes that nobody asked for.
    pub(super) fn unused(&self) -> Vec<String> {
        let unused = self.values.iter().filter(|(name, _)| !self.used.contains(*name));
        unused.map(|(_, (path, _))| path.clone()).collect()
    }
}

/// An amount such as `10` or `9.99` in minor units.
fn minor_units(text: &str, decimals: u32) -> Option<i64> {
    let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
    let missing = usize::try_from(decimals).ok()?.checked_sub(rest.len())?;
    let digits = format!("{whole}{rest}");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("{digits}{}", "0".repeat(missing)).parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::minor_units;

    #[test]
    fn an_amount_is_read_exactly_or_not_at_all() {
        let cases = [
            ("10", Some(1000)),
            ("9.99", Some(999)),
            ("9.9", Some(990)),
            ("0.05", Some(5)),
            ("9.999", None),
            ("-1", None),
            ("1e3", None),
            ("", None),
            (".", None),
            ("ten", None),
            ("99999999999999999999", None),
        ];
        for (text, expected) in cases {
            assert_eq!(minor_units(text, 2), expected, "{text}");
        }
        assert_eq!(minor_units("500", 0), Some(500));
    }
}
