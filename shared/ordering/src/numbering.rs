//! Whether invoices get numbers.

use key_schema::value::{InvoiceSeries, OrderId};
use lambda::{Environment, FromEnvironment, Misconfigured};
use table::StatusShards;

/// The series that gives invoices their numbers: the variable `INVOICE_SERIES`. Without one, invoices get no numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbering(Option<InvoiceSeries>);

impl Numbering {
    /// Numbers of this series.
    pub const fn of(series: InvoiceSeries) -> Self {
        Self(Some(series))
    }

    /// The series.
    pub const fn series(&self) -> Option<&InvoiceSeries> {
        self.0.as_ref()
    }

    /// The shard in which the invoice of a new order waits for its number. `None` if it gets none.
    pub(crate) fn shard_of(&self, order: &OrderId, shards: StatusShards) -> Option<u8> {
        self.0.as_ref().map(|_| order.spread(shards.0))
    }
}

impl FromEnvironment for Numbering {
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
        let Some(series) = environment.declared("INVOICE_SERIES")? else { return Ok(Self::default()) };
        let series = series.parse();
        Ok(Self(Some(series.map_err(|invalid| Misconfigured::Invalid(format!("INVOICE_SERIES: {invalid}")))?)))
    }
}
