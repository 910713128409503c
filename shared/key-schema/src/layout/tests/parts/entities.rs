//! One entity of each kind, made from the same parts.

use std::collections::BTreeMap;

use super::Parts;
use crate::entity::{
    BandsBy, Cancellation, CancellationCause, Cart, CategoryCount, CategoryTax, ChosenMethod, CodeUse, CopyProgress,
    CopyTask, CountryTaxes, Credit, Customer, CustomerAddresses, CustomerStats, DayTotals, Discount, EmailClaim,
    FoldLease, GiftCard, GiftCardEntry, Guest, IdempotencyRecord, Invoice, InvoiceCounter, ItemKey, LineTax, Migration,
    Order, OrderAddress, OrderFlag, OrderItem, OrderLine, PairOfSums, ParkedCounts, PaymentDue, Phase, Product,
    ProductDescription, ProductImage, ProductStats, QueuedOrder, Reconciliation, Reduction, Refusal, Repair, Return,
    ReturnStatus, SavedAddress, Shipment, ShipmentStatus, ShippingBand, ShippingMethod, ShippingRates, ShippingZone,
    Side, Stock, StockCell, StreamCheckpoint, TaxRate, Taxes, Uncounted, UsernameClaim, ViewMark, ViewShard, Work,
};
use crate::layout::Item;
use crate::value::{IdempotencyRecordId, ImageId, InvoiceNumber, Money, RequestHash, TextHash};

impl Parts {
    fn counter(&self) -> InvoiceCounter {
        let series = self.discount.as_str().parse().expect("a series");
        InvoiceCounter { series, last: self.number }
    }

    fn taxed(&self) -> CountryTaxes {
        let country = self.address().country;
        let reduced = CategoryTax { category: self.category.clone(), rate: TaxRate::default() };
        CountryTaxes { country, standard: TaxRate::default(), categories: vec![reduced] }
    }

    fn credit(&self) -> Credit {
        let [some, more, _] = self.money;
        let (gross, amount) = (some.amount(), more.amount());
        Credit { product_id: self.product.clone(), units: self.quantity.get(), gross, amount }
    }

