//! What a shop does in a month: requests, queue, stream and schedules.

use anyhow::{Context, Result};
use capacity::ledger::Operation;
use rust_decimal::{Decimal, dec};
use sample_items::{Batch, Sample, SampleSizes};

use super::{BYTES_PER_GB, Calls, EXPIRE, NUMBER, SETTLE, Usage};
use crate::cases::{PLACE_ORDER, operation, split, usual_or};
use crate::comparison::{Comparison, RECONCILE};
use crate::deployment::Deployment;
use crate::month::Month;
use crate::profile::{Profile, Views, around};
use crate::units_by_index::{UnitsByIndex, exact};

const CANCEL_ORDER: &str = "cancel-order";
const DRAIN_WRITES: &str = "drain-writes";
const COUNT_ORDERS: &str = "count-orders";
const PUBLISH: &str = "publish-order-events";
const CHANGE_STATUS: &str = "change-order-status";
const RECORD_VIEWS: &str = "record-views";

/// The functions that change an order's status, and the number of events of each. A capture has two: it is also a
/// payment.
const STATUS_CHANGES: &[(&str, Decimal)] =
    &[("capture-payment", dec!(2)), ("change-order-status", dec!(1)), (CANCEL_ORDER, dec!(1))];

/// The requests for each message: send, receive and delete.
const REQUESTS_PER_MESSAGE: Decimal = dec!(3);

/// The requests that a payment by card makes, each by a function and a case of the ledger: the customer starts it, and
/// the provider reports its authorization and, after settle-payments has recorded it, its capture.
const CARD_REQUESTS: [(&str, &str); 3] = [
    ("start-payment", "started"),
    ("receive-payment-event", "authorized"),
    ("receive-payment-event", "captured before"),
];

/// The events of a payment by card: `PaymentAuthorized`, `OrderStatusChanged`, `PaymentDue` and `PaymentCaptured`.
const CARD_EVENTS: Decimal = dec!(4);

pub(super) fn add(usage: &mut Usage, profile: &Profile, deployment: &Deployment, month: Month) -> Result<()> {
    let shop = Shop { profile, deployment, samples: profile.samples(deployment)?, month };
    shop.requests(usage)?;
    shop.views(usage)?;
    shop.queue(usage)?;
    shop.payments(usage)?;
    shop.stream(usage)?;
    shop.comparison(usage)?;
    shop.expiry(usage)?;
    shop.storage(usage)
}

/// A shop, and how it is deployed.
struct Shop<'a> {
    profile: &'a Profile,
    deployment: &'a Deployment,
    /// A sample for each kind of order, with its share.
    samples: Vec<(Decimal, Sample)>,
    month: Month,
}

