//! A shop whose items have given sizes, and the operations that were recorded in it.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use capacity::{Charge, Units, rules, size};
use devstack::fault_proxy::{Access, Call};
use key_schema::layout::Consistency;
use key_schema::value::Timestamp;
use ordering::{OrderMessage, OrderRequest};
use reqwest::Method;
use sample_items::{Kind, Sample, SampleSizes};
use serde_dynamo::Item;
use serde_json::{Value, json};
use shop::payments::Payments;
use shop::queue::drain_source;
use shop::reconcile::reconciled;
use shop::{Client, Shop, eur};

use super::form::Requests;
use super::record::Recorder;

pub struct MeteredShop {
    pub shop: Shop,
    pub sample: Sample,
    recorder: Recorder,
    recorded: Book,
    has_no_figures: bool,
}

/// What was recorded of each function and case.
pub type Book = BTreeMap<(String, String), Recorded>;

pub struct Recorded {
    pub requests: Vec<Requests>,
    pub reported: Charge,
}

/// An identifier with this letter and number, of this length in bytes.
pub fn id(letter: &str, number: u32, bytes: usize) -> String {
    format!("{letter}{number:0>width$}", width = bytes - letter.len())
}

/// A text of so many bytes, different for each letter, and of as few characters as can be, which the API limits.
fn text(letter: char, bytes: usize) -> String {
    let face = char::from_u32(0x1F600 + u32::from(letter) - u32::from('a')).expect("a character");
    face.to_string().repeat(bytes / 4) + &letter.to_string().repeat(bytes % 4)
}

impl MeteredShop {
    pub async fn open(sizes: SampleSizes, has_no_figures: bool) -> Self {
        let shop = Shop::open_silently_paying(Payments::start().await, |template| {
            drain_source(template).enabled = false;
            reconciled(template, 0, 100_000);
            let shards = [
                ("VIEW_SHARDS", sizes.view_shards),
                ("STATUS_SHARDS", sizes.status_shards.into()),
                ("PRODUCT_SHARDS", sizes.product_shards.into()),
            ];
            for function in &mut template.functions {
                for (name, shards) in shards {
                    function.environment.entry(name.to_owned()).and_modify(|value| *value = shards.to_string());
                }
                // Orders are placed as in a shop without numbers. The case of this function makes an invoice wait.
                if function.handler == "number-invoices" {
                    function.environment.insert("INVOICE_SERIES".to_owned(), "2026".to_owned());
                }
            }
        })
        .await;
        // The first transaction of a cold engine may be so slow that it is sent twice. So run one without effect first.
        let flag = json!({ "reason": "none" }).to_string();
        shop.admin().send(Method::PUT, "/orders/nothing/flag", &[], Some(flag)).await.expect(404);
        shop.fault_proxy().take_calls();
        let sample = Sample::new(sizes).expect("a sample");
        Self { shop, sample, recorder: Recorder::default(), recorded: Book::new(), has_no_figures }
    }

    pub fn close(self) -> Book {
        self.recorded
    }

    pub fn sizes(&self) -> SampleSizes {
        *self.sample.sizes()
    }

    pub fn id(&self, letter: &str, number: u32) -> String {
        id(letter, number, self.sizes().id)
    }

    pub fn name(&self, letter: char) -> String {
        text(letter, self.sizes().name)
    }

    pub fn customer(&self) -> Client {
        self.shop.customer(&self.id("c", 0))
    }

    /// Discards the calls so far.
    pub async fn pass(&mut self) {
        self.shop.fault_proxy().take_calls();
        self.recorder.pass(&self.shop).await;
    }

    /// Records the calls so far as this case of this function. A case that is recorded again is the same again.
    pub async fn check(&mut self, function: &str, case: &str) {
        let calls = self.shop.fault_proxy().take_calls();
        if !self.has_no_figures {
            calls.iter().for_each(check_read);
        }
        let requests = self.recorder.record(&self.shop, &self.sample, &calls).await;
        let reported = calls.iter().map(reported).sum();
        match self.recorded.entry((function.to_owned(), case.to_owned())) {
            Entry::Vacant(vacant) => _ = vacant.insert(Recorded { requests, reported }),
            Entry::Occupied(known) => {
                assert_eq!(format!("{:?}", known.get().requests), format!("{requests:?}"), "{function}: {case}");
            }
        }
    }

    /// Checks that the table's items have the sizes of the sample's, except for the digits of a few numbers.
    pub async fn check_sizes(&self, kinds: &[(&str, Kind)]) {
        let items = self.shop.dump().await;
        for (entity, kind) in kinds {
            let mut found = items.iter().filter(|item| item["EntityType"]["S"] == *entity).peekable();
            assert!(found.peek().is_some(), "{entity}");
            for item in found {
                // A stock gets these attributes later, and their size varies by some bytes.
                let mut plain = item.clone();
                if let Some(attributes) = plain.as_object_mut() {
                    attributes.retain(|name, _| !["priceVersion", "putBacks", "transferred"].contains(&name.as_str()));
                }
                let (is, said) = (bytes(&plain), size::of_kind(&self.sample, *kind));
                assert!(is.abs_diff(said) <= 8, "{entity}: {is} bytes and not {said}: {item}");
            }
        }
    }

