//! docs/move.svg: what customers, tables and streams noticed of a move, over time.

use std::time::Duration;

use anyhow::{Result, anyhow};
use key_schema::entity::{CopyTask, Phase, Side};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::log::{Consumer, Events, Lag, Request, Who};
use super::report::{name, quantile};
use crate::figures::{as_float, grouped};

const FONT: &str = "sans-serif";
const INK: RGBColor = RGBColor(40, 40, 40);
const FAINT: RGBColor = RGBColor(120, 120, 120);
const ERROR: RGBColor = RGBColor(190, 40, 40);
const BLUE: RGBColor = RGBColor(50, 110, 170);
const ORANGE: RGBColor = RGBColor(205, 120, 30);
const GREEN: RGBColor = RGBColor(60, 150, 90);
const VIOLET: RGBColor = RGBColor(140, 80, 160);
/// The backgrounds of the phases, alternately.
const BANDS: [RGBColor; 2] = [RGBColor(243, 246, 250), RGBColor(229, 236, 244)];

const WIDTH: u32 = 1000;
/// The height of the names of the phases.
const HEAD: u32 = 64;
const PANEL: u32 = 165;
/// The height of the axis of time.
const FOOT: u32 = 40;
const LEFT: u32 = 62;
const RIGHT: u32 = 18;
/// The number of points of a line.
const POINTS: u64 = 200;

type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

/// A line of a panel.
struct Line {
    name: String,
    colour: RGBColor,
    points: Vec<(f64, f64)>,
}

struct Panel {
    title: &'static str,
    lines: Vec<Line>,
    is_logarithmic: bool,
}

struct Picture<'e> {
    events: &'e Events,
    end: Duration,
    /// The seconds of one point of a line.
    step: u64,
}

/// The picture as SVG.
pub(super) fn picture(events: &Events, end: Duration) -> Result<String> {
    let picture = Picture { events, end, step: end.as_secs().div_ceil(POINTS).max(1) };
    let panels = [picture.requests(), picture.latencies(), picture.units(), picture.lags()];
    let height = HEAD + PANEL * u32::try_from(panels.len())? + FOOT;
    let mut svg = String::new();
    let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
    picture.paint(&area, &panels).map_err(|error| anyhow!("docs/move.svg cannot be drawn: {error}"))?;
    drop(area);
    Ok(svg)
}

