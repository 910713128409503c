//! The demo shop of `cargo local`.

use devstack::wait::PATIENCE;
use local::demo;

use crate::Shop;
use crate::payments::{Payments, paying_template, secrets};

impl Shop {
    /// An empty shop with all that `cargo local` gives the demo: a payment provider, taxes, numbers of invoices.
    pub async fn open_for_demo() -> Self {
        let mut payments = Payments::start().await;
        let mut template = paying_template(payments.provider.url(), &demo::PARAMETERS);
        // A payment whose settlement meets a webhook comes back after this time.
        template.queues.iter_mut().for_each(|queue| queue.visibility_timeout_seconds = 2);
        let mut shop = Self::start_with(template, secrets(&payments.keys), |functions| functions).await;
        payments.provider.send_webhooks_to(&format!("{}/payment-events", shop.url()));
        shop.payments = Some(payments);
        shop
    }

    /// Makes the demo, as a start of `cargo local` does.
    pub async fn make_demo(&self) {
        demo::create(&self.stack).await.expect("the goods are there");
        demo::fill(&self.stack, &self.payments().provider).await.expect("the orders are there");
    }

    /// Waits until every consumer has processed everything.
    pub async fn settle_all(&self) {
        self.stack.settle(PATIENCE).await.expect("nothing is left to do");
    }
}
