//! The table that a command reads or writes: the running stack's, or a deployed one.

use anyhow::{Context, Result, ensure};
use clap::Args;
use key_schema::layout::Layout;
use lambda::Environment;
use local::history::Options;

use super::DEFAULT_PORT;
use super::stack::Stack;

/// The options that name a table.
#[derive(Args)]
pub(super) struct Place {
    /// The name of a deployed table [default: the table of the running stack]
    #[arg(long)]
    table: Option<String>,

    /// The layout of the keys in --table: v1 or v2
    #[arg(long, value_name = "LAYOUT", default_value = "v1", requires = "table")]
    layout: Layout,

    /// The running stack's port on 127.0.0.1
    #[arg(long, default_value_t = DEFAULT_PORT, conflicts_with = "table")]
    port: u16,
}

impl Place {
    /// The environment of a function of this table. For a deployed table, these are the process's variables and `more`.
    pub(super) async fn environment(&self, more: &[(&str, u8)]) -> Result<Environment> {
        if let Some(table) = &self.table {
            let more = more.iter().map(|(name, number)| ((*name).to_owned(), number.to_string()));
            let place = [("TABLE_NAME", table.clone()), ("TABLE_LAYOUT", self.layout.to_string())];
            let place = place.map(|(name, value)| (name.to_owned(), value));
            return Ok(Environment::of_process().with(more).with(place));
        }
        of_stack(self.port).await
    }

    /// The URL of a queue of the running stack, by its logical id.
    pub(super) async fn queue(&self, logical_id: &str) -> Result<String> {
        let connection = Stack::at(self.port)?.look("/_local/connection").await?;
        let url = connection["queues"][logical_id].as_str();
        url.map(str::to_owned).with_context(|| format!("the stack has no queue {logical_id}"))
    }

    /// Whether a deployed table is named.
    pub(super) fn is_deployed(&self) -> bool {
        self.table.is_some()
    }
}

/// The numbers of shards, which the keys of orders and of their lines have.
#[derive(Args)]
pub(super) struct Shards {
    /// The parameter `StatusShards` of the deployed table's stack
    #[arg(long, requires = "table", value_parser = clap::value_parser!(u8).range(1..=64))]
    status_shards: Option<u8>,

    /// The parameter `ProductShards` of the deployed table's stack
    #[arg(long, requires = "table", value_parser = clap::value_parser!(u8).range(1..=64))]
    product_shards: Option<u8>,
}

impl Shards {
    /// The environment of a function of this table that writes orders.
    pub(super) async fn environment(&self, place: &Place) -> Result<Environment> {
        let shards = [("STATUS_SHARDS", self.status_shards), ("PRODUCT_SHARDS", self.product_shards)];
        let shards: Vec<_> = shards.into_iter().filter_map(|(name, shards)| Some((name, shards?))).collect();
        ensure!(
            !place.is_deployed() || shards.len() == 2,
            "--table needs --status-shards and --product-shards, as the table's stack was deployed with them"
        );
        place.environment(&shards).await
    }
}

/// The table into which records are imported, and how fast.
#[derive(Args)]
pub(super) struct Target {
    #[command(flatten)]
    place: Place,

    #[command(flatten)]
    shards: Shards,

    /// Only check the records against the table, and write nothing
    #[arg(long)]
    check: bool,

    /// Also import orders that are not history: unpaid ones, which expire, and payments that are not finished
    #[arg(long)]
    open: bool,

    /// The second table, if the deployed table migrates to it: `NEXT_TABLE_NAME` of the functions
    #[arg(long, value_name = "NAME", requires = "table")]
    next_table: Option<String>,

    /// The layout of the keys in --next-table
    #[arg(long, value_name = "LAYOUT", default_value = "v2", requires = "next_table")]
    next_layout: Layout,

    /// The most write units a second of the table, and of each index [default: no limit]
    #[arg(long, value_name = "UNITS", value_parser = positive)]
    units_per_second: Option<f64>,
}

impl Target {
    /// The environment of a function of this table that writes orders.
    pub(super) async fn environment(&self) -> Result<Environment> {
        let next = self.next_table.iter().flat_map(|table| {
            let layout = self.next_layout.to_string();
            [("NEXT_TABLE_NAME".to_owned(), table.clone()), ("NEXT_TABLE_LAYOUT".to_owned(), layout)]
        });
        Ok(self.shards.environment(&self.place).await?.with(next))
    }

    /// The options of an import into this table.
    pub(super) fn options(&self) -> Options {
        Options { check: self.check, open: self.open, units_per_second: self.units_per_second }
    }
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0);
    number.ok_or_else(|| "must be a number above 0".to_owned())
}

/// The environment of a function of the stack that runs on this port, with the variables of all functions, as an operator.
pub(super) async fn of_stack(port: u16) -> Result<Environment> {
    let connection = Stack::at(port)?.look("/_local/connection").await?;
    let functions = connection["functions"].as_object().context("the stack names no functions")?;
    let variables = functions.values().filter_map(|variables| variables.as_object()).flatten();
    let variables = variables.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())));
    let own = [
        ("AWS_ACCESS_KEY_ID", Some("local")),
        // Not the one that checks roles.
        ("AWS_ENDPOINT_URL_DYNAMODB", connection["dynamodb"].as_str()),
    ];
    let own = own.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
    Ok(Environment::of(variables.chain(own)))
}
