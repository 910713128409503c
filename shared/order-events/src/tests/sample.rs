//! Sample entities, and a sample event of each kind.

use key_schema::entity::{
    Allowance, Availability, CardPayment, Credit, Customer, Dispute, Held, Invoice, LineUnits, Order, OrderLine,
    OrderStatus, Payment, PaymentDue, Product, Progress, ProviderPayment, QueuedOrder, Refusal, Rejection, Return,
    ReturnStatus, Shipment, WholeStock, Work,
};
use key_schema::layout::{ENTITY_TYPE, Stored};
use key_schema::value::{Cells, Currency, Money, OrderId, RequestHash, ReturnId, ShipmentId, Timestamp};
use serde_dynamo::{AttributeValue, Item, to_item};

use crate::{Draft, Event, OrderPlaced, drafts_of};

pub(super) type Record = crate::Record<'static>;

/// The mark of the shop.
pub(super) const FEW_LEFT: u64 = 5;

pub(super) const PLACED_AT: &str = "2026-11-21T09:30:00.000Z";

pub(super) fn record(name: &'static str, old: Item, new: Item) -> Record {
    Record { name, written_at: PLACED_AT.parse().expect("a time"), old, new }
}

/// The events of a record. An order that is placed gets two lines.
pub(super) fn events_of(record: &Record) -> Vec<Event> {
    let event = |draft| match draft {
        Draft::Event(event) => event,
        Draft::Placed(order) => OrderPlaced::new(*order, vec![line("cup"), line("pot")]).expect("its lines").into(),
    };
    drafts_of(record.clone(), FEW_LEFT).expect("it can be read").into_iter().map(event).collect()
}

/// The event of a record that has at most one.
pub(super) fn event_of(record: &Record) -> Option<Event> {
    let mut events = events_of(record);
    assert!(events.len() <= 1, "{events:?}");
    events.pop()
}

pub(super) fn line(product: &str) -> OrderLine {
    let (product_id, one) = (product.parse().expect("an id"), 1.try_into().expect("a quantity"));
    OrderLine::new(product_id, format!("A {product}"), one, eur(2399), eur(2399))
}

pub(super) fn customer() -> Customer {
    Customer {
        customer_id: "ada".parse().expect("an id"),
        username: "ada".parse().expect("a name"),
        email: "ada@example.com".parse().expect("an address"),
        name: "Ada Lovelace".to_owned(),
        created_at: "2026-11-21T09:32:00.000Z".parse().expect("a time"),
        version: 1,
        erased_at: None,
        guests: Vec::new(),
    }
}

pub(super) fn erased(customer: &Customer) -> Customer {
    customer.erased("2026-11-28T14:05:00.000Z".parse().expect("a time")).expect("a tombstone")
}

pub(super) fn product(version: u64) -> Product {
    let category = "kitchen".parse().expect("a category");
    Product {
        description: "For coffee.".to_owned(),
        initial_stock: 10,
        version,
        ..Product::new("cup".parse().expect("an id"), "A cup".to_owned(), category, eur(2399))
    }
}

pub(super) fn image<T: Stored>(of: &T) -> Item {
    let mut item: Item = to_item(of).expect("an item");
    item.insert(ENTITY_TYPE.to_owned(), AttributeValue::S(T::TYPE.to_owned()));
    // An attribute of a newer release.
    item.insert("unheardOf".to_owned(), AttributeValue::Bool(true));
    item
}

pub(super) fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("money")
}

pub(super) fn order(id: &str) -> Order {
    let placed_at = PLACED_AT.parse().expect("a time");
    let order = Order::new(id.parse().expect("an id"), "ada".parse().expect("an id"), placed_at, eur(4798));
    Order { line_count: 2, units: 2, ..order }
}

/// The order after so many cups in all were cancelled, in its next version.
pub(super) fn with_cancelled(order: &Order, units: u32) -> Order {
    let amount = i64::from(units) * 2399;
    let credit = Credit { product_id: "cup".parse().expect("an id"), units, gross: amount, amount };
    Order { credits: vec![credit], version: order.version + 1, ..order.clone() }
}

/// The order after staff gave 5.00 back, in its next version.
fn with_allowance(order: &Order) -> Order {
    let key = Some(RequestHash::of(b"credit-1"));
    let allowance =
        Allowance { key, amount: 500, reason: Some("A scratch on the saucer".to_owned()), at: order.placed_at };
    Order { allowances: vec![allowance], version: order.version + 1, ..order.clone() }
}

/// The payment after staff recorded it.
pub(super) fn paid_by_staff(card: &CardPayment) -> CardPayment {
    card.paid_under("bank-4711")
}

/// A payment at the provider that has come so far.
pub(super) fn at_provider(progress: Progress) -> CardPayment {
    let intent = "pi_3PmrZq2eZvKYlo2C1x8Yp5Lq".parse().expect("an id");
    let provider = Some(ProviderPayment { held: Held::of(progress), ..ProviderPayment::new(intent, 1) });
    CardPayment { provider, ..CardPayment::of(eur(4798)) }
}

pub(super) fn invoice(order: &OrderId, card: CardPayment) -> Invoice {
    Invoice::new(&self::order(order.as_str()), vec![Payment::Card(card)])
}

/// The order of the samples.
pub(super) const ID: &str = "ccc44633-c523-5b35-9669-978f6b6bc252";

