//! Questions: access patterns together with their parameters, as data.
//!
//! A question can be asked of a table without knowing the type of its pattern. Each item of the shop leads to the
//! questions whose answers contain it, so a walk over a table leads to every question that the table can answer.

use crate::value::{Cells, CustomerId, Day, Days, OrderId, ProductId, TimeRange};

use super::{
    AccessPattern, AddressesOfCustomer, Bound, CartOfCustomer, Categories, CellsOfStock, CustomerByEmail, CustomerById,
    CustomerByUsername, Declaration, Direction, DiscountByCode, FlaggedOrders, GiftCardByCode, ImportedInvoiceById,
    InvoiceById, InvoiceOfOrder, InvoicesOfCustomer, Item, Key, OpenReturns, OrderById, OrdersOfCustomer,
    OrdersOfProduct, OrdersOfStatus, PaymentsDue, PaymentsOfInvoice, ProductById, ProductsOfCategory,
    ProductsOfCustomer, ProductsOfOrder, ProductsOfShop, ProfileAndOrders, RatesOfShop, SortRange, TaxesOfShop,
    TotalsOfDays, VariantsOfProduct, ViewsOfProduct,
};

/// An access pattern with its parameters.
#[derive(Clone, Debug)]
pub struct Question {
    /// The pattern.
    pub declared: Declaration,
    /// The keys to read.
    pub reads: Reads,
}

/// The keys that a question reads. All of them are canonical.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reads {
    /// Sort keys of one partition, by a Query.
    Range { partition: String, range: SortRange },
    /// Keys of the table, by BatchGetItem.
    Batch(Vec<Key>),
}

impl Question {
    /// The question of a pattern that is a Query.
    pub fn of<P: AccessPattern>(pattern: &P) -> Self {
        let reads = Reads::Range { partition: pattern.partition(), range: pattern.range() };
        Self { declared: P::DECLARED, reads }
    }

    /// Whether the answer is a list, with an order and cursors. Every other answer is a set of items.
    pub fn is_list(&self) -> bool {
        self.declared.bound == Bound::Page
    }

    /// The same question after this position. `None` if the question has no positions.
    #[must_use]
    pub fn after(&self, position: &str) -> Option<Self> {
        self.narrowed(|range, direction| match direction {
            Direction::Ascending => range.after(position),
            Direction::Descending => range.before(position),
        })
    }

    /// The part of the list that begins with the item at this position. `None` if the question has no positions.
    #[must_use]
    pub fn from(&self, position: &str) -> Option<Self> {
        self.narrowed(|range, direction| match direction {
            Direction::Ascending => range.starting_at(position),
            Direction::Descending => range.ending_at(position),
        })
    }

    fn narrowed(&self, narrow: impl FnOnce(&SortRange, Direction) -> SortRange) -> Option<Self> {
        let Reads::Range { partition, range } = &self.reads else { return None };
        let range = narrow(range, self.declared.direction);
        Some(Self { declared: self.declared, reads: Reads::Range { partition: partition.clone(), range } })
    }
}

