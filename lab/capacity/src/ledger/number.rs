//! Numbers that depend on the sizes of a sample.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use key_schema::entity::Product;
use sample_items::SampleSizes;

/// A number of requests or items: `times × of + plus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Many {
    pub times: u32,
    pub of: Size,
    pub plus: i32,
}

/// A size on which a number depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// None: the number is a constant.
    One,
    Lines,
    GiftCards,
    Discounts,
    /// The orders without a discount code: their first read is eventually consistent.
    WithoutDiscount,
    /// The descriptions of a product that are in an item of their own.
    LongDescriptions,
    CartLines,
    /// The items on a page. Of a list in several shards, all shards together.
    Listed,
    /// The lines that a page of orders reads.
    LinesListed,
    StatusShards,
    ProductShards,
    /// The shards of the lines of all products of an order.
    ShardsOfLines,
    ViewShards,
    Cells,
    Customers,
    Products,
    Days,
}

impl Size {
    /// Every size, with its name in the ledger.
    pub const ALL: [(Self, &str); 17] = [
        (Self::One, ""),
        (Self::Lines, "lines"),
        (Self::GiftCards, "gift-cards"),
        (Self::Discounts, "discounts"),
        (Self::WithoutDiscount, "without-discount"),
        (Self::LongDescriptions, "long-descriptions"),
        (Self::CartLines, "cart-lines"),
        (Self::Listed, "listed"),
        (Self::LinesListed, "listed*lines"),
        (Self::StatusShards, "status-shards"),
        (Self::ProductShards, "product-shards"),
        (Self::ShardsOfLines, "lines*product-shards"),
        (Self::ViewShards, "view-shards"),
        (Self::Cells, "cells"),
        (Self::Customers, "customers"),
        (Self::Products, "products"),
        (Self::Days, "days"),
    ];

    /// The value for these sizes.
    pub fn of(self, sizes: &SampleSizes) -> u32 {
        match self {
            Self::One => 1,
            Self::Lines => sizes.lines,
            Self::GiftCards => sizes.gift_cards,
            Self::Discounts => sizes.discount.into(),
            Self::WithoutDiscount => (!sizes.discount).into(),
            Self::LongDescriptions => (sizes.description > Product::LONGEST_INSIDE).into(),
            Self::CartLines => sizes.cart_lines,
            Self::Listed => sizes.listed.into(),
            // Of a long order, five are read.
            Self::LinesListed => u32::from(sizes.listed) * if sizes.lines > 12 { 5 } else { sizes.lines },
            Self::StatusShards => sizes.status_shards.into(),
            Self::ProductShards => sizes.product_shards.into(),
            Self::ShardsOfLines => sizes.lines * u32::from(sizes.product_shards),
            Self::ViewShards => sizes.view_shards,
            Self::Cells => sizes.cells.into(),
            Self::Customers => sizes.batch.customers,
            Self::Products => sizes.batch.products,
            Self::Days => sizes.batch.days,
        }
    }

    /// The shards of a list, if this is a number of shards.
    pub(super) fn shards(self, sizes: &SampleSizes) -> Option<u8> {
        match self {
            Self::StatusShards => Some(sizes.status_shards),
            Self::ProductShards | Self::ShardsOfLines => Some(sizes.product_shards),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(size, _)| *size == self).map_or("", |(_, name)| name)
    }
}

impl Many {
    pub const ONE: Self = Self::constant(1);

    pub const fn constant(times: u32) -> Self {
        Self { times, of: Size::One, plus: 0 }
    }

    /// The number for these sizes.
    pub fn of(self, sizes: &SampleSizes) -> u32 {
        (self.times * self.of.of(sizes)).saturating_add_signed(self.plus)
    }

    /// The number that has these values for these sizes: the simplest one, if there are several.
    pub fn fit(values: &[(SampleSizes, u32)]) -> Option<Self> {
        let fits = |many: &Self| values.iter().all(|(sizes, value)| many.of(sizes) == *value);
        // At most the lists of a week: five statuses on each of seven days.
        let constants = (1..=200).map(Self::constant);
        let plain = (1..=42).flat_map(|times| Size::ALL[1..].iter().map(move |&(of, _)| Self { times, of, plus: 0 }));
        let more = [-1, 1, 2]
            .into_iter()
            .flat_map(|plus| Size::ALL[1..].iter().map(move |&(of, _)| Self { times: 1, of, plus }));
        constants.chain(plain).chain(more).find(fits)
    }
}

impl Display for Many {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match (self.times, self.of) {
            (times, Size::One) => write!(formatter, "{times}")?,
            (1, of) => formatter.write_str(of.name())?,
            (times, of) => write!(formatter, "{times}*{}", of.name())?,
        }
        if self.plus == 0 { Ok(()) } else { write!(formatter, "{:+}", self.plus) }
    }
}

impl FromStr for Many {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (product, plus) = match text.rsplit_once(['+', '-']) {
            Some((product, number)) if number.parse::<u32>().is_ok() => (product, &text[product.len()..]),
            _ => (text, "0"),
        };
        let plus = plus.parse().map_err(|error| format!("{text}: {error}"))?;
        if let Ok(times) = product.parse() {
            return Ok(Self { times, of: Size::One, plus });
        }
        let (times, name) = match product.split_once('*') {
            Some((times, name)) if times.parse::<u32>().is_ok() => (times, name),
            _ => ("1", product),
        };
        let times = times.parse().map_err(|error| format!("{text}: {error}"))?;
        let (of, _) = Size::ALL.into_iter().find(|(_, known)| *known == name).ok_or(format!("{text}: no size"))?;
        Ok(Self { times, of, plus })
    }
}
