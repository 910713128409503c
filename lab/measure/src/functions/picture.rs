//! The figures as a picture: docs/performance.svg.

use std::path::Path;

use anyhow::{Result, anyhow};
use plotters::prelude::*;

use super::measure::Figures;

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const SIZE: (u32, u32) = (900, 520);

/// A bar of the picture: the subject's colour, name and count.
type Part = (RGBColor, &'static str, fn(&Figures) -> Option<u64>);

const PARTS: [Part; 3] = [
    (RGBColor(150, 150, 150), "init", |figures| figures.init),
    (RGBColor(205, 150, 60), "first event", |figures| figures.first),
    (RGBColor(50, 110, 170), "warm event", |figures| figures.warm),
];

/// Draws the instructions of each subject, three bars each, on a logarithmic scale.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "small numbers, for people to look at"
)]
pub(super) fn draw(figures: &[Figures], file: &Path) -> Result<()> {
    let counted: Vec<_> = figures.iter().filter(|figures| figures.warm.is_some()).collect();
    let area = SVGBackend::new(file, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
    let end = counted.len() as f64;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(40)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..end, (5e4..1e9_f64).log_scale())
        .map_err(|error| anyhow!("{error}"))?;
    let names = |at: &f64| counted.get(at.floor() as usize).map_or_else(String::new, |figures| figures.name.to_owned());
    chart
        .configure_mesh()
        .disable_x_mesh()
        .axis_style(INK)
        .label_style((FONT, 14).into_font().color(&INK))
        .x_labels(counted.len() + 1)
        .x_label_formatter(&names)
        .x_label_offset(45)
        .y_label_formatter(&|count| format!("{} M", count / 1e6))
        .y_desc("instructions")
        .draw()
        .map_err(|error| anyhow!("{error}"))?;
    for (place, (color, name, count)) in PARTS.into_iter().enumerate() {
        let bars = counted.iter().enumerate().filter_map(|(at, figures)| {
            let left = at as f64 + 0.14 + 0.24 * place as f64;
            Some(Rectangle::new([(left, 5e4), (left + 0.22, count(figures)? as f64)], color.filled()))
        });
        chart
            .draw_series(bars)
            .map_err(|error| anyhow!("{error}"))?
            .label(name)
            .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 18, y + 5)], color.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, 14).into_font().color(&INK))
        .background_style(WHITE.mix(0.9))
        .border_style(INK)
        .draw()
        .map_err(|error| anyhow!("{error}"))?;
    area.present().map_err(|error| anyhow!("{error}"))
}
