//! A traffic profile of a shop for a month.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use anyhow::{Context, Result, ensure};
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use sample_items::{Batch, Sample, SampleSizes};
use serde::Deserialize;

use super::deployment::Deployment;
use super::read;

/// An example profile, with every field explained.
pub const EXAMPLE: &str = include_str!("example.yaml");

/// The traffic of a shop in a month. [`EXAMPLE`] explains the fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    pub orders: Decimal,
    pub peak_to_mean: Decimal,
    pub order: Order,
    pub sign_in: SignIn,
    pub calls_per_order: BTreeMap<String, Decimal>,
    pub views: Views,
    pub sizes: Sizes,
    pub kept: Kept,
    pub call: Call,
    pub stream_shards: Decimal,
    pub utilization: Decimal,
    pub parameters: BTreeMap<String, Parameter>,
}

/// An order, on average.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    pub lines: Decimal,
    pub with_discount: Decimal,
    pub with_gift_card: Decimal,
    pub queued: Decimal,
    pub by_card: Decimal,
}

/// Who signs in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignIn {
    pub customers_per_order: Decimal,
    pub back_office_tokens: Decimal,
}

/// Views of products.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Views {
    pub per_order: Decimal,
    pub per_request: Decimal,
    pub once_a_day: bool,
}

/// The sizes of items.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    pub id_bytes: u16,
    pub name_bytes: u16,
    pub description_bytes: u16,
    pub cart_lines: u16,
    pub items_per_page: u8,
}

/// The content of the table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    pub order_months: Decimal,
    pub customers: Decimal,
    pub products: Decimal,
}

/// The duration, logs and response size of calls.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub milliseconds: BTreeMap<String, Decimal>,
    pub log_bytes: Decimal,
    pub answer_bytes: Decimal,
}

/// The value of a parameter of the template.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Parameter {
    Number(u64),
    Text(String),
}

/// The key for the milliseconds of all other functions.
const USUALLY: &str = "usually";

impl Profile {
    /// Reads a profile from its text. An error names the field at fault.
    pub fn parse(text: &str) -> Result<Self> {
        let profile: Self = read(text)?;
        profile.check()?;
        Ok(profile)
    }

    fn check(&self) -> Result<()> {
        let Self { order, sign_in, views, sizes, kept, call, .. } = self;
        let whole = |value: u16| Decimal::from(value);
        for (field, value, range) in [
            ("orders", self.orders, 0..=1_000_000_000_000),
            ("peak_to_mean", self.peak_to_mean, 1..=10_000),
            ("order.lines", order.lines, 1..=40),
            ("order.with_discount", order.with_discount, 0..=1),
            ("order.with_gift_card", order.with_gift_card, 0..=1),
            ("order.queued", order.queued, 0..=1),
            ("order.by_card", order.by_card, 0..=1),
            ("sign_in.customers_per_order", sign_in.customers_per_order, 0..=1_000),
            ("sign_in.back_office_tokens", sign_in.back_office_tokens, 0..=1_000_000_000),
            ("views.per_order", views.per_order, 0..=1_000_000),
            ("views.per_request", views.per_request, 1..=50),
            ("sizes.id_bytes", whole(sizes.id_bytes), 1..=64),
            ("sizes.name_bytes", whole(sizes.name_bytes), 1..=800),
            ("sizes.description_bytes", whole(sizes.description_bytes), 0..=20_000),
            ("sizes.cart_lines", whole(sizes.cart_lines), 0..=99),
            ("sizes.items_per_page", whole(sizes.items_per_page.into()), 0..=100),
            ("kept.order_months", kept.order_months, 0..=1_200),
            ("kept.customers", kept.customers, 0..=1_000_000_000_000),
            ("kept.products", kept.products, 0..=1_000_000_000_000),
            ("call.log_bytes", call.log_bytes, 0..=1_000_000),
            ("call.answer_bytes", call.answer_bytes, 0..=10_000_000),
            ("stream_shards", self.stream_shards, 1..=1_000_000),
            ("utilization", self.utilization, 0..=1),
        ] {
            within(field, value, &range)?;
        }
        ensure!(!self.utilization.is_zero(), "utilization: of a capacity that is never used, no amount is enough");
        for (function, calls) in &self.calls_per_order {
            within(&format!("calls_per_order.{function}"), *calls, &(0..=1_000_000))?;
        }
        for (function, milliseconds) in &call.milliseconds {
            within(&format!("call.milliseconds.{function}"), *milliseconds, &(0..=900_000))?;
        }
        call.milliseconds.get(USUALLY).context("call.milliseconds: `usually` is missing, for functions not named")?;
        Ok(())
    }

    /// The billed duration of a call of this function.
    pub fn milliseconds(&self, function: &str) -> Decimal {
        let of = |name| self.call.milliseconds.get(name).copied();
        of(function).or_else(|| of(USUALLY)).unwrap_or_default()
    }

    /// A sample of items for each kind of order, with its share of all orders.
    ///
    /// With 2.4 lines, 60 % of the orders have two lines and 40 % have three. Lines, codes and gift cards are
    /// independent.
    pub fn samples(&self, deployment: &Deployment) -> Result<Vec<(Decimal, Sample)>> {
        let mut samples = Vec::new();
        for (of_lines, lines) in around(self.order.lines) {
            for (of_discount, discount) in either(self.order.with_discount) {
                for (of_cards, cards) in either(self.order.with_gift_card) {
                    let share = of_lines * of_discount * of_cards;
                    if !share.is_zero() {
                        let sizes = SampleSizes { lines, discount, gift_cards: cards.into(), ..self.sizes(deployment) };
                        samples.push((share, Sample::new(sizes).context("sizes")?));
                    }
                }
            }
        }
        Ok(samples)
    }

    /// The sizes with a typical order: with the most frequent number of lines, without a code or a gift card.
    pub fn typical(&self, deployment: &Deployment) -> SampleSizes {
        SampleSizes { lines: self.order.lines.round().to_u32().unwrap_or(u32::MAX), ..self.sizes(deployment) }
    }

    /// The sizes of everything except orders.
    pub fn sizes(&self, deployment: &Deployment) -> SampleSizes {
        SampleSizes {
            id: self.sizes.id_bytes.into(),
            name: self.sizes.name_bytes.into(),
            description: self.sizes.description_bytes.into(),
            cart_lines: self.sizes.cart_lines.into(),
            listed: self.sizes.items_per_page,
            status_shards: deployment.status_shards,
            product_shards: deployment.product_shards,
            view_shards: deployment.view_shards,
            batch: Batch { customers: 0, products: 0, days: 0 },
            ..SampleSizes::TYPICAL
        }
    }
}

fn within(field: &str, value: Decimal, range: &RangeInclusive<u64>) -> Result<()> {
    let (least, most) = (range.start(), range.end());
    let is_within = Decimal::from(*least) <= value && value <= Decimal::from(*most);
    ensure!(is_within, "{field}: {value} is not from {least} to {most}");
    Ok(())
}

/// The whole numbers around a mean, with their shares.
pub fn around(mean: Decimal) -> [(Decimal, u32); 2] {
    let above = mean.fract();
    let whole = mean.trunc().to_u32().unwrap_or(u32::MAX);
    [(Decimal::ONE - above, whole), (above, whole.saturating_add(1))]
}

/// The shares without and with a property.
fn either(share: Decimal) -> [(Decimal, bool); 2] {
    [(Decimal::ONE - share, false), (share, true)]
}

impl Parameter {
    /// The value as the template spells it.
    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}
