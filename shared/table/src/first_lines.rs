//! The first lines of a customer's orders, for a list of the orders.
//!
//! The index of a customer has the lines in the order of the orders, and those of an order in the order of the request. So
//! one Query reads the lines of several orders after each other, and its limit is the number of lines that their headers
//! tell. A copy of the first lines in the header would save this Query, and cost four write units more at the placing and
//! at each change of the order, because a header is also in two indexes.

use std::collections::HashMap;

use futures_util::future::try_join_all;
use key_schema::access::Access;
use key_schema::entity::{Order, OrderItem, OrderLine};
use key_schema::layout::{PRODUCTS_OF_CUSTOMER, PRODUCTS_OF_ORDER};
use key_schema::value::{CustomerId, OrderId, TimeRange};

use crate::{Error, Reader};

/// The requests of [`Reader::first_lines`].
pub const FIRST_LINES: &[Access] = &[Access::query(PRODUCTS_OF_CUSTOMER), Access::query(PRODUCTS_OF_ORDER)];

/// An order with more lines ends its Query. To skip its other lines saves more than the next request costs, which is at
/// least the read of 4 KB.
const LONG: u8 = 12;

impl Reader {
    /// The first lines, at most `most`, of each of these orders of one customer. The orders are a part of the customer's
    /// list, newest first. One Query, and one more for each 255 lines, each megabyte and each order of more than
    /// `LONG` lines.
    ///
    /// An order may be in the index before its lines. Those are then read from the table.
    ///
    /// # Errors
    /// The table does not answer, or an item cannot be read.
    pub async fn first_lines(
        &self,
        customer: &CustomerId,
        orders: &[Order],
        most: u8,
    ) -> Result<Vec<Vec<OrderLine>>, Error> {
        let runs = orders.chunk_by(|_, older| older.line_count <= LONG);
        let found = try_join_all(runs.map(|run| self.lines_of(customer, run, most))).await?;
        let mut by_order: HashMap<OrderId, Vec<OrderItem>> = HashMap::new();
        for item in found.into_iter().flatten() {
            by_order.entry(item.order_id.clone()).or_default().push(item);
        }
        let shown = orders.iter().map(|order| (order, by_order.remove(&order.order_id).unwrap_or_default()));
        try_join_all(shown.map(async |(order, mut items)| {
            // Two runs may have read the same lines, and the index may lack some.
            items.sort_by_key(|item| item.position);
            items.dedup_by_key(|item| item.position);
            let shown = usize::from(order.line_count.min(most));
            if !(0..shown).all(|at| items.get(at).is_some_and(|item| item.position == at.into())) {
                items = self.collection(&PRODUCTS_OF_ORDER.ask(&order.order_id)).await?;
            }
            let mut lines = OrderItem::lines(items);
            lines.truncate(usize::from(most));
            Ok(lines)
        }))
        .await
    }

    /// The lines of these orders, newest first, and of the newest one at most [`LONG`] or `most` of them.
    async fn lines_of(&self, customer: &CustomerId, run: &[Order], most: u8) -> Result<Vec<OrderItem>, Error> {
        let [newest, older @ ..] = run else { return Ok(Vec::new()) };
        let of_newest = if newest.line_count > LONG { most } else { newest.line_count };
        let mut left = older.iter().fold(usize::from(of_newest), |sum, order| sum + usize::from(order.line_count));
        let all = TimeRange::default();
        let query = PRODUCTS_OF_CUSTOMER.ask((customer, &all));
        let mut position = Some(older.last().unwrap_or(newest).position_of_lines());
        let mut lines = Vec::new();
        while let Some(from) = position.filter(|_| left > 0) {
            let limit = u8::try_from(left).unwrap_or(u8::MAX);
            let (items, stopped) = self.after(&query, Some(&from), limit).await?;
            left = left.saturating_sub(items.len());
            lines.extend(items);
            position = stopped;
        }
        Ok(lines)
    }
}
