//! docs/growth.svg: the units and durations of some operations against the number of orders.

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;

use crate::figures::grouped;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
/// The operations on growing item collections, and the two with the most writes.
const SHOWN: [(&str, RGBColor); 5] = [
    ("6 orders of a product, from the middle", RGBColor(50, 110, 170)),
    ("11 orders of a customer", RGBColor(60, 150, 90)),
    ("15 orders of a status", RGBColor(140, 80, 160)),
    ("place an order of one line", RGBColor(190, 60, 40)),
    ("capture its payment", RGBColor(200, 140, 30)),
];

/// An operation, against the number of orders.
struct Line {
    name: &'static str,
    colour: RGBColor,
    units: Vec<(f64, f64)>,
    milliseconds: Vec<(f64, f64)>,
}

/// The picture as SVG, drawn from the page's tables of costs and times, so that it always agrees with them.
///
/// # Errors
/// The tables are not those of `report`.
pub(super) fn picture(costs: &str, times: &str) -> Result<String> {
    let lines = lines(costs, times)?;
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (1000, 400)).into_drawing_area();
    paint(&area, &lines).map_err(|error| anyhow!("docs/growth.svg cannot be drawn: {error}"))?;
    drop(area);
    Ok(svg)
}

fn lines(costs: &str, times: &str) -> Result<Vec<Line>> {
    let (costs, times) = (rows(costs), rows(times));
    let (_, sizes) = times.first().and_then(|head| head.split_first()).context("there are no times")?;
    let orders = sizes.iter().map(|size| number(&size.replace(" orders", "").replace(',', "")));
    let orders: Vec<_> = orders.collect::<Result<_>>()?;
    let line = |(name, colour): (&'static str, RGBColor)| {
        let of = |table: &[Vec<String>]| {
            let row = table.iter().find(|row| row.first().is_some_and(|what| what == name));
            row.cloned().with_context(|| format!("{name} is in no table"))
        };
        let [_, _, read, written] = <[String; 4]>::try_from(of(&costs)?).map_err(|_| anyhow!("no costs of {name}"))?;
        let units = written.split(" + ").map(number).sum::<Result<f64>>()? + number(&read)?;
        let times = of(&times)?;
        let engine = times.iter().skip(1).map(|both| number(both.rsplit(" / ").next().unwrap_or_default()));
        let milliseconds = orders.iter().copied().zip(engine.collect::<Result<Vec<_>>>()?).collect();
        Ok(Line { name, colour, units: orders.iter().map(|&orders| (orders, units)).collect(), milliseconds })
    };
    SHOWN.into_iter().map(line).collect()
}

/// The cells of a table of Markdown, row by row.
fn rows(table: &str) -> Vec<Vec<String>> {
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    table.lines().filter(|line| line.starts_with("| ")).map(cells).collect()
}

fn number(text: &str) -> Result<f64> {
    text.parse().with_context(|| format!("{text} is no number"))
}

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

fn paint<'a>(area: &DrawingArea<SVGBackend<'a>, Shift>, lines: &[Line]) -> Drawn<'a> {
    area.fill(&WHITE)?;
    let (units, times) = area.split_horizontally(500);
    panel(&units, lines, "units: read and written", |line| &line.units, true)?;
    panel(&times, lines, "milliseconds in which the engine is busy", |line| &line.milliseconds, false)?;
    area.present()
}

fn panel<'a>(
    area: &DrawingArea<SVGBackend<'a>, Shift>,
    lines: &[Line],
    what: &str,
    points: impl Fn(&Line) -> &[(f64, f64)],
    has_legend: bool,
) -> Drawn<'a> {
    let all = || lines.iter().flat_map(&points).copied();
    let (least, most) =
        all().fold((f64::MAX, 1.0), |(least, most): (f64, f64), (orders, _)| (least.min(orders), most.max(orders)));
    let highest = all().map(|(_, value)| value).fold(1.0, f64::max);
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
        .x_label_formatter(&|orders| grouped(&format!("{orders:.0}")))
        .draw()?;
    for line in lines {
        let colour = line.colour;
        let series = chart.draw_series(LineSeries::new(points(line).iter().copied(), colour.stroke_width(2)))?;
        if has_legend {
            series
                .label(line.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
    }
    if has_legend {
        let labels = &mut chart.configure_series_labels();
        labels.position(SeriesLabelPosition::UpperLeft).label_font((FONT, 13).into_font().color(&INK)).draw()?;
    }
    Ok(())
}
