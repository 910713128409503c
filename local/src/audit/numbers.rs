//! The numbers of invoices: those of a series are 1 to its counter, each once.

use std::collections::{BTreeMap, BTreeSet};

use key_schema::entity::{Invoice, InvoiceCounter};
use key_schema::value::InvoiceSeries;

/// The numbers of all series.
#[derive(Default)]
pub(super) struct Numbers(BTreeMap<InvoiceSeries, Series>);

#[derive(Default)]
struct Series {
    /// The counter; 0 if there is no item.
    last: u64,
    given: BTreeSet<u64>,
    repeated: BTreeSet<u64>,
    /// The highest number of an imported order; 0 without one. A history need not have all numbers below it.
    imported: u64,
}

impl Numbers {
    pub(super) fn add_counter(&mut self, InvoiceCounter { series, last }: InvoiceCounter) {
        self.0.entry(series).or_default().last = last;
    }

    pub(super) fn add_invoice(&mut self, invoice: &Invoice, is_imported: bool) {
        let Some(number) = &invoice.number else { return };
        let series = self.0.entry(number.series.clone()).or_default();
        series.imported = if is_imported { series.imported.max(number.place) } else { series.imported };
        if !series.given.insert(number.place) {
            series.repeated.insert(number.place);
        }
    }

    /// What is wrong, each with the series.
    pub(super) fn faults(self) -> Vec<(InvoiceSeries, String)> {
        let faults = self.0.into_iter().flat_map(|(id, series)| {
            let Series { last, given, repeated, imported } = series;
            let beyond = given.last().copied().filter(|highest| *highest > last);
            // Without numbers beyond the counter, as many numbers as it says are all of them.
            let missing = last.saturating_sub(imported).saturating_sub(given.range(imported + 1..).count() as u64);
            let faults = [
                repeated.first().map(|place| format!("the number {place} is given more than once")),
                beyond.map(|highest| format!("the number {highest} is beyond the counter, which is {last}")),
                (missing > 0).then(|| format!("{missing} of its {last} numbers belong to no invoice")),
            ];
            faults.into_iter().flatten().map(move |fault| (id.clone(), fault))
        });
        faults.collect()
    }
}
