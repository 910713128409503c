//! The lines of one product. Another shop may have sold a product in several lines of an order, at several prices. An
//! order of Till has a product in one line, so that credits, returns and shipments name the line by its product: once, too.

use key_schema::entity::{LineTax, shares};
use key_schema::value::{Money, ProductId, Quantity, repeated};

use super::order_record::{LineRecord, OrderRecord, UnitsRecord};

const TOO_GREAT: &str = "lines: their amounts are too great";

/// The lines of one product, as one.
struct Joined {
    line: LineRecord,
    /// The sum of the amounts of the lines, in minor units.
    amount: i64,
    /// What the discount took off them.
    off: i64,
}

impl OrderRecord {
    /// The order with one line for each product: its units together, at the highest of its prices. What they cost less is a
    /// discount of the line, and the order's discount is more by it. So the total stays, and each unit is worth the average
    /// when it is returned. Taxes are added up, as they were reckoned.
    ///
    /// # Errors
    /// An amount is in another currency than the total, the lines of a product differ in the tax rate, or a sum is too
    /// great.
    pub(super) fn joined(mut self) -> Result<Self, String> {
        self.check_currencies()?;
        let (returned, shipped) = (self.returns.iter_mut(), self.shipments.iter_mut());
        let some = returned.map(|one| &mut one.lines).chain(shipped.map(|one| &mut one.lines));
        for units in some.chain([&mut self.credits]) {
            *units = summed(std::mem::take(units))?;
        }
        if repeated(self.lines.iter().map(|line| &line.product_id)).is_none() {
            return Ok(self);
        }
        let currency = self.total.currency();
        let money = |amount: i64| Money::new(amount, currency).ok_or(TOO_GREAT);
        let amounts: Vec<_> = self.lines.iter().map(LineRecord::amount).collect::<Result<_, _>>()?;
        let is_told = self.lines.iter().any(|line| line.discount.is_some());
        let offs = if is_told {
            self.lines.iter().map(|line| line.discount.map_or(0, Money::amount)).collect()
        } else {
            shares(self.discount.unwrap_or(Money::zero(currency)), &amounts)
        };
        let mut all: Vec<Joined> = Vec::new();
        for ((line, amount), off) in self.lines.into_iter().zip(amounts).zip(offs) {
            match all.iter_mut().find(|joined| joined.line.product_id == line.product_id) {
                Some(joined) => joined.join(&line, amount, off)?,
                None => all.push(Joined { line, amount, off }),
            }
        }
        let mut reduced = 0;
        for joined in &mut all {
            let less = joined.line.amount()? - joined.amount;
            joined.off += less;
            reduced += less;
        }
        if is_told || reduced > 0 {
            for Joined { line, off, .. } in &mut all {
                line.discount = if *off > 0 { Some(money(*off)?) } else { None };
            }
        }
        if reduced > 0 {
            let sum = money(reduced)?.checked_add(self.discount.unwrap_or(Money::zero(currency)));
            self.discount = Some(sum.ok_or(TOO_GREAT)?);
        }
        Ok(Self { lines: all.into_iter().map(|joined| joined.line).collect(), ..self })
    }
}

impl OrderRecord {
    fn check_currencies(&self) -> Result<(), String> {
        let of_lines = self.lines.iter().flat_map(|line| {
            [Some(line.unit_price), line.discount, line.tax.map(|tax| tax.amount)]
                .into_iter()
                .flatten()
                .map(|amount| (format!("lines: {}", line.product_id), amount))
        });
        let of_order = [
            ("discount", self.discount),
            ("shipping", self.shipping),
            ("shippingTax", self.shipping_tax.map(|tax| tax.amount)),
        ];
        let of_order = of_order.into_iter().filter_map(|(what, amount)| Some((what.to_owned(), amount?)));
        let of_codes = self.codes.iter().map(|used| (format!("codes: {}", used.code), used.amount));
        let of_returns =
            self.returns.iter().filter_map(|one| Some((format!("returns: {}", one.return_id), one.amount?)));
        let mut all = of_lines.chain(of_order).chain(of_codes).chain(of_returns);
        match all.find(|(_, amount)| amount.currency() != self.total.currency()) {
            Some((what, amount)) => Err(format!("{what}: {amount}, the total is {}", self.total)),
            None => Ok(()),
        }
    }
}

/// These units, with one entry for each product.
fn summed(all: Vec<UnitsRecord>) -> Result<Vec<UnitsRecord>, String> {
    let mut sums: Vec<UnitsRecord> = Vec::new();
    for UnitsRecord { product_id, quantity } in all {
        match sums.iter_mut().find(|sum| sum.product_id == product_id) {
            Some(sum) => sum.quantity = plus(&product_id, sum.quantity, quantity)?,
            None => sums.push(UnitsRecord { product_id, quantity }),
        }
    }
    Ok(sums)
}

fn plus(product: &ProductId, one: Quantity, two: Quantity) -> Result<Quantity, String> {
    let units = i64::from(one.get()) + i64::from(two.get());
    Quantity::try_from(units).map_err(|why| format!("{product}: {why}"))
}

impl LineRecord {
    fn amount(&self) -> Result<i64, &'static str> {
        self.unit_price.checked_mul(self.quantity.get()).map(Money::amount).ok_or(TOO_GREAT)
    }
}

impl Joined {
    fn join(&mut self, other: &LineRecord, amount: i64, off: i64) -> Result<(), String> {
        let Self { line, .. } = self;
        // What is not said of all units is said of none.
        line.attributes.retain(|name, text| other.attributes.get(name) == Some(text));
        if line.image != other.image {
            line.image = None;
        }
        line.quantity = plus(&line.product_id, line.quantity, other.quantity)?;
        if line.unit_price.amount() < other.unit_price.amount() {
            line.unit_price = other.unit_price;
        }
        line.tax = match (line.tax, other.tax) {
            (None, None) => None,
            (Some(one), Some(two)) if (one.rate, one.added) == (two.rate, two.added) => {
                let amount = one.amount.checked_add(two.amount).ok_or(TOO_GREAT)?;
                Some(LineTax { amount, by_engine: true, ..one })
            }
            _ => {
                let product = &line.product_id;
                return Err(format!(
                    "lines: {product} is in two lines of different tax rates: give one of them a productId of its own"
                ));
            }
        };
        self.amount += amount;
        self.off += off;
        Ok(())
    }
}