    /// An order of this shop: its first lines, its discount code, and gift cards that no other order has.
    pub fn order(&self, number: u32, quantity: u64) -> Value {
        let SampleSizes { lines, gift_cards, discount, .. } = self.sizes();
        let lines: Vec<_> =
            (0..lines).map(|at| json!({ "productId": self.id("p", at), "quantity": quantity })).collect();
        let cards: Vec<_> = (0..gift_cards).map(|at| self.id("g", number * 4 + at)).collect();
        let mut order = json!({ "lines": lines, "giftCards": cards });
        if discount {
            order["discountCode"] = json!(self.id("d", 0));
        }
        order
    }

    /// Such an order without a discount code. Its first read is eventually consistent, so one that is refused or meets
    /// another write reads again.
    pub fn order_without_code(&self, number: u32, quantity: u64) -> Value {
        let mut order = self.order(number, quantity);
        order.as_object_mut().expect("an object").remove("discountCode");
        order
    }

    pub fn product(&self, number: u32) -> Value {
        json!({
            "productId": self.id("p", number), "name": self.name('n'), "category": self.id("k", 0),
            "description": text('d', self.sizes().description),
            "price": eur(1999), "stock": 998,
        })
    }
}

/// The basket of an order, as somebody without an account asks for its price.
pub fn basket_of(mut order: Value) -> Value {
    order.as_object_mut().expect("an object").remove("giftCards");
    order
}

/// The charge of a call, as DynamoDB reports it.
fn reported(call: &Call) -> Charge {
    let mut charge = Charge { requests: 1.0, ..Charge::default() };
    for consumed in &call.consumed {
        let of = |index: &str| consumed.index_units.get(index).copied().unwrap_or_default();
        let units = Units { table: consumed.table_units, gsi1: of("GSI1"), gsi2: of("GSI2") };
        match consumed.access {
            Access::Read => charge.read += units,
            Access::Write => charge.write += units,
        }
    }
    charge
}

fn bytes(item: &Value) -> usize {
    size::of_item(&serde_json::from_value::<Item>(item.clone()).expect("an item"))
}

/// Checks that the units of a query or a batch follow from the items that it found.
fn check_read(call: &Call) {
    let consistency = |request: &Value| match request["ConsistentRead"].as_bool() {
        Some(true) => Consistency::Strong,
        _ => Consistency::Eventual,
    };
    let units = match call.action.as_str() {
        "Query" => {
            let found = call.response["Items"].as_array().expect("items").iter().map(bytes).sum();
            rules::read_units(found, consistency(&call.request))
        }
        "BatchGetItem" => {
            let of = |tables: &Value| tables.as_object().expect("tables").values().next().cloned().unwrap_or_default();
            let (asked, found) = (of(&call.request["RequestItems"]), of(&call.response["Responses"]));
            // The units are those of whole items, whatever is read of them.
            if !asked["ProjectionExpression"].is_null() {
                return;
            }
            let found = found.as_array().expect("items");
            let missing = asked["Keys"].as_array().expect("keys").len() - found.len();
            let sizes = found.iter().map(bytes).chain(std::iter::repeat_n(0, missing));
            sizes.map(|bytes| rules::read_units(bytes, consistency(&asked))).sum()
        }
        _ => return,
    };
    let Charge { read, .. } = reported(call);
    assert!((read.total() - units).abs() < f64::EPSILON, "{} instead of {units}: {call:?}", read.total());
}

/// The write units that the drain reserves for a queued order: of the table and of both indexes.
pub fn expected(sizes: &SampleSizes) -> (f64, f64, f64) {
    let lines = (0..sizes.lines).map(|at| json!({ "productId": id("p", at, 8), "quantity": 1 }));
    let cards = (0..sizes.gift_cards).map(|at| id("g", at, 8));
    let mut order = json!({ "lines": lines.collect::<Vec<_>>(), "giftCards": cards.collect::<Vec<_>>() });
    if sizes.discount {
        order["discountCode"] = json!("TEN");
    }
    let order: ordering::NewOrder = serde_json::from_value(order).expect("a request");
    let request = OrderRequest {
        customer: "ada".parse().expect("an id"),
        key: "k".parse().expect("a key"),
        basket: order.try_into().expect("a basket"),
    };
    let units =
        OrderMessage { request, queued_at: Timestamp::now(), max_total: None, is_redriven: false, request_id: None }
            .write_units();
    (units.table, units.indexes["GSI1"], units.indexes["GSI2"])
}
