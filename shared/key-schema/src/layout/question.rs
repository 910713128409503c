//! Questions: access patterns together with their parameters, as data.
//!
//! A question can be asked of a table without knowing the type of its pattern. Each item of the shop leads to the
//! questions whose answers contain it, so a walk over a table leads to every question that the table can answer.

use serde::Deserialize;

use crate::entity::{
    Cart, CategoryCount, Customer, CustomerAddresses, CustomerStats, DayTotals, Discount, EmailClaim, GiftCard,
    GiftCardEntry, Guest, Invoice, Order, OrderAddress, OrderFlag, OrderItem, PaymentDue, Product, ProductDescription,
    ProductStats, QueuedOrder, Return, Shipment, ShippingRates, Stock, StockCell, Taxes, UsernameClaim, ViewShard,
};
use crate::value::{Cells, CustomerId, Day, Days, OrderId, ProductId, TimeRange};

use super::{
    AccessPattern, AddressesOfCustomer, Bound, CartOfCustomer, Categories, CellsOfStock, CustomerByEmail, CustomerById,
    CustomerByUsername, Declaration, Direction, DiscountByCode, FlaggedOrders, GiftCardByCode, ImportedInvoiceById,
    InvoiceById, InvoiceOfOrder, InvoicesOfCustomer, Key, OpenReturns, OrderById, OrdersOfCustomer, OrdersOfProduct,
    OrdersOfStatus, PaymentsDue, PaymentsOfInvoice, ProductById, ProductsOfCategory, ProductsOfCustomer,
    ProductsOfOrder, ProductsOfShop, ProfileAndOrders, RatesOfShop, SortRange, TaxesOfShop, TotalsOfDays,
    VariantsOfProduct, ViewsOfProduct,
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

/// An item of the shop.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "EntityType", rename_all = "camelCase")]
pub enum ShopItem {
    Customer(Customer),
    CustomerStats(CustomerStats),
    Cart(Cart),
    CustomerAddresses(CustomerAddresses),
    Guest(Guest),
    EmailClaim(EmailClaim),
    UsernameClaim(UsernameClaim),
    Product(Product),
    ProductDescription(ProductDescription),
    ProductStats(ProductStats),
    Stock(Stock),
    StockCell(StockCell),
    ViewShard(ViewShard),
    CategoryCount(CategoryCount),
    Order(Box<Order>),
    OrderItem(OrderItem),
    OrderAddress(OrderAddress),
    OrderFlag(OrderFlag),
    Invoice(Invoice),
    PaymentDue(PaymentDue),
    Return(Return),
    Shipment(Shipment),
    QueuedOrder(Box<QueuedOrder>),
    Discount(Discount),
    GiftCard(GiftCard),
    GiftCardEntry(GiftCardEntry),
    ShippingRates(ShippingRates),
    Taxes(Taxes),
    DayTotals(DayTotals),
    /// An item that no access pattern finds, or one that a newer release wrote.
    #[serde(other)]
    Other,
}

impl ShopItem {
    /// The questions whose answers contain this item: every access pattern that finds items of this kind.
    pub fn questions(&self) -> Vec<Question> {
        let all = &TimeRange::default();
        match self {
            Self::Customer(Customer { customer_id: customer, .. }) => {
                vec![of_customer(customer), Question::of(&ProfileAndOrders { customer })]
            }
            Self::CustomerStats(CustomerStats { customer_id: customer, .. })
            | Self::Guest(Guest { customer_id: customer, .. }) => vec![of_customer(customer)],
            Self::Cart(Cart { customer_id: customer, .. }) => {
                vec![of_customer(customer), Question::of(&CartOfCustomer { customer })]
            }
            Self::CustomerAddresses(CustomerAddresses { customer_id: customer, .. }) => {
                vec![of_customer(customer), Question::of(&AddressesOfCustomer { customer })]
            }
            Self::EmailClaim(EmailClaim { email, .. }) => vec![Question::of(&CustomerByEmail { email })],
            Self::UsernameClaim(UsernameClaim { username, .. }) => vec![Question::of(&CustomerByUsername { username })],
            Self::Product(Product { product_id: product, category, variant_of, .. }) => {
                let of_variant = variant_of.iter().map(|product| Question::of(&VariantsOfProduct { product }));
                let in_list = Question::of(&ProductsOfCategory { category });
                [of_product(product), views_of_product(product, 0), in_list].into_iter().chain(of_variant).collect()
            }
            Self::ProductDescription(ProductDescription { product_id: product, .. }) => vec![of_product(product)],
            Self::ProductStats(ProductStats { product_id: product, .. }) => {
                vec![of_product(product), views_of_product(product, 0)]
            }
            Self::Stock(Stock { product_id: product, cells, .. }) => {
                vec![of_product(product), cells_of_stock(product, *cells)]
            }
            Self::StockCell(StockCell { product_id: product, cell, .. }) => {
                // At least as many cells as have a number up to this one's.
                let cells = Cells::try_from(i64::from(*cell) + 1);
                cells.map(|cells| cells_of_stock(product, cells)).into_iter().collect()
            }
            Self::ViewShard(ViewShard { product_id: product, shard, .. }) => vec![views_of_product(product, *shard)],
            Self::CategoryCount(CategoryCount { .. }) => {
                vec![Question::of(&Categories), Question::of(&ProductsOfShop)]
            }
            Self::Order(order) => {
                let Order { order_id, customer_id: customer, status, shard, .. } = &**order;
                vec![
                    of_order(order_id),
                    Question::of(&OrdersOfCustomer { customer, placed: *all }),
                    Question::of(&ProfileAndOrders { customer }),
                    Question::of(&OrdersOfStatus { status: *status, shard: *shard, placed: all }),
                ]
            }
            Self::OrderItem(OrderItem { order_id: order, customer_id: customer, shard, line, .. }) => vec![
                of_order(order),
                Question::of(&ProductsOfOrder { order }),
                Question::of(&OrdersOfProduct { product: &line.product_id, shard: *shard, placed: all }),
                Question::of(&ProductsOfCustomer { customer, placed: *all }),
            ],
            Self::OrderAddress(OrderAddress { order_id, .. }) | Self::Shipment(Shipment { order_id, .. }) => {
                vec![of_order(order_id)]
            }
            Self::OrderFlag(OrderFlag { order_id, .. }) => vec![of_order(order_id), Question::of(&FlaggedOrders)],
            Self::Invoice(Invoice { invoice_id, order_id: order, customer_id: customer, unnumbered, .. }) => {
                let by_old_id = unnumbered.is_none().then(|| Question::of(&ImportedInvoiceById { id: invoice_id }));
                let others = [
                    of_order(order),
                    Question::of(&InvoiceOfOrder { order }),
                    Question::of(&InvoiceById { order, id: invoice_id }),
                    Question::of(&PaymentsOfInvoice { order, invoice: invoice_id }),
                    Question::of(&InvoicesOfCustomer { customer, issued: *all }),
                ];
                others.into_iter().chain(by_old_id).collect()
            }
            Self::PaymentDue(PaymentDue { order_id, shard, .. }) => {
                vec![of_order(order_id), Question::of(&PaymentsDue { shard: *shard, since: all })]
            }
            Self::Return(Return { order_id, shard, .. }) => {
                vec![of_order(order_id), Question::of(&OpenReturns { shard: *shard })]
            }
            Self::QueuedOrder(order) => vec![of_order(&order.order_id)],
            Self::Discount(Discount { code, .. }) => vec![Question::of(&DiscountByCode { code })],
            Self::GiftCard(GiftCard { code, .. }) | Self::GiftCardEntry(GiftCardEntry { code, .. }) => {
                vec![Question::of(&GiftCardByCode { code })]
            }
            Self::ShippingRates(_) => vec![Question::of(&RatesOfShop)],
            Self::Taxes(_) => vec![Question::of(&TaxesOfShop)],
            Self::DayTotals(DayTotals { date, .. }) => totals_of(*date).into_iter().collect(),
            Self::Other => Vec::new(),
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