impl Shop<'_> {
    /// Adds the requests of clients.
    fn requests(&self, usage: &mut Usage) -> Result<()> {
        let Profile { orders, order, .. } = self.profile;
        let queued = orders * order.queued;
        let placed = self.charge(operation(PLACE_ORDER, "placed")?)? * (orders - queued);
        let waiting = self.charge(operation(PLACE_ORDER, "accepted for later")?)? * queued;
        self.call(usage, PLACE_ORDER, *orders, placed)?;
        self.call(usage, PLACE_ORDER, Decimal::ZERO, waiting)?;
        usage.http_requests += orders;
        for (name, per_order) in &self.profile.calls_per_order {
            let (function, case) = split(name);
            let known = self.deployment.functions.get(function).filter(|function| function.has_route);
            known.with_context(|| {
                format!("calls_per_order.{name}: no function of this name answers a route: see functions/")
            })?;
            let operation = usual_or(function, case).with_context(|| format!("calls_per_order.{name}"))?;
            let calls = orders * per_order;
            self.call(usage, function, calls, self.charge(operation)? * calls)?;
            usage.http_requests += calls;
        }
        Ok(())
    }

    /// Adds the views of products. The ledger has the units of one product.
    fn views(&self, usage: &mut Usage) -> Result<()> {
        let Views { per_order, per_request, once_a_day } = self.profile.views;
        let views = self.profile.orders * per_order;
        let case = if once_a_day { "each product counted, for a visitor" } else { "each product counted" };
        let units = self.charge(operation(RECORD_VIEWS, case)?)? * views;
        let requests = views / per_request;
        usage.http_requests += requests;
        self.call(usage, RECORD_VIEWS, requests, units)
    }

    /// Adds queued orders. Each is processed by a call of its own.
    fn queue(&self, usage: &mut Usage) -> Result<()> {
        let queued = self.profile.orders * self.profile.order.queued;
        let units = self.charge(operation(DRAIN_WRITES, "placed")?)? * queued;
        usage.sqs_requests += queued * REQUESTS_PER_MESSAGE;
        self.call(usage, DRAIN_WRITES, queued, units)
    }

    /// Adds the payments by card. In this model no card is declined, and each payment is captured when its order is
    /// shipped, by a call of its own.
    fn payments(&self, usage: &mut Usage) -> Result<()> {
        let by_card = self.profile.orders * self.profile.order.by_card;
        for (function, case) in CARD_REQUESTS {
            let units = self.charge(operation(function, case)?)? * by_card;
            self.call(usage, function, by_card, units)?;
            usage.http_requests += by_card;
        }
        let settled = self.charge(operation(SETTLE, "captured")?)? * by_card;
        self.call(usage, SETTLE, by_card, settled)?;
        // The shipment also marks the payment as due.
        let [marked, usual] = ["shipped, and its payment is due", "shipped"].map(|case| operation(CHANGE_STATUS, case));
        let mark = (self.charge(marked?)? - self.charge(usual?)?) * by_card;
        self.call(usage, CHANGE_STATUS, Decimal::ZERO, mark)?;
        usage.sqs_requests += by_card * REQUESTS_PER_MESSAGE;
        usage.events += by_card * CARD_EVENTS;
        usage.secrets = if by_card.is_zero() { Decimal::ZERO } else { Decimal::ONE };

        let times = self.runs(SETTLE)?;
        let units = self.charge(operation(SETTLE, "nothing is due")?)? * times;
        self.call(usage, SETTLE, times, units)
    }

    /// How often a function's schedule invokes it in a month.
    fn runs(&self, function: &str) -> Result<Decimal> {
        let interval = self.deployment.function(function)?.interval_seconds;
        let interval = interval.with_context(|| format!("{function} has no schedule"))?;
        Ok(self.month.seconds() / interval)
    }

    /// Adds counting and publishing.
    ///
    /// A batch begins with a record and includes those that arrive within the window. So for a rate r and a window w,
    /// the rate of batches is r / (1 + r w).
    fn stream(&self, usage: &mut Usage) -> Result<()> {
        let Profile { orders, order, stream_shards, .. } = self.profile;
        let by_card = orders * order.by_card;
        // An authorization changes the order's status. A capture and a mark are published, but not counted.
        let mut changes = orders + by_card;
        usage.events += orders;
        for (function, events) in STATUS_CHANGES {
            let calls = orders * self.changes_per_order(function)?;
            changes += calls;
            usage.events += calls * events;
        }
        let batches = |function: &str, changes: Decimal| -> Decimal {
            let window = self.deployment.functions.get(function).and_then(|function| function.batching_window_seconds);
            let a_second = changes / self.month.seconds() / stream_shards;
            changes / (Decimal::ONE + a_second * Decimal::from(window.unwrap_or_default()))
        };
        // The event of an order contains its lines, which the record does not.
        let lines = self.charge(operation(PUBLISH, "an order that was placed")?)?;
        let published = batches(PUBLISH, changes + by_card + by_card);
        self.call(usage, PUBLISH, published, lines.reads() * *orders)?;

        let count = batches(COUNT_ORDERS, changes);
        if count.is_zero() {
            return Ok(());
        }
        let called_off = orders * self.changes_per_order(CANCEL_ORDER)?;
        let orders_in_one = (orders + called_off) / count;
        // A customer's open units end with the payment.
        let paid = by_card + orders * self.changes_per_order("capture-payment")?;
        let customers_in_one = orders_in_one + paid / count;
        let counting = operation(COUNT_ORDERS, "a batch")?;
        let mut units = UnitsByIndex::default();
        // All orders of a batch are assumed to have different customers and products.
        for (share, customers) in around(customers_in_one) {
            for (of_products, products) in around(orders_in_one * order.lines) {
                let batch = Batch { customers, products, days: 1 };
                let sample =
                    Sample::new(SampleSizes { batch, ..self.profile.sizes(self.deployment) }).context("sizes")?;
                units += UnitsByIndex::of(&counting.charge(&sample))? * (share * of_products * count);
            }
        }
        // The record of a cancellation does not contain the lines.
        let lines = self.charge(operation(COUNT_ORDERS, "an order that was called off")?)?;
        units += lines.reads() * called_off;
        self.call(usage, COUNT_ORDERS, count, units)
    }

    /// Adds the numbering of invoices, and the search for orders that were not paid in time. In this model every order is paid, so none is found.
    fn expiry(&self, usage: &mut Usage) -> Result<()> {
        let times = self.runs(EXPIRE)?;
        let units = self.charge(operation(EXPIRE, "nothing is overdue")?)? * times;
        self.call(usage, EXPIRE, times, units)?;
        // A shop without a series of invoice numbers, as by default, asks the table for nothing.
        self.call(usage, NUMBER, self.runs(NUMBER)?, UnitsByIndex::default())
    }

    /// Adds the comparison of counts: once a day, or as often as it can be completed.
    fn comparison(&self, usage: &mut Usage) -> Result<()> {
        let comparison = Comparison::of(self.profile, self.deployment, self.month)?;
        let units = comparison.units_a_month(self.month);
        // The function sleeps to stay within its rate, and Lambda bills that time.
        let gb_seconds = self.deployment.function(RECONCILE)?.memory_gb() * units.read() / comparison.pace;
        let calls = Calls { count: comparison.invocations, gb_seconds, units };
        usage.calls.insert(RECONCILE.to_owned(), calls);
        usage.comparison = comparison;
        Ok(())
    }

    /// Adds the storage at the end of the month.
    fn storage(&self, usage: &mut Usage) -> Result<()> {
        let Profile { orders, kept, .. } = self.profile;
        for (function, case, times) in [
            (PLACE_ORDER, "placed", orders * kept.order_months),
            ("create-customer", "signed up", kept.customers),
            ("create-product", "made", kept.products),
        ] {
            let operation = operation(function, case)?;
            for (share, sample) in &self.samples {
                let stored = operation.stored(sample);
                let gb = |bytes: f64| Ok::<_, anyhow::Error>(exact(bytes)? * share * times / BYTES_PER_GB);
                usage.table_gb += gb(stored.table)?;
                usage.indexes_gb += gb(stored.gsi1 + stored.gsi2)?;
            }
        }
        Ok(())
    }

    /// The mean units of an operation over all kinds of orders.
    fn charge(&self, operation: &Operation) -> Result<UnitsByIndex> {
        let mut mean = UnitsByIndex::default();
        for (share, sample) in &self.samples {
            mean += UnitsByIndex::of(&operation.charge(sample))? * *share;
        }
        Ok(mean)
    }

    fn call(&self, usage: &mut Usage, function: &str, count: Decimal, units: UnitsByIndex) -> Result<()> {
        let more = self.calls(function, count)?;
        let calls = usage.calls.entry(function.to_owned()).or_default();
        calls.count += more.count;
        calls.gb_seconds += more.gb_seconds;
        calls.units += units;
        Ok(())
    }

    fn calls(&self, function: &str, count: Decimal) -> Result<Calls> {
        let seconds = self.profile.milliseconds(function) / dec!(1000);
        Ok(Calls {
            count,
            gb_seconds: count * seconds * self.deployment.function(function)?.memory_gb(),
            units: UnitsByIndex::default(),
        })
    }

    /// The calls of all cases with an effect, for each order.
    fn changes_per_order(&self, function: &str) -> Result<Decimal> {
        let mut changes = Decimal::ZERO;
        for (name, calls) in &self.profile.calls_per_order {
            let (of, case) = split(name);
            if of == function && !self.charge(usual_or(of, case)?)?.is_read_only() {
                changes += calls;
            }
        }
        Ok(changes)
    }
}
