//! The measured workload: every access pattern along its route, and the lifecycle of an order.

use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use devstack::Stack;
use key_schema::value::CustomerId;
use reqwest::Method;
use serde_json::{Value, json};

use super::probe::{Measured, Probe};
use super::shop::{DISCOUNT, GIFT_CARD, Shop};

/// Runs the workload this many times, and returns the costs. It changes the table only through routes.
///
/// # Errors
/// A route answers an error, or has different costs in two rounds.
pub(super) async fn run(stack: &Stack, shop: &Shop, rounds: usize) -> Result<Vec<Measured>> {
    let mut probe = Probe::of(stack)?;
    let workload = Workload::of(shop)?;
    workload.prepare(&probe).await?;
    for round in 0..rounds {
        workload.read(&mut probe).await.with_context(|| format!("reading, round {round}"))?;
    }
    for round in 0..rounds {
        workload.write(&mut probe, round).await.with_context(|| format!("writing, round {round}"))?;
    }
    Ok(probe.measured())
}

/// The subjects of the workload: reads are about the most active customer, the most popular product, and an order from
/// the middle. Writes are about the least active customer, who
/// has few unpaid orders, and a separate gift card, so that the next run reads the same items.
struct Workload {
    /// Distinguishes this run from earlier ones over the same table. Six digits.
    run: u64,
    shopper: CustomerId,
    product: String,
    gift_card: String,
    reads: Vec<(&'static str, String)>,
}

impl Workload {
    fn of(shop: &Shop) -> Result<Self> {
        let placed = shop.order(shop.orders() / 2)?;
        let (order, invoice) = (placed.order.order_id.to_string(), placed.invoice.invoice_id.to_string());
        let (customer, product) = (Shop::customer(0)?.to_string(), Shop::product(0)?.to_string());
        let (first, middle) = (Shop::moment(0)?, Shop::moment(500)?);
        let (week, end) = (Shop::moment(500)?.day(), Shop::moment(700)?.day());
        let category = Shop::CATEGORY;
        // Every page is full even in the smallest shop.
        let reads = vec![
            ("1 customer by id", format!("/customers/{customer}")),
            ("2 product by id", format!("/products/{product}")),
            ("3 order by id", format!("/orders/{order}")),
            ("4 products of an order", format!("/orders/{order}/products")),
            ("5 invoice of an order", format!("/orders/{order}/invoice")),
            ("6 orders of a product, first page", format!("/products/{product}/orders?from={first}&limit=20")),
            ("6 orders of a product, from the middle", format!("/products/{product}/orders?from={middle}&limit=20")),
            ("7 invoice by id", format!("/invoices/{invoice}")),
            ("8 payments of an invoice", format!("/invoices/{invoice}/payments")),
            ("9 invoices of a customer", format!("/customers/{customer}/invoices?from={first}&limit=10")),
            ("10 products of a customer", format!("/customers/{customer}/products?from={first}&limit=20")),
            ("11 orders of a customer", format!("/customers/{customer}/orders?limit=20")),
            ("12 profile and newest orders", format!("/customers/{customer}/overview")),
            ("13 customer by e-mail", "/customers?email=user-0000000%40example.com".to_owned()),
            ("13 customer by username", "/customers?username=user-0000000".to_owned()),
            ("14 products of a category", format!("/products?category={category}&limit=20")),
            ("15 orders of a status", format!("/orders?status=PENDING&from={first}&limit=10")),
            ("16 flagged orders", "/flagged-orders?limit=20".to_owned()),
            ("17 views and sales of a product", format!("/products/{product}/stats")),
            ("19 gift card and its entries", format!("/gift-cards/{GIFT_CARD}")),
            ("20 discount code", format!("/discounts/{DISCOUNT}")),
            ("21 totals of a week", format!("/totals?from={week}&to={end}")),
            ("22 product with its stock in cells", format!("/products/{}", Shop::in_cells()?)),
            ("23 payments that are due", "/payments-due?limit=5".to_owned()),
            ("24 open returns", "/returns?limit=5".to_owned()),
            ("25 categories", "/categories?limit=20".to_owned()),
            ("26 all products", "/products?limit=20".to_owned()),
            ("29 shipping rates", "/shipping".to_owned()),
            ("30 tax rates", "/taxes".to_owned()),
            ("32 variants of a product", format!("/products/{}/variants?limit=10", Shop::in_cells()?)),
        ];
        let run = UNIX_EPOCH.elapsed()?.as_secs() % 1_000_000;
        Ok(Self { run, shopper: shop.least_active()?, product, gift_card: format!("GIFT-{run:08}"), reads })
    }

