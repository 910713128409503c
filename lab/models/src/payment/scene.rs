//! The order whose payment the model follows.

use key_schema::entity::{CardPayment, Order, OrderLine, Payment, WholeOrder};
use key_schema::value::{Currency, Money};

use super::{WHOLE, now};

/// An order that waits for its payment.
pub(super) fn placed() -> WholeOrder {
    let amount = Money::nearest(WHOLE, Currency::try_from("EUR".to_owned()).expect("a currency"));
    let (order_id, customer_id) = ("order".parse().expect("an id"), "ada".parse().expect("an id"));
    let product_id = "thing".parse().expect("an id");
    let (quantity, unit_price) = (2.try_into().expect("a quantity"), Money::nearest(WHOLE / 2, amount.currency()));
    let line = OrderLine::new(product_id, "A thing".to_owned(), quantity, unit_price, amount);
    let order = Order { units: 2, ..Order::new(order_id, customer_id, now(), amount) };
    WholeOrder::new(order, vec![line], vec![Payment::Card(CardPayment::of(amount))])
}
