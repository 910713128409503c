//! The items of the designs: Till's attributes in other rows and documents.

use std::collections::HashMap;

use anyhow::{Context, Result};
use capacity::size::of_item;
use key_schema::entity::{OrderStatus, PaymentState};
use key_schema::layout::{ENTITY_TYPE, Index};
use sample_items::Kind::{Customer, Invoice, Order, OrderItem, Product, Stock};
use sample_items::{Kind, Revision::First, Sample};
use serde_dynamo::{AttributeValue, Item};

use crate::deployment::Deployment;
use crate::profile::Profile;

/// The item limit in bytes.
const MOST_BYTES: usize = 400 * 1024;

/// Rows and documents of a typical order, with its customer and its products.
pub(super) struct Items {
    pub(super) sample: Sample,
    lines: usize,
}

impl Items {
    /// Items with the profile's sizes.
    pub(super) fn of(profile: &Profile, deployment: &Deployment) -> Result<Self> {
        let sample = Sample::new(profile.typical(deployment)).context("a typical order")?;
        Ok(Self { lines: usize::try_from(sample.sizes().lines)?, sample })
    }

    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    pub(super) fn lines_of_an_order(&self) -> f64 {
        f64::from(self.sample.sizes().lines)
    }

    /// An order with its invoice in one row, and the ids of its lines.
    pub(super) fn order_row(&self) -> Item {
        let mut row = self.bare(Invoice(PaymentState::Pending));
        row.extend(self.bare(Order(OrderStatus::Pending)).into_inner());
        row.insert("lineIds".to_owned(), AttributeValue::L(vec![self.id(); self.lines]));
        row
    }

    /// A line, under an id of its own.
    pub(super) fn line_row(&self) -> Item {
        let mut row = self.bare(OrderItem);
        row.insert("lineId".to_owned(), self.id());
        row
    }

    /// A product with its stock.
    pub(super) fn product_row(&self) -> Item {
        let mut row = self.bare(Product(First));
        row.extend(self.bare(Stock(First)).into_inner());
        row
    }

    /// Profiles with whole orders.
    pub(super) fn customers(&self) -> Documents {
        let line = AttributeValue::M(without(&self.bare(OrderItem), &["orderId", "customerId", "placedAt"]));
        let mut order = without(&self.order_row(), &["customerId", "lineIds"]);
        order.insert("lines".to_owned(), AttributeValue::L(vec![line; self.lines]));
        Documents::of(self.customer_row(), order)
    }

    /// Products with the orders that they are in.
    pub(super) fn products(&self) -> Documents {
        Documents::of(self.product_row(), without(&self.bare(OrderItem), &["productId", "name", "unitPrice"]))
    }

    /// An item without the attributes that only Till's design needs.
    fn bare(&self, kind: Kind) -> Item {
        let item = self.sample.item(kind).cloned().unwrap_or_default();
        let of = |index: Index| index.attributes();
        let keys = [Index::Table, Index::Gsi1, Index::Gsi2].map(of);
        let names: Vec<&str> =
            keys.iter().flat_map(|(partition, sort)| [*partition, *sort]).chain([ENTITY_TYPE, "shard"]).collect();
        without(&item, &names).into()
    }

    /// A profile.
    pub(super) fn customer_row(&self) -> Item {
        self.bare(Customer(First))
    }

    /// An id of the shop.
    fn id(&self) -> AttributeValue {
        AttributeValue::S("i".repeat(self.sample.sizes().id))
    }
}

/// The attributes of an item except these.
fn without(item: &Item, names: &[&str]) -> HashMap<String, AttributeValue> {
    let kept = item.iter().filter(|(name, _)| !names.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Items with lists that grow.
pub(super) struct Documents {
    /// Bytes of a document with an empty list.
    empty: usize,
    /// Bytes of an element.
    element: usize,
}

impl Documents {
    fn of(mut item: Item, element: HashMap<String, AttributeValue>) -> Self {
        let mut with = |list| {
            item.insert("orders".to_owned(), AttributeValue::L(list));
            of_item(&item)
        };
        let empty = with(Vec::new());
        Self { empty, element: with(vec![AttributeValue::M(element)]) - empty }
    }

    /// The bytes of a document with this many elements. `None` if that exceeds the item limit.
    pub(super) fn one(&self, elements: usize) -> Option<usize> {
        Some(self.empty + self.element * elements).filter(|bytes| *bytes <= MOST_BYTES)
    }

    /// The bytes of this many documents with this many elements in total.
    pub(super) fn all(&self, documents: usize, elements: usize) -> usize {
        self.empty * documents + self.element * elements
    }
}
