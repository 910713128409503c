//! The ledger as Markdown tables for `docs/capacity.md`.

use key_schema::layout::PATTERNS;
use key_schema::markdown_tables::table;

use crate::ledger;
use crate::{Charge, Units};
use sample_items::{Batch, NoSample, Sample, SampleSizes};

const SMALL: SampleSizes = SampleSizes {
    id: 8,
    name: 8,
    description: 0,
    lines: 1,
    cart_lines: 1,
    listed: 1,
    cells: 2,
    batch: Batch { customers: 1, products: 1, days: 1 },
    ..SampleSizes::TYPICAL
};

/// Items about as large as the contract allows.
pub const LARGE: SampleSizes = SampleSizes {
    id: 64,
    name: 800,
    description: 20_000,
    lines: 40,
    gift_cards: 4,
    discount: true,
    cart_lines: 99,
    listed: 40,
    cells: 32,
    batch: Batch { customers: 50, products: 48, days: 1 },
    ..SampleSizes::TYPICAL
};

/// Small, typical and large.
const SIZES: [SampleSizes; 3] = [SMALL, SampleSizes::TYPICAL, LARGE];

fn samples() -> Result<[Sample; 3], NoSample> {
    let [small, typical, large] = SIZES.map(Sample::new);
    Ok([small?, typical?, large?])
}

/// The table of small, typical and large sizes.
pub fn extents() -> String {
    let row = |what: &str, of: fn(&SampleSizes) -> String| {
        std::iter::once(what.to_owned()).chain(SIZES.each_ref().map(of)).collect::<Vec<_>>()
    };
    let rows = [
        row("identifiers and codes, bytes", |sizes| sizes.id.to_string()),
        row("names and reasons, bytes", |sizes| sizes.name.to_string()),
        row("descriptions, bytes", |sizes| sizes.description.to_string()),
        row("lines of an order", |sizes| sizes.lines.to_string()),
        row("gift cards of an order", |sizes| sizes.gift_cards.to_string()),
        row("discount codes of an order", |sizes| u8::from(sizes.discount).to_string()),
        row("lines of a cart", |sizes| sizes.cart_lines.to_string()),
        row("items on a page, or days", |sizes| sizes.listed.to_string()),
        row("shards of a status", |sizes| sizes.status_shards.to_string()),
        row("shards of the lines of a product", |sizes| sizes.product_shards.to_string()),
        row("parts of the views of a product", |sizes| sizes.view_shards.to_string()),
        row("cells of a stock in several cells", |sizes| sizes.cells.to_string()),
        row("customers, products and days in a batch of the stream", |sizes| {
            let Batch { customers, products, days } = sizes.batch;
            format!("{customers}, {products}, {days}")
        }),
    ];
    table(&["", "small", "typical", "large"], rows.into_iter())
}

/// The table of every operation's charge for each size.
pub fn operations() -> Result<String, NoSample> {
    let samples = samples()?;
    let rows = ledger::operations().map(|operation| {
        let charges = samples.each_ref().map(|sample| operation.charge(sample));
        vec![
            format!("`{}`", operation.function),
            operation.case.clone(),
            sizes(charges.map(|charge| charge.requests.to_string())),
            sizes(charges.map(|charge| charge.read.total().to_string())),
            sizes(charges.map(|charge| parts(charge.write))),
        ]
    });
    Ok(table(&["function", "case", "requests", "read", "written"], rows))
}

/// The table of every access pattern's charge.
pub fn patterns() -> Result<String, NoSample> {
    let samples = samples()?;
    let rows = PATTERNS.iter().map(|pattern| {
        let charge = |sample| ledger::operations().find_map(|operation| operation.charge_along(pattern, sample));
        let charges = samples.each_ref().map(|sample| charge(sample).unwrap_or_default());
        vec![
            pattern.number.to_string(),
            pattern.question.to_owned(),
            sizes(charges.map(|charge: Charge| charge.requests.to_string())),
            sizes(charges.map(|charge| charge.read.total().to_string())),
        ]
    });
    Ok(table(&["#", "question", "requests", "read"], rows))
}

/// The table of stored bytes.
pub fn stored() -> Result<String, NoSample> {
    let samples = samples()?;
    let rows = ledger::operations().filter_map(|operation| {
        let bytes = samples.each_ref().map(|sample| operation.stored(sample));
        let grows = bytes.iter().all(|bytes| bytes.total() >= 100.0);
        grows.then(|| vec![format!("`{}` {}", operation.function, operation.case), sizes(bytes.map(parts))])
    });
    Ok(table(&["operation", "bytes"], rows))
}

/// The units of the table, the first index and the second, or `0` if there are none.
fn parts(units: Units) -> String {
    if units == Units::default() {
        return "0".to_owned();
    }
    format!("{}+{}+{}", units.table, units.gsi1, units.gsi2)
}

/// The figures for each size, or a single figure if all are equal.
fn sizes(each: [String; 3]) -> String {
    if each.iter().all(|one| *one == each[0]) {
        let [one, ..] = each;
        return one;
    }
    each.join(" / ")
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_tables_in_the_documentation_equal_the_ledger() {
        let tables = [
            ("extents", Ok(super::extents())),
            ("patterns", super::patterns()),
            ("operations", super::operations()),
            ("stored", super::stored()),
        ];
        let tables = tables.map(|(name, table)| (name, table.expect("a table")));
        docs_check::check("capacity.md", &tables).expect("docs/capacity.md");
    }
}