    /// One entity of each kind.
    #[allow(clippy::too_many_lines, reason = "one entity of each kind")]
    pub(in crate::layout::tests) fn entities(&self) -> Vec<Item> {
        let Self { customer, product, order, invoice, gift_card, email, username, text, number, .. } = self.clone();
        let [some, more, most] = self.money;
        let (customer_id, product_id, order_id, at) =
            (|| customer.clone(), || product.clone(), || order.clone(), self.moment());
        let address_id = || product.to_string().parse().expect("an id");
        let code_use = |counted| CodeUse { code: self.discount.clone(), amount: some, counted };
        let line = OrderLine {
            product_id: product_id(),
            name: text.clone(),
            quantity: self.quantity,
            unit_price: some,
            amount: more,
            discount: self.until.map(|_| some),
            tax: self.until.map(|_| LineTax {
                rate: TaxRate::default(),
                by_engine: false,
                amount: some,
                added: number > 1,
            }),
            image: self.until.map(|_| ProductImage::from(self.order.as_str().parse::<ImageId>().expect("an id"))),
            attributes: self.until.iter().map(|_| (text.clone(), text.clone())).collect(),
        };
        vec![
            Item::Customer(Customer {
                customer_id: customer_id(),
                username: username.clone(),
                email: email.clone(),
                name: text.clone(),
                created_at: at,
                version: number,
                erased_at: None,
                guests: self.until.map(|_| customer_id()).into_iter().collect(),
            }),
            Item::CustomerStats(CustomerStats {
                customer_id: customer_id(),
                orders: number.cast_signed(),
                open_units: number.cast_signed() / 2,
                spent: self.sums.clone(),
            }),
            Item::Cart(Cart {
                customer_id: customer_id(),
                lines: self.wanted.clone(),
                updated_at: at,
                version: number,
                expires_at: at.as_second(),
                erased_at: None,
            }),
            Item::CustomerAddresses(CustomerAddresses {
                customer_id: customer_id(),
                addresses: vec![SavedAddress { address_id: address_id(), address: self.address() }],
                default: self.until.map(|_| address_id()),
                updated_at: at,
                version: number,
            }),
            Item::Guest(Guest {
                customer_id: customer_id(),
                email: email.clone(),
                name: text.clone(),
                created_at: at,
                expires_at: self.until.map(|_| at.as_second()),
                claimed_by: self.until.map(|_| customer_id()),
            }),
            Item::EmailClaim(EmailClaim { email, customer_id: customer_id() }),
            Item::UsernameClaim(UsernameClaim { username, customer_id: customer_id() }),
            Item::Product(Product {
                description: text.clone(),
                whole_description: self.until.map(|_| TextHash::of(&text)),
                images: vec![ProductImage::from(self.order.as_str().parse::<ImageId>().expect("an id"))],
                initial_stock: self.quantity.get(),
                version: number,
                attributes: self.until.map(|_| (text.clone(), text.clone())).into_iter().collect(),
                variant_of: Some(product_id()),
                weight_grams: self.until.map(|_| 250.try_into().expect("a weight")),
                ..Product::new(product_id(), text.clone(), self.category.clone(), some)
            }),
            Item::ProductDescription(ProductDescription { product_id: product_id(), text: text.clone() }),
            Item::Stock(Stock {
                product_id: product_id(),
                available: number,
                price: some,
                cells: self.cells(),
                price_version: number / 2,
                recalled: number % 2 == 1,
                put_backs: number / 3,
                transferred: -number.cast_signed(),
                held_by_guests: number.cast_signed() / 5,
            }),
            Item::StockCell(StockCell {
                product_id: product_id(),
                cell: self.shard,
                available: number,
                price: some,
                price_version: number / 2,
                put_backs: number / 3,
                transferred: number.cast_signed(),
            }),
            Item::ProductStats(ProductStats {
                product_id: product_id(),
                orders: number.cast_signed(),
                units: number.cast_signed() / 2,
                revenue: self.sums.clone(),
            }),
            Item::ViewShard(ViewShard { product_id: product_id(), shard: self.shard, views: number }),
            Item::ViewMark(ViewMark {
                expires_at: at.as_second(),
                ..ViewMark::of(&self.product, &self.visitor().try_into().expect("a visitor"), at)
            }),
            Item::CategoryCount(CategoryCount { category: self.category.clone(), products: number.cast_signed() }),
            Item::Order(Order {
                status: self.status,
                changed_at: self.until.unwrap_or(at),
                version: number,
                subtotal: some,
                discount: more,
                codes: Vec::from_iter(self.until.map(|_| code_use(number > 1))),
                shipping: self.until.map(|_| some),
                shipping_method: self.until.map(|_| ChosenMethod {
                    method_id: "express".parse().expect("an id"),
                    name: "Express".to_owned().try_into().expect("a name"),
                }),
                request_hash: RequestHash::of(text.as_bytes()),
                line_count: self.shard,
                units: self.quantity.get(),
                has_address: number % 2 == 0,
                shard: self.shard,
                cancellation: self.until.map(|at| Cancellation {
                    at,
                    reason: Some(text.clone()).filter(|_| number % 2 == 0),
                    cause: Some(CancellationCause::Unpaid).filter(|_| number % 3 == 0),
                }),
                credits: self.until.iter().map(|_| self.credit()).collect(),
                returning: self.until.iter().map(|_| self.units()).collect(),
                return_statuses: self.until.iter().map(|_| ReturnStatus::Requested).collect(),
                shipped: self.until.iter().map(|_| self.units()).collect(),
                shipment_statuses: self.until.iter().map(|_| ShipmentStatus::Delivered).collect(),
                delivered_at: self.until,
                imported_at: self.until,
                erased: number % 3 == 0,
                request_id: (number % 2 == 0).then(|| "fxlFO9BGgSVEcqU=".to_owned()),
                ..Order::new(order_id(), customer_id(), at, most)
            }),
            Item::OrderItem(OrderItem {
                order_id: order_id(),
                customer_id: customer_id(),
                placed_at: at,
                shard: self.shard,
                position: usize::from(self.shard).into(),
                imported_at: self.until,
                uncounted: number % 2 == 0,
                line,
            }),
            Item::OrderAddress(OrderAddress { order_id: order_id(), address: self.address() }),
            Item::Invoice(Invoice {
                invoice_id: invoice,
                order_id: order_id(),
                customer_id: customer_id(),
                issued_at: at,
                amount: some,
                taxes: Vec::new(),
                // An invoice either waits for its number or has one.
                unnumbered: self.until.is_none().then_some(self.shard),
                number: self.until.map(|_| self.counter()).map(|counter| {
                    let InvoiceCounter { series, last } = counter;
                    InvoiceNumber { series, place: last.max(1) }
                }),
                payments: self.payments.clone(),
                version: number,
            }),
            Item::InvoiceCounter(self.counter()),
            Item::PaymentDue(PaymentDue {
                order_id: order_id(),
                shard: self.shard,
                since: at,
                work: if self.shard % 2 == 1 { Work::Lapsed } else { Work::Provider },
                amount: some,
            }),
            Item::OrderFlag(OrderFlag { order_id: order_id(), reason: text.clone(), flagged_at: at }),
            // Only an open return has an entry in the index.
            Item::Return(Return {
                return_id: self.return_id.clone(),
                order_id: order_id(),
                customer_id: customer_id(),
                shard: self.shard,
                lines: vec![self.units()],
                reason: self.until.map(|_| text.clone()),
                requested_at: at,
                status: ReturnStatus::Requested,
                closed_at: self.until,
                restocked: number % 2 == 0,
                amount: self.until.map(|_| some),
                refusal: self.until.map(|_| text.clone()),
            }),
            Item::Shipment(Shipment {
                shipment_id: self.shipment_id.clone(),
                order_id: order_id(),
                customer_id: customer_id(),
                lines: vec![self.units()],
                all_left: number % 2 == 0,
                carrier: text.clone(),
                tracking_number: self.until.map(|_| text.clone()),
                tracking_url: self.until.map(|_| text.clone()),
                shipped_at: at,
                delivered_at: self.until,
            }),
            Item::QueuedOrder(QueuedOrder {
                order_id: order_id(),
                customer_id: customer_id(),
                request_hash: RequestHash::of(text.as_bytes()),
                queued_at: at,
                max_total: self.until.map(|_| some),
                dead_since: self.until,
                refusal: self.until.map(|at| Refusal { at, rejection: self.rejection.clone() }),
                request_id: None,
                expires_at: at.as_second(),
            }),
            Item::Discount(Discount {
                code: self.discount.clone(),
                reduction: match self.until {
                    Some(_) => Reduction::Percent(self.percent),
                    None => Reduction::Amount(Money::nearest(some.amount().max(1), some.currency())),
                },
                category: self.until.map(|_| self.category.clone()),
                min_subtotal: self.until.map(|_| more),
                combinable: number > 1,
                from: self.until.map(|_| at),
                to: self.until,
                max_uses: self.until.map(|_| u32::MAX),
                uses: self.quantity.get(),
                held_by_guests: number.cast_signed() / 7,
                revoked: self.until.is_some(),
                version: number,
                created_at: at,
            }),
            Item::GiftCard(GiftCard {
                code: gift_card.clone(),
                balance: some,
                initial: more,
                created_at: at,
                valid_until: self.until,
                blocked: self.until.is_some(),
                version: number,
            }),
            Item::GiftCardEntry(GiftCardEntry {
                code: gift_card,
                order_id: order_id(),
                amount: most,
                at,
                status: self.paid,
                returned: i64::from(self.shard),
            }),
            Item::Taxes(Taxes {
                countries: self.until.map(|_| self.taxed()).into_iter().collect(),
                updated_at: at,
                version: number,
            }),
            Item::ShippingRates(ShippingRates {
                zones: vec![ShippingZone {
                    countries: self.until.iter().map(|_| self.address().country).collect(),
                    currency: some.currency(),
                    methods: vec![ShippingMethod {
                        method_id: "express".parse().expect("an id"),
                        name: "Express".to_owned().try_into().expect("a name"),
                        by: if self.until.is_some() { BandsBy::Weight } else { BandsBy::Price },
                        bands: vec![ShippingBand { up_to: self.until.map(|_| 1000), price: some.amount() }],
                        free_from: self.until.map(|_| most.amount()),
                    }],
                }],
                updated_at: at,
                version: number,
            }),
            Item::DayTotals(DayTotals {
                date: at.day(),
                orders: number.cast_signed(),
                units: number.cast_signed() / 2,
                revenue: self.sums.clone(),
                statuses: self.statuses.clone(),
            }),
            Item::StreamCheckpoint(StreamCheckpoint {
                shard_id: self.stream_shard.clone(),
                mark: self.mark.clone(),
                marked_at: at,
                uncounted: Uncounted::default(),
                updated_at: at,
                expires_at: at.as_second(),
            }),
            Item::ParkedCounts(ParkedCounts {
                group: self.shard,
                list: self.shards,
                parked_at: at,
                shard_id: self.stream_shard.clone(),
                mark: self.mark.clone(),
                layout: ParkedCounts::LAYOUT,
                customers: vec![CustomerStats {
                    customer_id: customer_id(),
                    orders: 1,
                    open_units: -1,
                    spent: self.sums.clone(),
                }],
                products: Vec::new(),
                days: vec![DayTotals {
                    date: at.day(),
                    orders: 0,
                    units: 1,
                    revenue: self.sums.clone(),
                    statuses: self.statuses.clone(),
                }],
            }),
            Item::FoldLease(FoldLease {
                group: self.shard,
                holder: self.product.to_string().parse().expect("an id"),
                expires_at: at.as_second(),
            }),
            Item::Reconciliation(Reconciliation {
                to: at.day(),
                resume: self.until.map(|_| text.clone()),
                updated_at: at,
            }),
            Item::IdempotencyRecord(IdempotencyRecord {
                record_id: IdempotencyRecordId::of(&self.customer, &"a key".parse().expect("a key")),
                request_hash: RequestHash::of(text.as_bytes()),
                status: 200,
                location: self.until.map(|_| text.clone()),
                version: self.until.map(|_| number),
                body: text.clone(),
                expires_at: at.as_second(),
            }),
            Item::Migration(Migration { phase: Phase::Compare, version: number, since: at }),
            Item::Repair(Repair {
                repair_id: self.product.to_string().parse().expect("an id"),
                shard: self.shard,
                since: at,
                keys: vec![ItemKey { partition: text.clone(), sort: text.clone() }],
            }),
            Item::CopyProgress(CopyProgress {
                segment: self.shard,
                segments: self.shards,
                run: number,
                task: CopyTask::Compare,
                migration_version: number,
                leader: Side::Next,
                scanned: Side::First,
                last: self.until.map(|_| ItemKey { partition: text.clone(), sort: text.clone() }),
                pages: number,
                is_done: self.until.is_none(),
                items: number,
                copied: number / 2,
                differences: number,
                differing: vec![ItemKey { partition: text.clone(), sort: text.clone() }],
                sums: BTreeMap::from([(text.clone(), PairOfSums::default())]),
                started_at: at,
                updated_at: at,
            }),
        ]
    }
}
