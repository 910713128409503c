//! The laws of an order's shipments in a record.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{LineUnits, Order, OrderLine, OrderStatus};
use key_schema::value::ProductId;

use super::order_record::OrderRecord;
use super::record::require;

impl OrderRecord {
    pub(super) fn check_shipments(&self, reasons: &mut Vec<String>) {
        let most = Order::MOST_SHIPMENTS;
        let (count, status) = (self.shipments.len(), self.status);
        let may_have = matches!(status, OrderStatus::Packing | OrderStatus::Shipped | OrderStatus::Delivered);
        require(reasons, count <= most, || format!("shipments: must be at most {most}"));
        require(reasons, count == 0 || may_have, || format!("shipments: the order is {status}"));
        let all_delivered = self.delivered_shipments() == count;
        require(reasons, status != OrderStatus::Delivered || all_delivered, || {
            "shipments: one is not delivered, but the order is".to_owned()
        });
        let mut ids = BTreeSet::new();
        for one in &self.shipments {
            let id = &one.shipment_id;
            require(reasons, ids.insert(id.as_str()), || format!("shipments: {id} is there twice"));
            require(reasons, id.order().as_ref() == Some(&self.order_id), || {
                format!("shipments: {id} does not begin with shp- and the order's id")
            });
            require(reasons, !one.lines.is_empty(), || format!("shipments: {id} has no lines"));
        }
        for (product, units) in self.shipped() {
            require(reasons, units <= self.ordered(product), || {
                format!("shipments: {units} {product} are shipped, more than were ordered")
            });
        }
    }

    /// The number of shipments that are delivered.
    pub(super) fn delivered_shipments(&self) -> usize {
        self.shipments.iter().filter(|one| one.delivered_at.is_some()).count()
    }

    /// The units in shipments, in the order of the lines.
    pub(super) fn shipped_lines(&self, lines: &[OrderLine]) -> Vec<LineUnits> {
        let shipped = self.shipped();
        let of_line = |line: &OrderLine| {
            let quantity = i64::from(*shipped.get(&line.product_id)?).try_into().ok()?;
            Some(LineUnits { product_id: line.product_id.clone(), quantity })
        };
        lines.iter().filter_map(of_line).collect()
    }

    fn shipped(&self) -> BTreeMap<&ProductId, u32> {
        let mut shipped: BTreeMap<&ProductId, u32> = BTreeMap::new();
        for units in self.shipments.iter().flat_map(|one| &one.lines) {
            let sum = shipped.entry(&units.product_id).or_default();
            *sum = sum.saturating_add(units.quantity.get());
        }
        shipped
    }
}