impl Item {
    /// The questions of the shop whose answers contain this item: every access pattern that finds items of this kind.
    pub fn questions(&self) -> Vec<Question> {
        let all = &TimeRange::default();
        match self {
            Self::Customer(one) => {
                vec![of_customer(&one.customer_id), Question::of(&ProfileAndOrders { customer: &one.customer_id })]
            }
            Self::CustomerStats(one) => vec![of_customer(&one.customer_id)],
            Self::Guest(one) => vec![of_customer(&one.customer_id)],
            Self::Cart(one) => {
                vec![of_customer(&one.customer_id), Question::of(&CartOfCustomer { customer: &one.customer_id })]
            }
            Self::CustomerAddresses(one) => {
                vec![of_customer(&one.customer_id), Question::of(&AddressesOfCustomer { customer: &one.customer_id })]
            }
            Self::EmailClaim(one) => vec![Question::of(&CustomerByEmail { email: &one.email })],
            Self::UsernameClaim(one) => vec![Question::of(&CustomerByUsername { username: &one.username })],
            Self::Product(one) => {
                let of_variant = one.variant_of.iter().map(|product| Question::of(&VariantsOfProduct { product }));
                let in_list = Question::of(&ProductsOfCategory { category: &one.category });
                let others = [of_product(&one.product_id), views_of_product(&one.product_id, 0), in_list];
                others.into_iter().chain(of_variant).collect()
            }
            Self::ProductDescription(one) => vec![of_product(&one.product_id)],
            Self::ProductStats(one) => vec![of_product(&one.product_id), views_of_product(&one.product_id, 0)],
            Self::Stock(one) => vec![of_product(&one.product_id), cells_of_stock(&one.product_id, one.cells)],
            Self::StockCell(one) => {
                // At least as many cells as have a number up to this one's.
                let cells = Cells::try_from(i64::from(one.cell) + 1);
                cells.map(|cells| cells_of_stock(&one.product_id, cells)).into_iter().collect()
            }
            Self::ViewShard(one) => vec![views_of_product(&one.product_id, one.shard)],
            Self::CategoryCount(_) => vec![Question::of(&Categories), Question::of(&ProductsOfShop)],
            Self::Order(one) => vec![
                of_order(&one.order_id),
                Question::of(&OrdersOfCustomer { customer: &one.customer_id, placed: *all }),
                Question::of(&ProfileAndOrders { customer: &one.customer_id }),
                Question::of(&OrdersOfStatus { status: one.status, shard: one.shard, placed: all }),
            ],
            Self::OrderItem(one) => vec![
                of_order(&one.order_id),
                Question::of(&ProductsOfOrder { order: &one.order_id }),
                Question::of(&OrdersOfProduct { product: &one.line.product_id, shard: one.shard, placed: all }),
                Question::of(&ProductsOfCustomer { customer: &one.customer_id, placed: *all }),
            ],
            Self::OrderAddress(one) => vec![of_order(&one.order_id)],
            Self::Shipment(one) => vec![of_order(&one.order_id)],
            Self::OrderFlag(one) => vec![of_order(&one.order_id), Question::of(&FlaggedOrders)],
            Self::Invoice(one) => {
                let (order, id) = (&one.order_id, &one.invoice_id);
                let by_old_id = one.unnumbered.is_none().then(|| Question::of(&ImportedInvoiceById { id }));
                let others = [
                    of_order(order),
                    Question::of(&InvoiceOfOrder { order }),
                    Question::of(&InvoiceById { order, id }),
                    Question::of(&PaymentsOfInvoice { order, invoice: id }),
                    Question::of(&InvoicesOfCustomer { customer: &one.customer_id, issued: *all }),
                ];
                others.into_iter().chain(by_old_id).collect()
            }
            Self::PaymentDue(one) => {
                vec![of_order(&one.order_id), Question::of(&PaymentsDue { shard: one.shard, since: all })]
            }
            Self::Return(one) => vec![of_order(&one.order_id), Question::of(&OpenReturns { shard: one.shard })],
            Self::QueuedOrder(one) => vec![of_order(&one.order_id)],
            Self::Discount(one) => vec![Question::of(&DiscountByCode { code: &one.code })],
            Self::GiftCard(one) => vec![Question::of(&GiftCardByCode { code: &one.code })],
            Self::GiftCardEntry(one) => vec![Question::of(&GiftCardByCode { code: &one.code })],
            Self::ShippingRates(_) => vec![Question::of(&RatesOfShop)],
            Self::Taxes(_) => vec![Question::of(&TaxesOfShop)],
            Self::DayTotals(one) => totals_of(one.date).into_iter().collect(),
            // No question of the shop finds them.
            Self::ViewMark(_)
            | Self::InvoiceCounter(_)
            | Self::StreamCheckpoint(_)
            | Self::ParkedCounts(_)
            | Self::FoldLease(_)
            | Self::Reconciliation(_)
            | Self::IdempotencyRecord(_)
            | Self::Move(_)
            | Self::Repair(_)
            | Self::CopyProgress(_) => Vec::new(),
        }
    }
}

fn of_customer(id: &CustomerId) -> Question {
    Question::of(&CustomerById { id })
}

fn of_product(id: &ProductId) -> Question {
    Question::of(&ProductById { id })
}

fn of_order(id: &OrderId) -> Question {
    Question::of(&OrderById { id })
}

/// The product with the shards of its views up to this one.
fn views_of_product(product: &ProductId, shard: u8) -> Question {
    let keys = ViewsOfProduct { product, shards: shard.saturating_add(1) }.keys();
    Question { declared: ViewsOfProduct::DECLARED, reads: Reads::Batch(keys) }
}

fn cells_of_stock(product: &ProductId, cells: Cells) -> Question {
    let keys = CellsOfStock { product, cells }.keys();
    Question { declared: CellsOfStock::DECLARED, reads: Reads::Batch(keys) }
}

/// The totals of one day.
fn totals_of(date: Day) -> Option<Question> {
    let days = Days::new(date, date.plus(1)).ok()?;
    Some(Question { declared: TotalsOfDays::DECLARED, reads: Reads::Batch(TotalsOfDays { days }.keys()) })
}
