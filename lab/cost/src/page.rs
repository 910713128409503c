//! The generated parts of docs/cost.md, and its picture.

mod designs;
mod edges;
mod exports;
mod items;
mod levers;
mod tests;

use std::fmt::Write as _;

use plotters::prelude::*;
use rust_decimal::prelude::ToPrimitive;
use rust_decimal::{Decimal, dec};

use designs::{Consumed, Design, Shop, TASKS, Task};

use super::bill::Service;
use super::deployment::Deployment;
use super::estimate::{Choice, Estimate, estimate};
use super::prices::{PriceList, SHIPPED};
use super::profile::{EXAMPLE, Profile};
use super::share;
use super::show::{dollars, grouped, number, percent};

const TEMPLATE: &str = include_str!("../../../template.yaml");
const OPERATIONS: &str = include_str!("../../../operations.yaml");
const FIREWALL: &str = include_str!("../../../firewall.yaml");

const DESIGNS: [(Design, &str); 3] =
    [(Design::Till, "Till"), (Design::ThreeTables, "three tables"), (Design::FatItems, "fat items")];

/// The numbers of orders in the tables, while the shop grows to the profile's number.
const ON_THE_WAY: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

fn prices() -> PriceList {
    PriceList::parse(SHIPPED).unwrap()
}

/// The example's profile and deployment.
fn deployed() -> (Profile, Deployment) {
    let profile = Profile::parse(EXAMPLE).unwrap();
    let deployment = Deployment::read(TEMPLATE, OPERATIONS, FIREWALL, &profile.parameters).unwrap();
    (profile, deployment)
}

fn example() -> Estimate {
    let (profile, deployment) = deployed();
    estimate(&profile, &prices(), &deployment).unwrap()
}

/// The example's shop, for any design.
fn shop() -> Shop {
    let (profile, deployment) = deployed();
    Shop::of(&profile, &deployment, &prices()).unwrap()
}

/// The output of `cargo cost` for the example.
fn bill() -> String {
    format!("```\n{}```\n", example())
}

/// The example with fewer and with more orders, and customers in proportion.
fn shops() -> String {
    let ((example, deployment), prices) = (deployed(), prices());
    let mut rows = String::from(
        "| orders a month | the bill | an order | DynamoDB | CloudWatch | cheapest for the table |\n|---|---|---|---|---|---|\n",
    );
    for orders in [1_000, 10_000, 100_000, 1_000_000, 10_000_000].map(Decimal::from) {
        let mut profile = example.clone();
        profile.kept.customers = example.kept.customers * orders / example.orders;
        profile.orders = orders;
        let Estimate { bill, choices, .. } = estimate(&profile, &prices, &deployment).unwrap();
        let (total, cents) = (dollars(bill.total), dollars(bill.total * Decimal::ONE_HUNDRED / orders));
        let of = |service| dollars(bill.services[&service]);
        let (dynamodb, cloudwatch) = (of(Service::DynamoDb), of(Service::CloudWatch));
        let Choice { mode, class, total: least, .. } = choices.iter().find(|choice| choice.is_cheapest).unwrap();
        let cheapest = format!("{mode}, {class}: ${}", dollars(*least));
        let orders = number(orders);
        writeln!(rows, "| {orders} | ${total} | {cents} cents | ${dynamodb} | ${cloudwatch} | {cheapest} |").unwrap();
    }
    rows
}

/// What payments by card add to the bill of the example, line by line.
fn payments() -> String {
    let ((example, deployment), prices) = (deployed(), prices());
    let [without, with] = [Decimal::ZERO, Decimal::ONE].map(|by_card| {
        let mut profile = example.clone();
        profile.calls_per_order.remove("capture-payment");
        profile.order.by_card = by_card;
        estimate(&profile, &prices, &deployment).unwrap().bill
    });
    let mut rows = String::from("| service | what | how much more | USD |\n|---|---|---|---|\n");
    for (line, before) in with.lines.iter().zip(&without.lines) {
        assert_eq!((line.service, line.what), (before.service, before.what));
        let more = (line.quantity - before.quantity).round_dp(1);
        if !more.is_zero() {
            let usd = dollars(line.usd - before.usd);
            writeln!(rows, "| {} | {} | {} {} | {usd} |", line.service, line.what, number(more), line.unit).unwrap();
        }
    }
    let total = with.total - without.total;
    let cents = number(total * dec!(100000) / example.orders);
    writeln!(rows, "| **total** | | {cents} cents for a thousand orders | **{}** |", dollars(total)).unwrap();
    rows
}

