//! Checks across partitions, after the whole table was read.

use std::collections::BTreeSet;

use counting::{Aggregate, Bounds, Counts};
use key_schema::entity::OrderItem;
use key_schema::value::{CustomerId, Money, ProductId};

use super::Report;
use super::accounts::{Accounts, Cells, Parts, Taken};

impl Accounts {
    /// Checks what spans partitions, and reports.
    pub(super) fn close(mut self) -> Report {
        for (id, parts) in std::mem::take(&mut self.orders) {
            let Parts { order, lines, invoice, returns, shipments, .. } = parts;
            let lacks_returns = order.as_ref().is_some_and(|order| returns.len() != order.return_statuses.len());
            let lacks_shipments = order.as_ref().is_some_and(|order| shipments.len() != order.shipment_statuses.len());
            let lacks = [
                ("header", order.is_none()),
                ("invoice", invoice.is_none()),
                ("returns", lacks_returns),
                ("shipments", lacks_shipments),
            ];
            let missing: Vec<_> = lacks.iter().filter(|(_, lacks)| *lacks).map(|(name, _)| *name).collect();
            let of = order.as_ref().map_or("an unknown number".to_owned(), |order| order.line_count.to_string());
            let what = format!("it is incomplete: {} lines of {of}, lacks {missing:?}", lines.len());
            self.breach(format!("order {id}"), what);
            if let Some(order) = order {
                self.tally(&order, &OrderItem::lines(lines), invoice.as_ref().map_or(&[], |invoice| &invoice.payments));
            }
        }
        let products = std::mem::take(&mut self.products);
        let known: BTreeSet<_> = products.keys().cloned().collect();
        for (id, Cells { declared, price_version, others, transferred }) in std::mem::take(&mut self.cells) {
            let expected: Vec<_> = (1..declared.unwrap_or(1)).collect();
            let found: Vec<_> = others.keys().copied().collect();
            if found != expected {
                let what = format!("the other cells of its stock are {found:?}, and should be {expected:?}");
                self.breach(format!("product {id}"), what);
            } else if transferred != 0 {
                let what = format!("the marks of transfers between the cells of its stock add up to {transferred}");
                self.breach(format!("product {id}"), what);
            }
            let copy = products.get(&id).and_then(|[_, copy]| *copy);
            // A cell with an earlier version of the price gets the new price with its next order.
            let differs = |price: Money, version: u64| Some(price) != copy && version >= price_version;
            for (cell, (price, _)) in others.into_iter().filter(|(_, (price, version))| differs(*price, *version)) {
                let copy = copy.map_or("not there".to_owned(), |copy| copy.to_string());
                self.breach(
                    format!("product {id}"),
                    format!("its price in cell {cell} is {price}, in the first {copy}"),
                );
            }
        }
        for (id, [price, copy]) in products {
            if price != copy {
                let text = |price: Option<Money>| price.map_or("not there".to_owned(), |price| price.to_string());
                let what = format!("its price is {}, the price in its stock {}", text(price), text(copy));
                self.breach(format!("product {id}"), what);
            }
        }
        for (id, hashes) in std::mem::take(&mut self.descriptions) {
            let what = match hashes {
                [Some(_), Some(_)] => "its long description is another one",
                [Some(_), None] => "its long description is not there",
                [None, _] => "its long description is there, and none is needed",
            };
            self.breach(format!("product {id}"), what.to_owned());
        }
        for (category, off) in std::mem::take(&mut self.categories) {
            self.balanced(
                off,
                || format!("category {category}"),
                "products counted beyond those that are counted in it",
            );
        }
        for (code, off) in std::mem::take(&mut self.cards) {
            self.balanced(off, || format!("gift card {code}"), "taken from its balance without an entry");
        }
        for ((order, code), Taken { times, captured }) in std::mem::take(&mut self.taken) {
            let what = match times {
                0 => format!("{captured} paid with gift card {code} beyond the card's entry"),
                1.. => format!("it is paid with gift card {code}, which has no entry for it"),
                _ => format!("gift card {code} has an entry for it, but it is not paid with that card"),
            };
            self.breach(format!("order {order}"), what);
        }
        for (code, off) in std::mem::take(&mut self.uses) {
            self.balanced(off, || format!("discount {code}"), "uses counted beyond the orders that have it");
        }
        for (of, off) in std::mem::take(&mut self.held) {
            self.balanced(off, || of, "held by guests beyond their unpaid orders");
        }
        for (series, fault) in std::mem::take(&mut self.numbers).faults() {
            self.breach(format!("series {series}"), fault);
        }
        for (key, [claimed, held]) in std::mem::take(&mut self.claims) {
            if claimed != held {
                let text = |id: Option<CustomerId>| id.map_or("nobody".to_owned(), |id| id.to_string());
                self.breach(key, format!("it is claimed by {}, and in the profile of {}", text(claimed), text(held)));
            }
        }
        self.claimed_guests();
        let ordered: Vec<_> = self.bounds.keys().filter_map(product).cloned().collect();
        for id in ordered.into_iter().filter(|id| !known.contains(id)) {
            self.breach(format!("product {id}"), "it is ordered, and not in the catalogue".to_owned());
        }
        self.compare();
        self.report.breaches.sort();
        self.report
    }

    /// A customer may still name a guest who was erased. But the erasure of the customer must find the guest.
    fn claimed_guests(&mut self) {
        for ((guest, customer), names) in std::mem::take(&mut self.guests) {
            if names == [true, false] {
                self.breach(
                    format!("guest {guest}"),
                    format!("it is claimed by {customer}, who does not name the guest"),
                );
            }
        }
    }

    fn balanced(&mut self, off: i64, of: impl FnOnce() -> String, what: &str) {
        if off != 0 {
            self.breach(of(), format!("{off} {what}"));
        }
    }

    /// Compares the counters with the orders.
    fn compare(&mut self) {
        let (mut bounds, horizon) = (std::mem::take(&mut self.bounds), self.horizon);
        let counted = std::mem::take(&mut self.counted);
        for aggregate in counted.keys() {
            bounds.entry(aggregate.clone()).or_insert_with_key(|key| Bounds::new(key.clone(), horizon));
        }
        for (aggregate, bounds) in bounds {
            let deficit = bounds.deficit(counted.get(&aggregate).unwrap_or(&Counts::default()));
            if !deficit.is_empty() {
                let deficit = serde_json::to_string(&deficit).unwrap_or_default();
                self.breach(aggregate.to_string(), format!("its counts lack {deficit}"));
            } else if !bounds.is_settled() {
                self.report.unsettled += 1;
            }
        }
    }
}

fn product(aggregate: &Aggregate) -> Option<&ProductId> {
    match aggregate {
        Aggregate::Product(id) => Some(id),
        _ => None,
    }
}
