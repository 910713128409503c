//! The picture for the documentation.

use std::time::Duration;

use plotters::prelude::*;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const BURST: RGBColor = RGBColor(240, 228, 200);
const CONSUMED: RGBColor = RGBColor(50, 110, 170);
const TARGET: RGBColor = RGBColor(190, 60, 40);

/// Draws docs/drain-rate.svg: the write units consumed in each second, the target, and the time of the burst.
pub fn drain_rate(seconds: &[f64], target: f64, burst: Duration) {
    let file = docs_check::file("drain-rate.svg");
    let area = SVGBackend::new(&file, (900, 420)).into_drawing_area();
    area.fill(&WHITE).expect("a background");
    let end = seconds.len() as f64;
    let most = seconds.iter().copied().fold(target, f64::max) * 1.15;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..end, 0.0..most)
        .expect("a chart");
    chart
        .draw_series([Rectangle::new([(0.0, 0.0), (burst.as_secs_f64(), most)], BURST.filled())])
        .expect("the burst")
        .label("orders come in")
        .legend(|(x, y)| Rectangle::new([(x, y - 5), (x + 18, y + 5)], BURST.filled()));
    chart
        .configure_mesh()
        .disable_mesh()
        .axis_style(INK)
        .label_style((FONT, 14).into_font().color(&INK))
        .x_desc("seconds")
        .y_desc("write units of the table, each second")
        .draw()
        .expect("the axes");
    let steps = seconds.iter().enumerate().flat_map(|(at, units)| [(at as f64, *units), (at as f64 + 1.0, *units)]);
    chart
        .draw_series(LineSeries::new(steps, CONSUMED.stroke_width(2)))
        .expect("what was consumed")
        .label("consumed")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], CONSUMED.stroke_width(2)));
    chart
        .draw_series(LineSeries::new([(0.0, target), (end, target)], TARGET.stroke_width(1)))
        .expect("the target")
        .label("capacity, and the drain's target")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 18, y)], TARGET.stroke_width(1)));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerMiddle)
        .label_font((FONT, 14).into_font().color(&INK))
        .background_style(WHITE.mix(0.9))
        .border_style(INK)
        .draw()
        .expect("the legend");
    area.present().expect("the picture is written");
}