/// What counting views costs in the example, by the number of views in a request, and with a queue in between.
fn views() -> String {
    let ((example, deployment), prices) = (deployed(), prices());
    let total = |profile: &Profile| estimate(profile, &prices, &deployment).unwrap().bill.total;
    let without = {
        let mut profile = example.clone();
        profile.views.per_order = Decimal::ZERO;
        total(&profile)
    };
    let mut rows =
        String::from("| views | requests | write units | USD a month | of the bill |\n|---|---|---|---|---|\n");
    let views = example.orders * example.views.per_order;
    for (how, per_request, once_a_day) in [
        ("one in a request", dec!(1), false),
        ("10 in a request", dec!(10), false),
        ("50 in a request", dec!(50), false),
        ("10 in a request, once for each visitor and day", dec!(10), true),
    ] {
        let mut profile = example.clone();
        (profile.views.per_request, profile.views.once_a_day) = (per_request, once_a_day);
        let bill = total(&profile);
        let usd = bill - without;
        let units = views * if once_a_day { dec!(2) } else { Decimal::ONE };
        let (requests, units, share) =
            (number(views / per_request), number(units), percent(share(usd, bill).unwrap_or_default()));
        writeln!(rows, "| {how} | {requests} | {units} | {} | {share} |", dollars(usd)).unwrap();
    }
    // A message for each request is sent, and received and deleted in batches of ten. If all views of a product within
    // a window came to one update, the updates would cost nothing: this is the least that a queue can cost.
    for (how, per_request) in
        [("one in a message, through a queue", dec!(1)), ("10 in a message, through a queue", dec!(10))]
    {
        let messages = views / per_request;
        let usd = prices.http_api.request.of(messages) + prices.sqs.request.of(messages * dec!(1.2));
        writeln!(rows, "| {how} | {} | 0 at best | {} at least | |", number(messages), dollars(usd)).unwrap();
    }
    rows
}

/// The figures of the shop for which the designs are compared.
fn compared() -> String {
    let (Profile { orders, order, sizes, kept, .. }, _) = deployed();
    let rows = [
        ("orders a month", orders),
        ("lines of an order", order.lines),
        ("items on a page", sizes.items_per_page.into()),
        ("bytes of an id", sizes.id_bytes.into()),
        ("bytes of a name", sizes.name_bytes.into()),
        ("bytes of a description", sizes.description_bytes.into()),
        ("customers", kept.customers),
        ("products", kept.products),
    ];
    let rows = rows.map(|(what, figure)| format!("| {what} | {} |\n", number(figure)));
    format!("| what | how much |\n|---|---|\n{}", rows.concat())
}

/// The units of each task, for tables of each size if that matters.
fn tasks() -> String {
    let shop = shop();
    let sizes = [10_000, 1_000_000, shop.kept()];
    let mut rows = format!(
        "`r` is a read unit, `w` a write unit. Figures that depend on the size of the tables are for\n{} orders.\n\n\
         | task | times | Till | three tables | fat items |\n|---|---|---|---|---|\n",
        sizes.map(|orders| number(orders.into())).join(" / ")
    );
    for (task, name, ..) in TASKS {
        write!(rows, "| {name} | {} |", number(shop.times(*task))).unwrap();
        for (design, _) in DESIGNS {
            let of = |orders| shop.consumed(design, *task, orders).map_or_else(|| "too large".to_owned(), units);
            let cells = sizes.map(of);
            let is_one = cells.iter().all(|cell| *cell == cells[0]);
            write!(rows, " {} |", if is_one { cells[0].clone() } else { cells.join(" / ") }).unwrap();
        }
        rows.push('\n');
    }
    rows
}

fn units(Consumed { read, write }: Consumed) -> String {
    // Half units matter in small sums.
    let rounded = |units| Decimal::try_from(units).unwrap().round_dp(u32::from(units < 1000.0));
    let figures = [(rounded(read), "r"), (rounded(write), "w")].into_iter().filter(|(units, _)| !units.is_zero());
    let figures: Vec<_> = figures.map(|(units, name)| format!("{} {name}", grouped(units.normalize()))).collect();
    if figures.is_empty() { "-".to_owned() } else { figures.join(", ") }
}

