//! A scenario from sign-up to dead letter, run against any deployment of Till: docs/third-party.md says how. Without a
//! deployment it runs against the laptop's stack, as part of `cargo test`.
#![allow(unreachable_pub, reason = "a test binary has no outside")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stdout, reason = "prints each step of the scenario, with the time it took")]

mod aws;
mod page;
mod scenario;
mod sign_in;
mod till;

use std::time::Instant;

use scenario::Scenario;

/// Runs one step, and prints how long it took.
macro_rules! step {
    ($scenario:ident.$step:ident) => {
        let begin = Instant::now();
        $scenario.$step().await;
        println!("{:6.1} s  {}", begin.elapsed().as_secs_f64(), stringify!($step).replace('_', " "));
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_works_from_sign_up_to_dead_letter() {
    let mut scenario = Scenario::begin().await;
    step!(scenario.customers_sign_up);
    step!(scenario.the_back_office_creates_a_catalogue);
    step!(scenario.the_catalogue_is_public);
    step!(scenario.an_order_is_placed);
    step!(scenario.the_same_order_is_placed_once);
    step!(scenario.another_order_under_its_key_is_refused);
    step!(scenario.an_order_beyond_the_stock_is_refused);
    step!(scenario.a_queued_order_is_placed);
    step!(scenario.orders_are_listed_page_by_page);
    step!(scenario.the_stream_has_counted_every_order);
    step!(scenario.an_invalid_message_becomes_a_dead_letter);
    step!(scenario.no_customer_sees_another_customers_orders);
    step!(scenario.the_gateway_answers_as_aws_does);
}
