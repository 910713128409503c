//! The operations of customers and admins.

mod lifecycle;
mod placing;
mod reading;
mod rights;
mod things;

use serde_json::Value;

use super::metered_shop::MeteredShop;

pub async fn send_all(shop: &mut MeteredShop) {
    things::customers(shop).await;
    things::catalogue(shop).await;
    reading::nothing_there(shop).await;
    things::images(shop).await;
    things::indexed(shop).await;
    things::carts(shop).await;
    let orders = placing::orders(shop).await;
    reading::views(shop).await;
    things::variants(shop).await;
    reading::reads(shop, &orders).await;
    lifecycle::changes(shop, &orders).await;
    placing::refusals(shop).await;
    placing::waiting(shop).await;
    things::changes(shop).await;
    rights::of_a_customer(shop).await;
    rights::of_a_guest(shop).await;
}

pub use things::marked;

/// An order as the shop answered it.
pub struct Placed(pub Value);

impl Placed {
    pub fn id(&self) -> &str {
        self.0["orderId"].as_str().expect("an id")
    }

    fn invoice(&self) -> &str {
        self.0["invoice"]["invoiceId"].as_str().expect("an id")
    }
}
