//! docs/cost.md: what is computed in it, and its picture.

use std::fmt::Write as _;

use plotters::prelude::*;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::bill::{Choice, Estimate, Service, estimate};
use super::deployment::Deployment;
use super::designs::{Design, Held, Items, TASKS, Task};
use super::prices::{PriceList, SHIPPED};
use super::profile::{EXAMPLE, Profile};
use super::show::dollars;

const TEMPLATE: &str = include_str!("../../../template.yaml");
const OPERATIONS: &str = include_str!("../../../operations.yaml");

const DESIGNS: [(Design, &str); 3] =
    [(Design::Till, "Till"), (Design::ThreeTables, "three tables"), (Design::FatItems, "fat items")];

const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

const CUSTOMERS: usize = 100_000;
const PRODUCTS: usize = 5_000;

fn held(orders: usize) -> Held {
    Held { orders, customers: CUSTOMERS, products: PRODUCTS }
}

fn prices() -> PriceList {
    PriceList::parse(SHIPPED).unwrap()
}

/// What `cargo local cost` prints about the example.
fn bill() -> String {
    let profile = Profile::parse(EXAMPLE).unwrap();
    let deployment = Deployment::read(TEMPLATE, OPERATIONS, &profile.parameters).unwrap();
    format!("```\n{}```\n", estimate(&profile, &prices(), &deployment).unwrap())
}

/// The example with fewer and with more orders, and as many customers to each of them.
fn shops() -> String {
    let (example, prices) = (Profile::parse(EXAMPLE).unwrap(), prices());
    let deployment = Deployment::read(TEMPLATE, OPERATIONS, &example.parameters).unwrap();
    let mut rows = String::from(
        "| orders a month | the bill | an order | DynamoDB | CloudWatch | cheapest for the table |\n|---|---|---|---|---|---|\n",
    );
    for orders in [1_000, 10_000, 100_000, 1_000_000, 10_000_000_u32] {
        let mut profile = example.clone();
        profile.kept.customers = example.kept.customers * Decimal::from(orders) / example.orders;
        profile.orders = orders.into();
        let Estimate { bill, choices, .. } = estimate(&profile, &prices, &deployment).unwrap();
        let (total, cents) = (dollars(bill.total), dollars(bill.total * Decimal::ONE_HUNDRED / Decimal::from(orders)));
        let of = |service| dollars(bill.services[&service]);
        let (dynamodb, cloudwatch) = (of(Service::DynamoDb), of(Service::CloudWatch));
        let Choice { mode, class, total: least, .. } = choices.iter().find(|choice| choice.is_cheapest).unwrap();
        let cheapest = format!("{mode}, {class}: ${}", dollars(*least));
        let orders = grouped(orders);
        writeln!(rows, "| {orders} | ${total} | {cents} cents | ${dynamodb} | ${cloudwatch} | {cheapest} |").unwrap();
    }
    rows
}

/// The units of each task once, for a table of each size where it matters.
fn tasks() -> String {
    let items = Items::typical().unwrap();
    let mut rows = String::from("| task | times | Till | three tables | fat items |\n|---|---|---|---|---|\n");
    for (task, name, times) in TASKS {
        write!(rows, "| {name} | {} |", grouped(*times)).unwrap();
        for (design, _) in DESIGNS {
            let of = |orders| match items.consumed(design, *task, held(orders)) {
                None => "too large".to_owned(),
                Some(consumed) => match (consumed.read, consumed.write) {
                    (0.0, 0.0) => "-".to_owned(),
                    (read, 0.0) => format!("{read} r"),
                    (0.0, write) => format!("{write} w"),
                    (read, write) => format!("{read} r, {write} w"),
                },
            };
            let mut cells: Vec<String> = SIZES.map(of).into();
            cells.dedup();
            write!(rows, " {} |", cells.join(" / ")).unwrap();
        }
        rows.push('\n');
    }
    rows
}

/// A million orders a month, by how many orders the tables hold.
fn months() -> String {
    let (items, prices) = (Items::typical().unwrap(), prices());
    let mut rows = String::from(
        "| orders in the tables | Till | three tables | the same, no list for customers | fat items |\n|---|---|---|---|---|\n",
    );
    for orders in SIZES.into_iter().chain([10_000_000]) {
        write!(rows, "| {} |", grouped(u32::try_from(orders).unwrap())).unwrap();
        let all: fn(Task) -> bool = |_| true;
        let without_lists: fn(Task) -> bool = |task| task != Task::ListOfCustomer;
        for (design, is_done) in [
            (Design::Till, all),
            (Design::ThreeTables, all),
            (Design::ThreeTables, without_lists),
            (Design::FatItems, all),
        ] {
            let month = items.month(design, held(orders), &prices.dynamodb.standard, is_done);
            write!(rows, " {} |", month.map_or("cannot".to_owned(), |usd| format!("${}", dollars(usd)))).unwrap();
        }
        rows.push('\n');
    }
    rows
}

fn grouped(number: u32) -> String {
    super::show::number(number.into())
}

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const COLOURS: [RGBColor; 3] = [RGBColor(50, 110, 170), RGBColor(190, 60, 40), RGBColor(200, 150, 40)];

/// The bill by how many orders the tables hold, as an SVG.
fn picture() -> String {
    let (items, prices) = (Items::typical().unwrap(), prices());
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, 460)).into_drawing_area();
        area.fill(&WHITE).unwrap();
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .margin_right(40)
            .x_label_area_size(44)
            .y_label_area_size(70)
            .build_cartesian_2d((1e4..1e7).log_scale(), (10.0..1e5).log_scale())
            .unwrap();
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .axis_style(INK)
            .label_style((FONT, 14).into_font().color(&INK))
            .x_desc("orders in the tables")
            .y_desc("US dollars for a million orders a month")
            .x_label_formatter(&|orders| format!("{orders:.0}"))
            .y_label_formatter(&|usd| format!("{usd:.0}"))
            .draw()
            .unwrap();
        for ((design, name), colour) in DESIGNS.into_iter().zip(COLOURS) {
            let points = (0..=60).filter_map(|step| {
                let orders = 10_f64.powf(4.0 + f64::from(step) / 20.0);
                let count = Decimal::try_from(orders).ok()?.to_usize()?;
                let usd = items.month(design, held(count), &prices.dynamodb.standard, |_| true)?;
                Some((orders, usd.to_f64()?))
            });
            let points: Vec<_> = points.collect();
            let end = points.last().copied().filter(|(orders, _)| *orders < 9.9e6);
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))
                .unwrap()
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
            // Where a design ends before the picture does.
            chart.draw_series(end.map(|end| Circle::new(end, 4, colour.filled()))).unwrap();
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font((FONT, 14).into_font().color(&INK))
            .background_style(WHITE.mix(0.9))
            .border_style(INK)
            .draw()
            .unwrap();
        area.present().unwrap();
    }
    svg
}

#[test]
fn the_page_on_costs_says_what_is_computed() {
    let parts = [("bill", bill()), ("shops", shops()), ("tasks", tasks()), ("months", months())];
    let command = "cargo test -p local cost";
    page::check("cost.md", &parts, command).unwrap();
    page::check_file("cost-of-designs.svg", &picture(), command).unwrap();
}
