//! Each item of the shop leads to the questions whose answers contain it, so a walk over a table leads to every question
//! that the table can answer.

use crate::entity::{DayTotals, StockCell, ViewShard};
use crate::value::{Cells, Day, Days, ProductId, TimeRange};

use super::{
    ADDRESSES_OF_CUSTOMER, CART_OF_CUSTOMER, CATEGORIES, CELLS_OF_STOCK, CUSTOMER_BY_EMAIL, CUSTOMER_BY_ID,
    CUSTOMER_BY_USERNAME, DISCOUNT_BY_CODE, FLAGGED_ORDERS, GIFT_CARD_BY_CODE, IMPORTED_INVOICE_BY_ID, INVOICE_BY_ID,
    INVOICE_OF_ORDER, INVOICES_OF_CUSTOMER, Item, OPEN_RETURNS, ORDER_BY_ID, ORDERS_OF_CUSTOMER, ORDERS_OF_PRODUCT,
    ORDERS_OF_STATUS, PAYMENTS_DUE, PAYMENTS_OF_INVOICE, PRODUCT_BY_ID, PRODUCTS_OF_CATEGORY, PRODUCTS_OF_CUSTOMER,
    PRODUCTS_OF_ORDER, PRODUCTS_OF_SHOP, PROFILE_AND_ORDERS, Question, RATES_OF_SHOP, Reads, TAXES_OF_SHOP,
    TOTALS_OF_DAYS, VARIANTS_OF_PRODUCT, VIEWS_OF_PRODUCT,
};

