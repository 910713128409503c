//! The sample events, one after the other: a function without cases is recorded from its sample event.

use devstack::gateway::Invoke;
use local::functions::start_all;
use sample_items::SampleSizes;
use shop::events::{event, functions_by_event_time};

use super::metered_shop::{Book, MeteredShop};

const CASE: &str = "as in its sample event";

pub async fn record(sizes: SampleSizes) -> Book {
    let mut shop = MeteredShop::open(sizes, true).await;
    let functions = start_all(&shop.shop.endpoints(), shop.shop.template()).expect("the functions start");
    let invoke = |name: &str| -> Invoke {
        let route = functions.handlers.iter().find(|(known, _)| known == name).map(|(_, invoke)| invoke.clone());
        route.unwrap_or_else(|| shop.shop.consumer(name, &shop.shop.endpoints()))
    };
    let all: Vec<_> = functions_by_event_time().into_iter().map(|name| (invoke(&name), name)).collect();
    for (invoke, name) in all {
        shop.shop.prepare_for(&name).await;
        // What the scenario needs before is not what the function costs.
        shop.pass().await;
        invoke(event(&name)).await.expect("an answer");
        shop.check(&name, CASE).await;
    }
    shop.close()
}
