//! An estimate as text.

use std::fmt::{self, Display, Formatter};

use rust_decimal::Decimal;

use super::bill::{Class, Mode, Service, to_the_cent};
use super::estimate::Estimate;
use super::share;
use super::usage::Calls;

impl Display for Estimate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { region, prices_of, orders, bill, .. } = self;
        writeln!(f, "{} orders a month in {region}, at list prices read on or after {prices_of}", number(*orders))?;
        writeln!(f, "US dollars, before taxes, free allowances and discounts\n")?;

        let mut table = Table::new([Left, Left, Right, Left, Right], ["service", "what", "quantity", "", "USD"]);
        for line in &bill.lines {
            let (quantity, usd) = (number(line.quantity), dollars(line.usd));
            table.row([line.service.to_string(), line.what.to_owned(), quantity, line.unit.to_owned(), usd]);
        }
        table.row(["total".to_owned(), String::new(), String::new(), String::new(), dollars(bill.total)]);
        writeln!(f, "{table}")?;

        let mut table = Table::new([Left, Right, Right], ["service", "USD", "share"]);
        for (service, usd) in &bill.services {
            table.row([service.to_string(), dollars(*usd), percent(share(*usd, bill.total))]);
        }
        writeln!(f, "{table}")?;

        let heads = ["the table's capacity", "class", "storage and capacity", "whole bill", ""];
        let mut table = Table::new([Left, Left, Right, Right, Left], heads);
        for choice in &self.choices {
            let marks = match (choice.is_cheapest, choice.is_chosen) {
                (true, true) => "cheapest, this bill",
                (true, false) => "cheapest",
                (false, true) => "this bill",
                (false, false) => "",
            };
            let (part, total) = (dollars(choice.capacity_and_storage), dollars(choice.total));
            table.row([choice.mode.to_string(), choice.class.to_string(), part, total, marks.to_owned()]);
        }
        writeln!(f, "{table}")?;
        let days = self.usage.comparison.days;
        if days > Decimal::ONE {
            let (days, units) = (number(days), number(self.units_for_one_day));
            writeln!(
                f,
                "Comparing the counts of a week with the orders takes {days} days, for want of ReconcileReadUnits."
            )?;
            writeln!(f, "{units} of them would do it in one.")?;
        }

        let [table, gsi1, gsi2] = self.peak.map(|units| (number(units.write.ceil()), number(units.read.ceil())));
        writeln!(f, "In the busiest minutes the table takes {} write and {} read units a second,", table.0, table.1)?;
        writeln!(f, "GSI1 {} and {}, GSI2 {} and {}.", gsi1.0, gsi1.1, gsi2.0, gsi2.1)?;

        let heads = ["function", "calls", "read units", "write units", "GB-seconds"];
        let mut table = Table::new([Left, Right, Right, Right, Right], heads);
        for (name, Calls { count, units, gb_seconds }) in &self.usage.calls {
            let [calls, reads, writes, gb_seconds] = [*count, units.read(), units.write(), *gb_seconds].map(number);
            table.row([name.clone(), calls, reads, writes, gb_seconds]);
        }
        write!(f, "\n{table}")
    }
}

impl Display for Service {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DynamoDb => "DynamoDB",
            Self::HttpApi => "HTTP API",
            Self::Cognito => "Cognito",
            Self::Lambda => "Lambda",
            Self::EventBridge => "EventBridge",
            Self::Sqs => "SQS",
            Self::SecretsManager => "Secrets Manager",
            Self::CloudWatch => "CloudWatch",
            Self::Transfer => "Transfer",
            Self::XRay => "X-Ray",
            Self::S3 => "S3",
        })
    }
}

impl Display for Mode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OnDemand => "on demand",
            Self::Autoscaled => "provisioned, autoscaled",
            Self::ForThePeak => "provisioned for the peak",
        })
    }
}

impl Display for Class {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standard => "standard",
            Self::InfrequentAccess => "infrequent access",
        })
    }
}

/// An amount, to the cent: `1,234.50`.
pub fn dollars(usd: Decimal) -> String {
    grouped(to_the_cent(usd))
}

/// A quantity with suitable precision: `1,234,567`, or `12.3` for small ones.
pub fn number(quantity: Decimal) -> String {
    let rounded = if quantity < Decimal::ONE_HUNDRED { quantity.round_dp(1) } else { quantity.round() };
    grouped(rounded.normalize())
}

pub fn percent(share: Decimal) -> String {
    format!("{:.1} %", (share * Decimal::ONE_HUNDRED).round_dp(1))
}

/// A number with commas between thousands.
pub(super) fn grouped(number: Decimal) -> String {
    let text = number.to_string();
    let (whole, fraction) = text.find('.').map_or((&*text, ""), |point| text.split_at(point));
    let mut grouped = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + fraction
}

use Side::{Left, Right};

/// The alignment of a column.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// Rows whose columns are aligned.
struct Table<const N: usize> {
    sides: [Side; N],
    rows: Vec<[String; N]>,
}

impl<const N: usize> Table<N> {
    fn new(sides: [Side; N], heads: [&str; N]) -> Self {
        Self { sides, rows: vec![heads.map(str::to_owned)] }
    }

    fn row(&mut self, row: [String; N]) {
        self.rows.push(row);
    }
}

impl<const N: usize> Display for Table<N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let widths: [usize; N] =
            std::array::from_fn(|column| self.rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0));
        for row in &self.rows {
            let cells = row.iter().zip(widths).zip(self.sides).map(|((text, width), side)| match side {
                Left => format!("{text:<width$}"),
                Right => format!("{text:>width$}"),
            });
            writeln!(f, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
        }
        Ok(())
    }
}
