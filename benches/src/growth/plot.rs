//! docs/growth.svg: what some operations consume and how long they take, against the number of orders.

use anyhow::{Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use super::Size;
use super::probe::Measured;
use crate::figures::as_float;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
/// Those that touch the collections that grow, and the two that write most.
const SHOWN: [(&str, RGBColor); 5] = [
    ("6 orders of a product, from the middle", RGBColor(50, 110, 170)),
    ("11 orders of a customer", RGBColor(60, 150, 90)),
    ("15 orders of a status", RGBColor(140, 80, 160)),
    ("place an order of one line", RGBColor(190, 60, 40)),
    ("capture its payment", RGBColor(200, 140, 30)),
];

/// Draws the picture.
pub(super) fn draw(sizes: &[Size]) -> Result<()> {
    let file = page::file("growth.svg");
    let area = SVGBackend::new(&file, (1000, 400)).into_drawing_area();
    paint(&area, sizes).map_err(|error| anyhow!("docs/growth.svg cannot be drawn: {error}"))
}

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn paint<'a>(area: &DrawingArea<SVGBackend<'a>, Shift>, sizes: &[Size]) -> Drawn<'a> {
    area.fill(&WHITE)?;
    let (units, times) = area.split_horizontally(500);
    let consumed = |one: &Measured| one.cost.read + one.cost.written.iter().sum::<f64>();
    panel(&units, sizes, "units: read and written", consumed, true)?;
    panel(&times, sizes, "milliseconds in which the engine is busy", |one| one.engine.as_secs_f64() * 1_000.0, false)?;
    area.present()
}

fn panel<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    sizes: &[Size],
    what: &str,
    value: impl Fn(&Measured) -> f64,
    has_legend: bool,
) -> Drawn<'a> {
    let orders = || sizes.iter().map(|size| as_float(size.orders));
    let (least, most) = (orders().fold(f64::MAX, f64::min), orders().fold(1.0, f64::max));
    let shown = |name: &str| {
        let at =
            |size: &Size| Some((as_float(size.orders), value(size.operations.iter().find(|one| one.what == name)?)));
        sizes.iter().filter_map(at).collect::<Vec<_>>()
    };
    let highest = SHOWN.iter().flat_map(|(name, _)| shown(name)).map(|(_, value)| value).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .margin(14)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d((least..most * 1.5).log_scale(), 0.0..highest * if has_legend { 1.8 } else { 1.15 })?;
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(INK)
        .label_style((FONT, 14).into_font().color(&INK))
        .x_desc("orders in the table")
        .y_desc(what)
        .x_label_formatter(&|orders| format!("{orders:.0}"))
        .draw()?;
    for (name, colour) in SHOWN {
        let series = chart.draw_series(LineSeries::new(shown(name), colour.stroke_width(2)))?;
        if has_legend {
            series.label(name).legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
    }
    if has_legend {
        let labels = &mut chart.configure_series_labels();
        labels.position(SeriesLabelPosition::UpperLeft).label_font((FONT, 13).into_font().color(&INK)).draw()?;
    }
    Ok(())
}