/// An order in the queue, or one that was rejected.
pub(super) fn queued(rejection: Option<Rejection>) -> Item {
    let at = |time: &str| time.parse::<Timestamp>().expect("a time");
    let Order { order_id, customer_id, request_hash, placed_at, .. } = order(ID);
    let mut queued = QueuedOrder::new(order_id, customer_id, request_hash, placed_at);
    queued.refusal = rejection.map(|rejection| Refusal { at: at("2026-11-21T09:31:00.000Z"), rejection });
    image(&queued)
}

/// A return of one cup, which was requested when the order was placed.
pub(super) fn given_back(order: &OrderId) -> Return {
    Return {
        return_id: ReturnId::of(order, &"return-1".parse().expect("a key")),
        order_id: order.clone(),
        customer_id: "ada".parse().expect("an id"),
        shard: 0,
        lines: vec![LineUnits {
            product_id: "cup".parse().expect("an id"),
            quantity: 1.try_into().expect("a quantity"),
        }],
        reason: Some("A chip in the glaze".to_owned()),
        requested_at: PLACED_AT.parse().expect("a time"),
        status: ReturnStatus::Requested,
        closed_at: None,
        restocked: false,
        amount: None,
        refusal: None,
    }
}

/// A shipment of one cup, which was made when the order was placed.
pub(super) fn shipped(order: &OrderId) -> Shipment {
    let returned = given_back(order);
    Shipment {
        shipment_id: ShipmentId::of(order, &"shipment-1".parse().expect("a key")),
        order_id: returned.order_id,
        customer_id: returned.customer_id,
        lines: returned.lines,
        all_left: false,
        carrier: "Parcel Post".to_owned(),
        tracking_number: Some("PP123456789".to_owned()),
        tracking_url: Some("https://parcel.example/PP123456789".to_owned()),
        shipped_at: PLACED_AT.parse().expect("a time"),
        delivered_at: None,
    }
}

/// One event of each kind, about one order, one product and one customer.
pub(crate) fn samples() -> [Event; 23] {
    let (pending, mut paid) = (order(ID), order(ID));
    (paid.status, paid.version) = (OrderStatus::Paid, 2);
    let invoiced = |card: &CardPayment| image(&invoice(&pending.order_id, card.clone()));
    let event = |name, old, new| event_of(&record(name, old, new)).expect("an event");
    let last = product(2);
    let sold_out = Product { availability: Availability::SoldOut, availability_changes: 1, ..last.clone() };
    let no_stock = WholeStock::shared_out(last.product_id.clone(), last.price, 0, Cells::ONE).first();
    let product = |version| image(&product(version));
    let (order_id, since) = (pending.order_id.clone(), pending.placed_at);
    let due = PaymentDue { order_id, shard: 0, since, work: Work::Provider, amount: eur(4798) };

    let unpaid = CardPayment::of(eur(4798));
    let expired = CardPayment { cancelled: true, expired: true, ..unpaid.clone() };
    let captured = paid_by_staff(&unpaid);
    let refund_due = CardPayment { cancelled: true, ..captured.clone() };
    let refunded = refund_due.refunded_under("refund-4711").expect("a refund is due");
    let charged = |more: Held| {
        let held = Held { progress: Progress::Captured, captured: 4798, ..more };
        invoiced(&at_provider(Progress::Authorized).observed(held, 0))
    };
    let failed = Held { failed: 2399, ..Held::NOTHING };
    let disputed = Held { disputed: 4798, dispute: Some(Dispute::Open), ..Held::NOTHING };
    let requested = given_back(&pending.order_id);
    let received = Return {
        status: ReturnStatus::Received,
        closed_at: Some("2026-11-28T14:05:00.000Z".parse().expect("a time")),
        restocked: true,
        amount: Some(eur(2399)),
        ..requested.clone()
    };
    let sent = shipped(&pending.order_id);
    let arrived = Shipment { delivered_at: Some("2026-11-24T11:20:00.000Z".parse().expect("a time")), ..sent.clone() };
    let [started, declined, authorized] =
        [Progress::Started, Progress::Declined, Progress::Authorized].map(|progress| invoiced(&at_provider(progress)));
    [
        event("INSERT", Item::default(), image(&pending)),
        event("MODIFY", image(&pending), image(&paid)),
        event("MODIFY", image(&paid), image(&with_cancelled(&paid, 1))),
        event("MODIFY", image(&paid), image(&with_allowance(&paid))),
        event("MODIFY", started.clone(), authorized),
        event("MODIFY", started, declined),
        event("MODIFY", invoiced(&unpaid), invoiced(&captured)),
        event("INSERT", Item::default(), image(&due)),
        event("MODIFY", invoiced(&captured), invoiced(&refund_due)),
        event("MODIFY", invoiced(&refund_due), invoiced(&refunded)),
        event("MODIFY", charged(Held { refunded: 2399, ..Held::NOTHING }), charged(failed)),
        event("MODIFY", charged(Held::NOTHING), charged(disputed)),
        event("INSERT", Item::default(), image(&sent)),
        event("MODIFY", image(&sent), image(&arrived)),
        event("INSERT", Item::default(), image(&requested)),
        event("MODIFY", image(&requested), image(&received)),
        event("MODIFY", invoiced(&unpaid), invoiced(&expired)),
        event("MODIFY", queued(None), queued(Some(Rejection::TooExpensive))),
        event("MODIFY", product(1), product(2)),
        event("REMOVE", product(2), Item::default()),
        event("MODIFY", image(&last), image(&sold_out)),
        event("INSERT", Item::default(), image(&no_stock)),
        event("MODIFY", image(&customer()), image(&erased(&customer()))),
    ]
}
