//! Orders that are made of a cart.

use std::collections::HashMap;

use key_schema::entity::Rejection;
use key_schema::value::Timestamp;

use crate::OrderRequest;
use crate::found::Found;

/// Checks that the order has the lines of the cart that it names, if it names one. Otherwise products would leave the
/// cart that nobody ordered.
///
/// # Errors
/// There is no such cart now, or it has other lines.
pub(crate) fn is_of(request: &OrderRequest, found: &Found, now: Timestamp) -> Result<(), Rejection> {
    let Some(version) = request.cart else { return Ok(()) };
    let cart = found.cart.as_ref().filter(|cart| !cart.is_absent(now) && cart.is_named(version));
    let asked: HashMap<_, _> = request.lines.iter().map(|line| (&line.product_id, line.quantity)).collect();
    let is_same = cart.is_some_and(|cart| {
        // No product is in two lines, neither of an order nor of a cart.
        cart.lines.len() == asked.len()
            && cart.lines.iter().all(|line| asked.get(&line.product_id) == Some(&line.quantity))
    });
    if is_same { Ok(()) } else { Err(Rejection::CartChanged { cart: version }) }
}