impl Picture<'_> {
    fn minutes(&self) -> f64 {
        self.end.as_secs_f64() / 60.0
    }

    /// The requests that were due in each step.
    fn steps(&self) -> Vec<(f64, Vec<&Request>)> {
        let steps = 0..self.end.as_secs() / self.step;
        let mut all: Vec<_> = steps.map(|step| (minute(step * self.step), Vec::new())).collect();
        for request in &self.events.requests {
            let step = usize::try_from(request.at.as_secs() / self.step).ok();
            if let Some((_, requests)) = step.and_then(|step| all.get_mut(step)) {
                requests.push(request);
            }
        }
        all
    }

    fn requests(&self) -> Panel {
        let steps = self.steps();
        let rate = |requests: usize| as_float(requests) / seconds(self.step);
        let all = steps.iter().map(|(at, requests)| (*at, rate(requests.len()))).collect();
        let is_error = |request: &&&Request| !request.is_expected;
        let errors = steps.iter().map(|(at, requests)| (*at, rate(requests.iter().filter(is_error).count()))).collect();
        let number = self.events.requests.iter().filter(|request| !request.is_expected).count();
        let lines = vec![
            Line { name: "requests".to_owned(), colour: BLUE, points: all },
            Line { name: format!("errors: {number}"), colour: ERROR, points: errors },
        ];
        Panel { title: "requests a second", lines, is_logarithmic: false }
    }

    fn latencies(&self) -> Panel {
        let steps = self.steps();
        let line = |percent: usize, colour| {
            let points =
                steps.iter().filter_map(|(at, requests)| Some((*at, 1e3 * quantile(requests, percent)?.as_secs_f64())));
            Line { name: format!("p{percent}"), colour, points: points.collect() }
        };
        Panel {
            title: "milliseconds until the answer",
            lines: vec![line(99, ORANGE), line(50, BLUE)],
            is_logarithmic: true,
        }
    }

    fn units(&self) -> Panel {
        let line = |name: &str, colour, wanted: &dyn Fn(Consumer) -> bool| {
            let steps = 0..self.end.as_secs() / self.step;
            let points = steps.map(|step| {
                let [from, to] = [step, step + 1].map(|step| Duration::from_secs(step * self.step));
                let units = self.events.consumed(from, to, |consumer| consumer.is_write && wanted(consumer));
                (minute(step * self.step), units / seconds(self.step))
            });
            Line { name: name.to_owned(), colour, points: points.filter(|(_, units)| *units >= 1.0).collect() }
        };
        let of_shop = |consumer: Consumer, side| consumer.who == Who::Shop && consumer.is_of(side);
        let lines = vec![
            line("the operator, both tables", GREEN, &|consumer| consumer.who == Who::Operator),
            line("the shop, first table", BLUE, &|consumer| of_shop(consumer, Side::First)),
            line("the shop, next table", ORANGE, &|consumer| of_shop(consumer, Side::Next)),
        ];
        Panel { title: "write units a second", lines, is_logarithmic: true }
    }

    fn lags(&self) -> Panel {
        let minutes = |at: Duration| at.as_secs_f64() / 60.0;
        let repairs = self.events.lags.iter().filter_map(|lag| match lag {
            Lag::Repair { at, age } => Some((minutes(*at), age.as_secs_f64())),
            Lag::Stream { .. } => None,
        });
        let streams = self.events.lags.iter().filter_map(|lag| match lag {
            Lag::Stream { at, took } => Some((minutes(*at), took.as_secs_f64())),
            Lag::Repair { .. } => None,
        });
        let lines = vec![
            Line { name: "the oldest repair".to_owned(), colour: VIOLET, points: repairs.collect() },
            Line { name: "the consumers of the streams".to_owned(), colour: GREEN, points: streams.collect() },
        ];
        Panel { title: "seconds behind", lines, is_logarithmic: false }
    }

    fn paint<'a>(&self, area: &DrawingArea<SVGBackend<'a>, Shift>, panels: &[Panel]) -> Drawn<'a> {
        area.fill(&WHITE)?;
        let (head, mut rest) = area.split_vertically(HEAD);
        self.names(&head)?;
        for (at, panel) in panels.iter().enumerate() {
            let is_last = at + 1 == panels.len();
            let (own, below) = rest.split_vertically(PANEL + if is_last { FOOT } else { 0 });
            rest = below;
            let most = panel.lines.iter().flat_map(|line| &line.points).map(|(_, value)| *value).fold(1.0, f64::max);
            if panel.is_logarithmic {
                self.panel(&own, panel, (1.0..most * 6.0).log_scale(), (1.0, most * 6.0), is_last)?;
            } else {
                self.panel(&own, panel, 0.0..most * 1.35, (0.0, most * 1.35), is_last)?;
            }
        }
        area.present()
    }

    fn panel<'a, Y>(
        &self,
        area: &DrawingArea<SVGBackend<'a>, Shift>,
        panel: &Panel,
        values: Y,
        (least, most): (f64, f64),
        is_last: bool,
    ) -> Drawn<'a>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let mut chart = ChartBuilder::on(area)
            .margin_top(4)
            .margin_bottom(6)
            .margin_right(RIGHT)
            .x_label_area_size(if is_last { FOOT } else { 0 })
            .y_label_area_size(LEFT)
            .build_cartesian_2d(0.0..self.minutes(), values)?;
        for (at, (_, from, to)) in self.events.spans(self.end).into_iter().enumerate() {
            let [from, to] = [from, to].map(|at| at.as_secs_f64() / 60.0);
            chart.draw_series([Rectangle::new([(from, least), (to, most)], BANDS[at % 2].filled())])?;
        }
        chart
            .configure_mesh()
            .disable_mesh()
            .axis_style(FAINT)
            .label_style((FONT, 13).into_font().color(&INK))
            .y_labels(4)
            .y_label_formatter(&|value| grouped(&format!("{value:.0}")))
            .x_labels(if is_last { 12 } else { 0 })
            .x_label_formatter(&|minutes| format!("{minutes:.0}"))
            .x_desc(if is_last { "minutes" } else { "" })
            .draw()?;
        for line in &panel.lines {
            chart.draw_series(LineSeries::new(line.points.iter().copied(), line.colour.stroke_width(2)))?;
        }
        // The title and the names of the lines, above the lines.
        let mut x = i32::try_from(LEFT).unwrap_or_default() + 10;
        let style = |colour: &RGBColor| (FONT, 14).into_font().color(colour);
        area.draw(&Text::new(panel.title, (x, 12), (FONT, 14).into_font().style(FontStyle::Bold).color(&INK)))?;
        x += width(panel.title) + 24;
        for line in &panel.lines {
            area.draw(&PathElement::new([(x, 19), (x + 18, 19)], line.colour.stroke_width(3)))?;
            area.draw(&Text::new(line.name.clone(), (x + 24, 12), style(&INK)))?;
            x += width(&line.name) + 44;
        }
        Ok(())
    }

    /// The names of the phases and of the runs, above the panels.
    fn names<'a>(&self, area: &DrawingArea<SVGBackend<'a>, Shift>) -> Drawn<'a> {
        let ink = |size: i32, colour: &RGBColor| (FONT, size).into_font().color(colour);
        for (at, (phase, from, to)) in self.events.spans(self.end).into_iter().enumerate() {
            let (left, right) = (self.pixel(from), self.pixel(to));
            let bottom = i32::try_from(HEAD).unwrap_or_default();
            area.draw(&Rectangle::new([(left, bottom - 24), (right, bottom)], BANDS[at % 2].filled()))?;
            let text = label(phase);
            // Two rows, because some phases are short.
            let is_narrow = right - left < width(&text) + 8;
            let y = if is_narrow { bottom - 42 } else { bottom - 20 };
            let x = (left + right - width(&text)) / 2;
            area.draw(&Text::new(text, (x.max(0), y), ink(14, &INK)))?;
            if is_narrow {
                area.draw(&PathElement::new(
                    [(i32::midpoint(left, right), bottom - 26), (i32::midpoint(left, right), bottom - 14)],
                    FAINT,
                ))?;
            }
        }
        for run in &self.events.runs {
            let (left, right) = (self.pixel(run.from), self.pixel(run.to));
            let text = match run.task {
                CopyTask::Copy => "copy",
                CopyTask::Compare => "comparison",
            };
            area.draw(&PathElement::new([(left, 18), (right, 18)], GREEN.stroke_width(4)))?;
            area.draw(&Text::new(text, ((left + right - width(text)) / 2, 0), ink(13, &INK)))?;
        }
        Ok(())
    }

    fn pixel(&self, at: Duration) -> i32 {
        let inner = f64::from(WIDTH - LEFT - RIGHT);
        #[expect(clippy::cast_possible_truncation, reason = "within the picture")]
        let pixel = (f64::from(LEFT) + inner * at.as_secs_f64() / self.end.as_secs_f64()).round() as i32;
        pixel
    }
}

fn label(phase: Phase) -> String {
    name(phase)
}

/// About the width of a text of this size of letters.
fn width(text: &str) -> i32 {
    i32::try_from(text.len()).unwrap_or_default() * 7
}

fn minute(second: u64) -> f64 {
    seconds(second) / 60.0
}

fn seconds(number: u64) -> f64 {
    Duration::from_secs(number).as_secs_f64()
}
