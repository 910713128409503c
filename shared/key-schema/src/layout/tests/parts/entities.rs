//! One entity of each kind, made from the same parts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde::Deserialize as _;
use serde::de::value::MapDeserializer;
use serde_json::{Map, Value, json};

use super::{Parts, any_parts};
use crate::entity::{CancellationCause, Credit, PairOfSums, ParkedCounts, Phase, Side, TaxRate, Work};
use crate::layout::{ENTITIES, ENTITY_TYPE, Item};
use crate::value::{IdempotencyRecordId, Money, RequestHash, TextHash, ViewMarkId};

/// The fields that each kind has in some of many items, so that an item is not read from the fields of all.
static NAMES: LazyLock<BTreeMap<&str, BTreeSet<String>>> = LazyLock::new(|| {
    let (mut runner, mut names) = (TestRunner::deterministic(), BTreeMap::<_, BTreeSet<_>>::new());
    for _ in 0..64 {
        let parts = any_parts().new_tree(&mut runner).expect("parts").current();
        let fields = parts.fields();
        for (kind, _) in ENTITIES {
            let item = json!(parts.read(kind, &fields, |_| true));
            names.entry(*kind).or_default().extend(object(item).into_iter().map(|(name, _)| name));
        }
    }
    names
});

impl Parts {
    /// One entity of each kind: what it reads of these fields.
    pub(in crate::layout::tests) fn entities(&self) -> Vec<Item> {
        let fields = self.fields();
        ENTITIES.iter().map(|(kind, _)| self.entity(kind, &fields)).collect()
    }

    /// The entity of one kind.
    pub(in crate::layout::tests) fn entity(&self, kind: &str, fields: &Map<String, Value>) -> Item {
        self.read(kind, fields, |name| NAMES[kind].contains(name) || name.contains(':'))
    }