/// A design and its tasks, as the page names it.
type Case = (&'static str, Design, fn(Task) -> bool);

/// The designs with all tasks, and two of them without the tasks that they are worst at.
const CASES: [Case; 6] = [
    ("Till", Design::Till, |_| true),
    ("three tables", Design::ThreeTables, |_| true),
    ("three tables, no list for customers", Design::ThreeTables, |task| {
        !matches!(task, Task::ListOfCustomer | Task::Overview)
    }),
    ("three tables, no list at all", Design::ThreeTables, |task| {
        !matches!(task, Task::ListOfCustomer | Task::Overview | Task::ListOfProduct | Task::ListOfStatus)
    }),
    ("fat items", Design::FatItems, |_| true),
    ("fat items, no list of a status", Design::FatItems, |task| task != Task::ListOfStatus),
];

/// The cost of a month, by the number of orders in the tables.
fn months() -> String {
    let shop = shop();
    let names = CASES.map(|(name, ..)| name).join(" | ");
    let mut rows = format!("| orders in the tables | {names} |\n|---|{}\n", "---|".repeat(CASES.len()));
    for orders in ON_THE_WAY.into_iter().chain([shop.kept()]) {
        write!(rows, "| {} |", number(orders.into())).unwrap();
        for (_, design, is_done) in CASES {
            let month = shop.month(design, orders, is_done);
            write!(rows, " {} |", month.map_or("cannot".to_owned(), |usd| format!("${}", dollars(usd)))).unwrap();
        }
        rows.push('\n');
    }
    rows
}

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);

/// The colour of a design, paler with fewer tasks.
const COLOURS: [RGBColor; 6] = [
    RGBColor(50, 110, 170),
    RGBColor(190, 60, 40),
    RGBColor(214, 135, 122),
    RGBColor(235, 200, 192),
    RGBColor(190, 140, 30),
    RGBColor(226, 200, 140),
];

/// The bill by the number of orders in the tables, as an SVG.
fn picture() -> String {
    let shop = shop();
    let most = shop.kept().to_f64().unwrap();
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (900, 460)).into_drawing_area();
        area.fill(&WHITE).unwrap();
        let mut chart = ChartBuilder::on(&area)
            .margin(16)
            .margin_right(40)
            .x_label_area_size(44)
            .y_label_area_size(70)
            .build_cartesian_2d((1e4..most).log_scale(), (5.0..1e6).log_scale())
            .unwrap();
        chart
            .configure_mesh()
            .light_line_style(WHITE)
            .axis_style(INK)
            .label_style((FONT, 14).into_font().color(&INK))
            .x_desc("orders in the tables")
            .y_desc("US dollars a month")
            .x_label_formatter(&|orders| format!("{orders:.0}"))
            .y_label_formatter(&|usd| format!("{usd:.0}"))
            .draw()
            .unwrap();
        for ((name, design, is_done), colour) in CASES.into_iter().zip(COLOURS) {
            let points = (0..=60).filter_map(|step| {
                let orders = 1e4 * (most / 1e4).powf(f64::from(step) / 60.0);
                let usd = shop.month(design, orders.to_usize()?, is_done)?;
                Some((orders, usd.to_f64()?))
            });
            let points: Vec<_> = points.collect();
            let end = points.last().copied().filter(|(orders, _)| *orders < most * 0.99);
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))
                .unwrap()
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
            // The end of a design that fails before the right end of the picture.
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
    let parts = [
        ("bill", bill()),
        ("payments", payments()),
        ("edges", edges::table()),
        ("levers", levers::table()),
        ("exports", exports::table()),
        ("queries", exports::of_queries()),
        ("options", edges::options()),
        ("views", views()),
        ("shops", shops()),
        ("compared", compared()),
        ("tasks", tasks()),
        ("months", months()),
    ];
    let command = "cargo test -p cost";
    docs_check::check("cost.md", &parts, command).unwrap();
    docs_check::check_file("cost-of-designs.svg", &picture(), command).unwrap();
}
