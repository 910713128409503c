//! The units of an order that a request ships, cancels or returns.

use http_api::{Kind, Problem, ReturnView, ShipmentView};
use key_schema::entity::{LineUnits, ReturnStatus, Shortfall, WholeOrder};
use key_schema::value::{ReturnId, ShipmentId, repeated};
use ordering::steps::Denial;
use ordering::{MOST_LINES, RequestedLine};

/// The units that a request names.
///
/// # Errors
/// There are no lines or too many, or a product is named twice.
pub(crate) fn of(lines: Vec<RequestedLine>) -> Result<Vec<LineUnits>, Problem> {
    let to_units = |RequestedLine { product_id, quantity }| LineUnits { product_id, quantity };
    let lines: Vec<_> = lines.into_iter().map(to_units).collect();
    if lines.is_empty() {
        return Err(Problem::invalid("lines: must name at least one product"));
    }
    if lines.len() > MOST_LINES {
        return Err(Problem::new(Kind::TooLarge, format!("lines: an order has at most {MOST_LINES} lines")));
    }
    if let Some(at) = repeated(lines.iter().map(|line| &line.product_id)) {
        return Err(Problem::invalid(format!("lines: the product {} is named twice", lines[at].product_id)));
    }
    Ok(lines)
}

/// The problem of a change that an order does not allow.
pub(crate) fn denied(denial: Denial) -> Problem {
    match denial {
        Denial::TooFewUnits(Shortfall { product_id, left }) => {
            Problem::new(Kind::TooFewUnits, format!("The order has {left} units of this product left."))
                .with("productId", product_id)
                .with("left", left)
        }
        Denial::TooLate { last_day } => {
            Problem::new(Kind::WithdrawalOver, format!("A return could be requested until {last_day}."))
                .with("lastDay", last_day)
        }
        Denial::TooManyReturns => Problem::new(Kind::InvalidTransition, "The order has too many returns."),
        Denial::KeyReused => {
            let detail =
                "The Idempotency-Key belongs to another request on this order. Use a new key for a new request.";
            Problem::new(Kind::IdempotencyKeyReused, detail)
        }
        Denial::TooManyShipments => Problem::new(Kind::InvalidTransition, "The order has too many shipments."),
        Denial::TooManyAllowances => {
            Problem::new(Kind::InvalidTransition, "The order has too many credits of an amount.")
        }
        Denial::TooMuch(left) => {
            Problem::new(Kind::InvalidTransition, format!("Of the order's total, {left} are left."))
                .with("amount", left)
        }
        Denial::OtherAmount(amount) => {
            Problem::new(Kind::InvalidTransition, format!("It is {amount}. Nothing was recorded."))
                .with("amount", amount)
        }
        Denial::OpenPayment(work) => {
            let detail =
                "Something has to be done about the payment first: see `work`, and the list GET /payments-due.";
            Problem::new(Kind::InvalidTransition, detail).with("work", work)
        }
        Denial::Paid => {
            let detail = "Nothing is missing of this payment. If the bank received more, refund it there.";
            Problem::new(Kind::InvalidTransition, detail)
        }
        Denial::UnknownShipment => Problem::not_found("shipment"),
        Denial::PartlyShipped => {
            let detail = "Units of the order are shipped. Cancel the units that are left.";
            Problem::new(Kind::InvalidTransition, detail)
        }
        Denial::UnknownReturn => Problem::not_found("return"),
        Denial::Closed(ReturnStatus::Refused) => Problem::new(Kind::InvalidTransition, "The return was refused."),
        Denial::Closed(_) => Problem::new(Kind::InvalidTransition, "The return was received."),
    }
}

pub(crate) fn shipment_of(whole: WholeOrder, id: &ShipmentId) -> Result<ShipmentView, Problem> {
    let found = whole.shipments.into_iter().find(|known| known.shipment_id == *id);
    found
        .map(|one| ShipmentView::new(one, &whole.lines))
        .ok_or_else(|| Problem::internal("an order lacks its shipment"))
}

pub(crate) fn return_of(whole: WholeOrder, id: &ReturnId) -> Result<ReturnView, Problem> {
    let found = whole.returns.into_iter().find(|known| known.return_id == *id);
    found.map(|one| ReturnView::new(one, &whole.lines)).ok_or_else(|| Problem::internal("an order lacks its return"))
}
