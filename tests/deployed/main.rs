//! A shop's story from sign-up to dead letter, told about any Till that is deployed: docs/third-party.md says how.
//! Without a deployed one it is told about the laptop's stack, each time that `cargo test` runs.
#![allow(unreachable_pub, dead_code, reason = "the clients can do more than this test needs")]
#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]
#![allow(clippy::print_stdout, reason = "each step of the story is told, with the time it took")]

mod aws;
#[path = "../suite/client.rs"]
mod client;
#[path = "../suite/customer_view.rs"]
mod customer_view;
#[path = "../suite/openapi.rs"]
mod openapi;
mod page;
mod sign_in;
mod story;
mod till;

use std::time::Instant;

use story::Story;

/// Runs one step and tells how long it took.
macro_rules! told {
    ($story:ident.$step:ident) => {
        let begin = Instant::now();
        $story.$step().await;
        println!("{:6.1} s  {}", begin.elapsed().as_secs_f64(), stringify!($step).replace('_', " "));
    };
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shop_works_from_sign_up_to_dead_letter() {
    let mut story = Story::begin().await;
    told!(story.customers_sign_up);
    told!(story.the_back_office_makes_a_catalogue);
    told!(story.anybody_browses_it);
    told!(story.an_order_is_placed);
    told!(story.the_same_order_is_placed_once);
    told!(story.another_order_under_its_key_is_refused);
    told!(story.more_than_there_is_cannot_be_ordered);
    told!(story.an_order_that_may_wait_is_placed_from_the_queue);
    told!(story.orders_are_listed_page_by_page);
    told!(story.the_stream_has_counted_every_order);
    told!(story.what_is_no_order_is_a_dead_letter);
    told!(story.nobody_sees_what_is_not_theirs);
}