    fn read(&self, kind: &str, fields: &Map<String, Value>, is_read: impl Fn(&str) -> bool) -> Item {
        let (own, kind) = (object(self.own_fields(kind)), json!(kind));
        let shared = fields.iter().filter(|(name, _)| is_read(name) && !own.contains_key(*name));
        let all = shared.chain(&own).filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.as_str(), value));
        let all = MapDeserializer::<_, serde_json::Error>::new(all.chain([(ENTITY_TYPE, &kind)]));
        Item::deserialize(all).unwrap_or_else(|error| panic!("{kind}: {error}"))
    }

    fn units(&self) -> Value {
        json!([{ "productId": self.product, "quantity": self.quantity }])
    }

    fn address(&self) -> Value {
        let (text, some) = (&self.text, self.until.map(|_| &self.text));
        json!({ "name": text, "line1": text, "line2": some, "city": text, "postalCode": some, "region": some, "country": "DE" })
    }

    /// The fields of all entities by their names. What is null, is absent.
    pub(in crate::layout::tests) fn fields(&self) -> Map<String, Value> {
        let Self { number, text, shard, until, .. } = self;
        let [some, more, most] = self.money;
        let (at, counter, is_odd, key) =
            (self.moment(), number.cast_signed(), number % 2 == 1, json!({ "partition": text, "sort": text }));
        let second = at.as_second();
        let stats = json!({ "customerId": self.customer, "orders": 1, "openUnits": -1 });
        let mut of_day = json!({ "date": at.day(), "orders": 0, "units": 1 });
        let (mut fields, mut of_customer) = (self.address(), stats);
        for (currency, sum) in self.sums.iter() {
            fields[format!("revenue:{currency}")] = json!(sum);
            fields[format!("spent:{currency}")] = json!(sum);
            of_customer[format!("spent:{currency}")] = json!(sum);
            of_day[format!("revenue:{currency}")] = json!(sum);
        }
        for (status, sum) in self.statuses.iter() {
            fields[format!("status:{status}")] = json!(sum);
            of_day[format!("status:{status}")] = json!(sum);
        }
        let mut fields = object(fields);
        let visitor = self.visitor().try_into().expect("a visitor");
        let groups = [
            json!({
                // Who and what.
                "customerId": self.customer, "username": self.username, "email": self.email, "productId": self.product,
                "orderId": self.order, "invoiceId": self.invoice, "returnId": self.return_id, "shipmentId": self.shipment_id,
                "category": self.category, "code": self.gift_card, "shardId": self.stream_shard, "mark": self.mark,
                "markId": ViewMarkId::of(at.day(), &self.product, &visitor), "repairId": self.product, "holder": self.product,
                "recordId": IdempotencyRecordId::of(&self.customer, &"a key".parse().expect("a key")),
                "series": self.discount, "variantOf": self.product, "images": [self.order],
                "guests": Vec::from_iter(until.map(|_| &self.customer)), "claimedBy": until.map(|_| &self.customer),
                "requestHash": RequestHash::of(text.as_bytes()), "requestId": until.map(|_| "fxlFO9BGgSVEcqU="),
            }),
            json!({
                // When.
                "createdAt": at, "updatedAt": at, "placedAt": at, "issuedAt": at, "flaggedAt": at, "requestedAt": at, "shippedAt": at,
                "queuedAt": at, "markedAt": at, "parkedAt": at, "startedAt": at, "since": at, "at": at, "expiresAt": second,
                "date": at.day(), "changedAt": until.unwrap_or(at), "deliveredAt": until, "importedAt": until, "closedAt": until,
                "deadSince": until, "validUntil": until, "from": until.map(|_| at), "to": until,
            }),
            json!({
                // Numbers.
                "version": number, "available": number, "priceVersion": number / 2, "putBacks": number / 3, "views": number,
                "transferred": -counter, "heldByGuests": counter / 5, "orders": counter, "openUnits": counter / 2, "units": counter / 2,
                "products": counter, "last": number, "initialStock": self.quantity, "uses": self.quantity, "quantity": self.quantity,
                "weightGrams": until.map(|_| 250), "maxUses": until.map(|_| u32::MAX), "shard": shard, "cell": shard, "cells": self.cells(),
                "lineCount": shard, "returnCount": shard, "shipmentCount": shard, "deliveredCount": shard, "returned": shard,
                "group": shard, "list": self.shards, "layout": ParkedCounts::LAYOUT, "segment": shard, "segments": self.shards,
                "run": number, "migrationVersion": number, "pages": number, "items": number, "copied": number / 2,
                "differences": number,
            }),
            json!({
                // An invoice either waits for its number or has one.
                "unnumbered": until.is_none().then_some(shard), "number": until.map(|_| format!("{}-{}", self.discount, number.max(&1))),
            }),
            json!({
                // Money.
                "price": some, "subtotal": some, "discount": more, "total": most, "unitPrice": some, "amount": some, "balance": some,
                "initial": more, "minSubtotal": until.map(|_| more), "shipping": until.map(|_| some), "maxTotal": until.map(|_| some),
                "payments": self.payments,
            }),
            json!({
                // Flags.
                "recalled": is_odd, "hasAddress": !is_odd, "restocked": !is_odd, "allLeft": !is_odd, "erased": number % 3 == 0,
                "combinable": *number > 1, "revoked": until.is_some(), "blocked": until.is_some(), "isDone": until.is_none(),
            }),
            json!({
                // Texts.
                "text": text, "description": text, "wholeDescription": until.map(|_| TextHash::of(text)), "reason": text,
                "carrier": text, "trackingNumber": until.map(|_| text), "trackingUrl": until.map(|_| text), "body": text,
                "refusal": until.map(|_| text), "location": until.map(|_| text), "resume": until.map(|_| text),
            }),
            json!({
                // States.
                "status": self.status, "phase": Phase::Compare, "task": "compare", "leader": Side::Next, "scanned": Side::First,
                "work": if shard % 2 == 1 { Work::Lapsed } else { Work::Provider },
            }),
            json!({
                // Parts.
                "attributes": object(until.map_or(json!({}), |_| json!({ text: text }))), "lines": self.units(),
                "codes": Vec::from_iter(until.map(|_| json!({ "code": self.discount, "amount": some, "counted": *number > 1 }))),
                "cancellation": until.map(|at| json!({
                    "at": at, "reason": Some(text).filter(|_| !is_odd),
                    "cause": Some(CancellationCause::Unpaid).filter(|_| number % 3 == 0),
                })),
                "credits": Vec::from_iter(until.map(|_| Credit {
                    product_id: self.product.clone(), units: self.quantity.get(), gross: some.amount(), amount: more.amount(),
                })),
                "returning": if until.is_some() { self.units() } else { json!([]) },
                "shipped": if until.is_some() { self.units() } else { json!([]) },
                "addresses": [with(self.address(), "addressId", json!(self.product))], "default": until.map(|_| &self.product),
                "countries": Vec::from_iter(until.map(|_| json!({
                    "country": "DE", "standard": TaxRate::default(),
                    "categories": [{ "category": self.category, "rate": TaxRate::default() }],
                }))),
                "zones": [{
                    "countries": Vec::from_iter(until.map(|_| "DE")), "currency": some.currency(),
                    "by": if until.is_some() { "weight" } else { "price" },
                    "bands": [{ "upTo": until.map(|_| 1000), "price": some.amount() }], "freeFrom": until.map(|_| most.amount()),
                }],
                "customers": [of_customer], "days": [of_day], "keys": [key], "differing": [key],
                "sums": { text: PairOfSums::default() },
            }),
        ];
        fields.extend(groups.into_iter().flat_map(object));
        fields
    }

    /// The fields that mean something else in this entity than elsewhere.
    fn own_fields(&self, kind: &str) -> Value {
        let Self { text, until, number, .. } = self;
        let ([some, ..], at) = (self.money, self.moment());
        match kind {
            "cart" => json!({ "lines": self.wanted }),
            "guest" => json!({ "expiresAt": until.map(|_| at.as_second()) }),
            "stockCell" => json!({ "transferred": number.cast_signed() }),
            "order" => json!({ "units": self.quantity }),
            "orderItem" => json!({
                "uncounted": number % 2 == 0, "discount": until.map(|_| some),
                "tax": until.map(|_| json!({ "rate": TaxRate::default(), "amount": some, "added": *number > 1 })),
            }),
            "return" => json!({ "status": "requested", "reason": until.map(|_| text), "amount": until.map(|_| some) }),
            "queuedOrder" => json!({ "refusal": until.map(|at| json!({ "at": at, "rejection": self.rejection })) }),
            "discount" => json!({
                "code": self.discount, "category": until.map(|_| &self.category), "percent": until.map(|_| self.percent),
                "amount": until.is_none().then(|| Money::nearest(some.amount().max(1), some.currency())),
            }),
            "giftCardEntry" => json!({ "status": self.paid }),
            "reconciliation" => json!({ "to": at.day() }),
            "idempotencyRecord" => json!({ "status": 200, "version": until.map(|_| number) }),
            "parkedCounts" => json!({ "products": [] }),
            "copyProgress" => json!({ "last": until.map(|_| json!({ "partition": text, "sort": text })) }),
            _ => json!({}),
        }
    }
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { panic!("no object: {value}") };
    fields
}

fn with(mut value: Value, name: &str, of: Value) -> Value {
    value[name] = of;
    value
}