    /// Creates the gift card.
    async fn prepare(&self, probe: &Probe<'_>) -> Result<()> {
        let card = json!({ "code": self.gift_card, "balance": { "amount": 1_000_000_000, "currency": "EUR" } });
        probe.prepare(Method::POST, "/gift-cards", &card).await
    }

    async fn read(&self, probe: &mut Probe<'_>) -> Result<()> {
        for (what, path) in &self.reads {
            probe.get(what, path).await?;
        }
        Ok(())
    }

    /// An order's lifecycle, and all other writes.
    async fn write(&self, probe: &mut Probe<'_>, round: usize) -> Result<()> {
        let Self { run, shopper, product, gift_card, .. } = self;
        let cart = format!("/customers/{shopper}/cart");
        let line = json!({ "lines": [{ "productId": product, "quantity": 1 }] });
        probe.send("put a cart", Method::PUT, &cart, &line).await?;
        probe.get("18 cart of a customer", &cart).await?;
        probe.send("delete a cart", Method::DELETE, &cart, &Value::Null).await?;
        let addresses = format!("/customers/{shopper}/addresses");
        let address =
            json!({ "name": "Ada", "line1": "Way 1", "city": "Berlin", "postalCode": "10115", "country": "DE" });
        let book = json!({ "addresses": [address] });
        probe.send("put an address book", Method::PUT, &addresses, &book).await?;
        probe.get("28 address book of a customer", &addresses).await?;
        probe.send("count a view", Method::POST, &format!("/products/{product}/views"), &Value::Null).await?;

        let placed =
            probe.place(shopper, "place an order of one line", &format!("one-{run:06}-{round:04}"), &line).await?;
        probe.place(shopper, "place it again", &format!("one-{run:06}-{round:04}"), &line).await?;
        let (order, invoice) = (text(&placed["orderId"])?, text(&placed["invoice"]["invoiceId"])?);
        let (flag, status) = (format!("/orders/{order}/flag"), format!("/orders/{order}/status"));
        let reference = json!({ "reference": format!("bank-{round:07}") });
        probe.send("capture its payment", Method::POST, &format!("/invoices/{invoice}/payments"), &reference).await?;
        probe.send("ship it", Method::POST, &status, &json!({ "status": "SHIPPED" })).await?;
        probe.send("flag it", Method::PUT, &flag, &json!({ "reason": "no signature" })).await?;
        probe.send("unflag it", Method::DELETE, &flag, &Value::Null).await?;

        let line = json!({ "lines": [{ "productId": Shop::in_cells()?, "quantity": 1 }] });
        let what = "place an order of a product in cells";
        probe.place(shopper, what, &format!("cell-{run:06}-{round:04}"), &line).await?;

        let lines: Vec<_> = (0..3)
            .map(|rank| Ok(json!({ "productId": Shop::product(rank)?, "quantity": 1 })))
            .collect::<Result<_>>()?;
        let rich = json!({ "lines": lines, "discountCode": DISCOUNT, "giftCards": [gift_card] });
        let what = "place an order of three lines, with a code and a gift card";
        let placed = probe.place(shopper, what, &format!("three-{run:06}-{round:04}"), &rich).await?;
        let path = format!("/orders/{}/cancellation", text(&placed["orderId"])?);
        probe.send("call it off", Method::POST, &path, &json!({})).await?;

        let path = format!("/products/{product}/stock");
        probe.send("adjust a stock", Method::POST, &path, &json!({ "delta": 5 })).await?;
        let name = json!({ "name": format!("Other {run:06}{round:04}") });
        probe.send("rename a product", Method::PATCH, &format!("/products/{product}"), &name).await?;
        let name = json!({ "name": format!("Somebody {run:06}{round:04}") });
        probe.send("rename a customer", Method::PATCH, &format!("/customers/{shopper}"), &name).await?;
        Ok(())
    }
}

fn text(value: &Value) -> Result<&str> {
    value.as_str().context("an id is a text")
}
