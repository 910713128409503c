//! docs/partitions.svg: the orders a second at which each design fails.

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::report::{Report, Row};
use super::simulate::MOST_ORDERS;
use crate::figures::as_float;
use crate::figures::whole;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const UNITS: RGBColor = RGBColor(50, 110, 170);
const CONFLICTS: RGBColor = RGBColor(190, 60, 40);
const ROW: i32 = 26;

/// The picture as SVG.
pub(super) fn picture(report: &Report) -> Result<String> {
    let rows = report.rows();
    let height = ROW * i32::try_from(rows.len())? + 90;
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (1000, u32::try_from(height)?)).into_drawing_area();
    paint(&area, rows).map_err(|error| anyhow!("docs/partitions.svg cannot be drawn: {error}"))?;
    drop(area);
    Ok(svg)
}

fn paint<'a>(
    area: &DrawingArea<SVGBackend<'a>, plotters::coord::Shift>,
    rows: &[Row],
) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>> {
    area.fill(&WHITE)?;
    let count = as_float(rows.len());
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(400)
        .build_cartesian_2d((100.0..2.0 * MOST_ORDERS).log_scale(), 0.0..count)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .light_line_style(WHITE)
        .axis_style(INK)
        .label_style((FONT, 14).into_font().color(&INK))
        .x_desc("orders a second of the whole shop, until the key throttles")
        .x_label_formatter(&|rate| whole(*rate))
        .y_labels(0)
        .draw()?;
    for (position, row) in rows.iter().enumerate() {
        // The first stands at the top.
        let middle = count - as_float(position) - 0.5;
        let rate = row.simulated.unwrap_or(2.0 * MOST_ORDERS);
        chart.draw_series([Rectangle::new([(100.0, middle - 0.3), (rate, middle + 0.3)], UNITS.filled())])?;
        if let Some(rate) = row.conflicting.filter(|conflicting| *conflicting < rate) {
            chart.draw_series([Rectangle::new(
                [(rate, middle - 0.4), (rate * 1.05, middle + 0.4)],
                CONFLICTS.filled(),
            )])?;
        }
        let (_, y) = chart.backend_coord(&(100.0, middle));
        let style = (FONT, 14).into_font().color(&INK);
        area.draw(&Text::new(format!("{}: {}", row.design.what, row.design.how), (14, y - 7), style))?;
    }
    area.present()
}