impl Item {
    /// The questions of the shop whose answers contain this item: every access pattern that finds items of this kind.
    pub fn questions(&self) -> Vec<Question> {
        let all = &TimeRange::default();
        match self {
            Self::Customer(one) => {
                vec![CUSTOMER_BY_ID.ask(&one.customer_id).into(), PROFILE_AND_ORDERS.ask(&one.customer_id).into()]
            }
            Self::CustomerStats(one) => vec![CUSTOMER_BY_ID.ask(&one.customer_id).into()],
            Self::Guest(one) => vec![CUSTOMER_BY_ID.ask(&one.customer_id).into()],
            Self::Cart(one) => {
                vec![CUSTOMER_BY_ID.ask(&one.customer_id).into(), CART_OF_CUSTOMER.ask(&one.customer_id).into()]
            }
            Self::CustomerAddresses(one) => {
                vec![CUSTOMER_BY_ID.ask(&one.customer_id).into(), ADDRESSES_OF_CUSTOMER.ask(&one.customer_id).into()]
            }
            Self::EmailClaim(one) => vec![CUSTOMER_BY_EMAIL.ask(&one.email).into()],
            Self::UsernameClaim(one) => vec![CUSTOMER_BY_USERNAME.ask(&one.username).into()],
            Self::Product(one) => {
                let of_variant = one.variant_of.iter().map(|product| VARIANTS_OF_PRODUCT.ask(product).into());
                let in_list = PRODUCTS_OF_CATEGORY.ask(&one.category).into();
                let others = [PRODUCT_BY_ID.ask(&one.product_id).into(), views_of_product(&one.product_id, 0), in_list];
                others.into_iter().chain(of_variant).collect()
            }
            Self::ProductDescription(one) => vec![PRODUCT_BY_ID.ask(&one.product_id).into()],
            Self::ProductStats(one) => {
                vec![PRODUCT_BY_ID.ask(&one.product_id).into(), views_of_product(&one.product_id, 0)]
            }
            Self::Stock(one) => {
                vec![PRODUCT_BY_ID.ask(&one.product_id).into(), cells_of_stock(&one.product_id, one.cells)]
            }
            Self::StockCell(one) => {
                // At least as many cells as have a number up to this one's.
                let cells = Cells::try_from(i64::from(one.cell) + 1);
                cells.map(|cells| cells_of_stock(&one.product_id, cells)).into_iter().collect()
            }
            Self::ViewShard(one) => vec![views_of_product(&one.product_id, one.shard)],
            Self::CategoryCount(_) => vec![CATEGORIES.ask(()).into(), PRODUCTS_OF_SHOP.ask(()).into()],
            Self::Order(one) => vec![
                ORDER_BY_ID.ask(&one.order_id).into(),
                ORDERS_OF_CUSTOMER.ask((&one.customer_id, all)).into(),
                PROFILE_AND_ORDERS.ask(&one.customer_id).into(),
                ORDERS_OF_STATUS.ask((&one.status, &one.shard, all)).into(),
            ],
            Self::OrderItem(one) => vec![
                ORDER_BY_ID.ask(&one.order_id).into(),
                PRODUCTS_OF_ORDER.ask(&one.order_id).into(),
                ORDERS_OF_PRODUCT.ask((&one.line.product_id, &one.shard, all)).into(),
                PRODUCTS_OF_CUSTOMER.ask((&one.customer_id, all)).into(),
            ],
            Self::OrderAddress(one) => vec![ORDER_BY_ID.ask(&one.order_id).into()],
            Self::Shipment(one) => vec![ORDER_BY_ID.ask(&one.order_id).into()],
            Self::OrderFlag(one) => vec![ORDER_BY_ID.ask(&one.order_id).into(), FLAGGED_ORDERS.ask(()).into()],
            Self::Invoice(one) => {
                let (order, id) = (&one.order_id, &one.invoice_id);
                let by_old_id = one.unnumbered.is_none().then(|| IMPORTED_INVOICE_BY_ID.ask(id).into());
                let others = [
                    ORDER_BY_ID.ask(order).into(),
                    INVOICE_OF_ORDER.ask(order).into(),
                    INVOICE_BY_ID.ask((order, id)).into(),
                    PAYMENTS_OF_INVOICE.ask((order, id)).into(),
                    INVOICES_OF_CUSTOMER.ask((&one.customer_id, all)).into(),
                ];
                others.into_iter().chain(by_old_id).collect()
            }
            Self::PaymentDue(one) => {
                vec![ORDER_BY_ID.ask(&one.order_id).into(), PAYMENTS_DUE.ask((&one.shard, all)).into()]
            }
            Self::Return(one) => vec![ORDER_BY_ID.ask(&one.order_id).into(), OPEN_RETURNS.ask(&one.shard).into()],
            Self::QueuedOrder(one) => vec![ORDER_BY_ID.ask(&one.order_id).into()],
            Self::Discount(one) => vec![DISCOUNT_BY_CODE.ask(&one.code).into()],
            Self::GiftCard(one) => vec![GIFT_CARD_BY_CODE.ask(&one.code).into()],
            Self::GiftCardEntry(one) => vec![GIFT_CARD_BY_CODE.ask(&one.code).into()],
            Self::ShippingRates(_) => vec![RATES_OF_SHOP.ask(()).into()],
            Self::Taxes(_) => vec![TAXES_OF_SHOP.ask(()).into()],
            Self::DayTotals(one) => totals_of(one.date).into_iter().collect(),
            // No question of the shop finds them.
            Self::ViewMark(_)
            | Self::InvoiceCounter(_)
            | Self::StreamCheckpoint(_)
            | Self::ParkedCounts(_)
            | Self::FoldLease(_)
            | Self::Reconciliation(_)
            | Self::IdempotencyRecord(_)
            | Self::Migration(_)
            | Self::Repair(_)
            | Self::CopyProgress(_) => Vec::new(),
        }
    }
}

fn views_of_product(product: &ProductId, shard: u8) -> Question {
    let keys = ViewShard::keys_of(product, shard.saturating_add(1));
    Question { declared: VIEWS_OF_PRODUCT, reads: Reads::Batch(keys) }
}

fn cells_of_stock(product: &ProductId, cells: Cells) -> Question {
    let keys = StockCell::keys_of(product, cells);
    Question { declared: CELLS_OF_STOCK, reads: Reads::Batch(keys) }
}

fn totals_of(date: Day) -> Option<Question> {
    let days = Days::new(date, date.plus(1)).ok()?;
    Some(Question { declared: TOTALS_OF_DAYS, reads: Reads::Batch(DayTotals::keys_of(days)) })
}
