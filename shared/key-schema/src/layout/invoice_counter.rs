//! The counters of invoice numbers. They are read only by key.

use crate::entity::InvoiceCounter;
use crate::value::InvoiceSeries;

use super::{Key, Place, PlaceText, Stored, Template};

const SERIES: Template<InvoiceSeries> = Template::new("series#{series}");
const COUNTER: Place<InvoiceSeries, InvoiceSeries> = Place::table(SERIES, SERIES);

impl Stored for InvoiceCounter {
    const PLACES: &'static [PlaceText] = &[COUNTER.text()];

    fn key(&self) -> Key {
        Self::key_of(&self.series)
    }
}

impl InvoiceCounter {
    /// The key of a series' counter.
    pub fn key_of(series: &InvoiceSeries) -> Key {
        COUNTER.key(series, series)
    }
}
