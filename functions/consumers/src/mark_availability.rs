//! SQS: writes to a product whether it can be bought, after its stock crossed a mark.
//!
//! A message is an event `StockRanLow`, of which only the product's id is read. The function reads product and stock, writes
//! what the stock says if the product says something else, and looks again until both say the same.
//!
//! **Law: once no stock changes any more, each product says what its stock says.** Take the last write of a product's
//! availability. Its writer looked again after it, and found that the stock says the same. If the stock has changed since, so
//! that it says something else, this change has a message; whoever handles that one looks after the change, and writes. So
//! the last write was not the last. A message that fails comes back, and a repeated one only looks.

use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use catalogue::FewLeft;
use futures_util::{StreamExt as _, stream};
use key_schema::access::Access;
use key_schema::entity::Product;
use key_schema::value::ProductId;
use lambda::{Error, Grant};
use stock::ReadMode;
use table::{Budget, Condition, Reader, Write, Writer, Written};
use tracing::{error, info};

use crate::product_messages::ProductMessages;

/// The function's access to the table.
pub const ACCESS: &[&[Access]] = &[stock::READ, &[Access::batch_get::<Product>(), Access::update::<Product>()]];

/// The function's permissions on other services.
pub const GRANTS: &[Grant] =
    &[Grant::new(&["sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"], "LowStocks")];

/// The products that one environment looks at concurrently.
const CONCURRENTLY: usize = 8;

/// The function's dependencies.
#[derive(Clone, Debug)]
pub struct Marker {
    reader: Reader,
    writer: Writer,
    few_left: FewLeft,
}

lambda::from_environment!(Marker { reader, writer, few_left });

pub async fn handle(marker: Marker, event: SqsEvent, time: Duration) -> Result<SqsBatchResponse, Error> {
    let messages = ProductMessages::from(event);
    let budget = Budget::of(time);
    let marks = stream::iter(messages.products()).map(async |product| (marker.mark(&product, budget).await, product));
    let (mut written, mut failed) = (0, Vec::new());
    for (result, product) in marks.buffer_unordered(CONCURRENTLY).collect::<Vec<_>>().await {
        match result {
            Ok(writes) => written += writes,
            Err(error) => {
                error!(%product, cause = lambda::chain(&error), "the availability of a product was not written");
                failed.push(product);
            }
        }
    }
    info!(written, failed = failed.len(), "availabilities written");
    Ok(messages.failed(&failed))
}

impl Marker {
    /// Makes the product say what its stock says, and returns the number of writes.
    async fn mark(&self, product: &ProductId, budget: Budget) -> Result<u64, table::Error> {
        let (mut writes, mut retries) = (0, budget.retries());
        loop {
            let found = stock::product(&self.reader, product, ReadMode::Strong, budget).await?;
            let Some((before, stock)) = found else { return Ok(writes) };
            let availability = stock.availability(self.few_left.0);
            if before.availability == availability {
                return Ok(writes);
            }
            let availability_changes = before.availability_changes + 1;
            let after = Product { availability, availability_changes, ..before.clone() };
            let write = Write::change(&before, &after, Condition::as_read(&before, &after)?)?;
            match self.writer.write(write, budget).await? {
                Written::Done => writes += 1,
                Written::ConditionFailed(_) if retries.pause().await => {}
                Written::ConditionFailed(_) => {
                    return Err(table::Error::contention("others were writing for too long"));
                }
            }
        }
    }
}
