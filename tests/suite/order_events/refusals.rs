//! The bus refuses events, or answers late.

use super::*;

#[tokio::test]
async fn after_a_refused_event_no_later_event_of_its_order_is_published() {
    let shop = stocked().await;
    let changes = order_lifecycle(&shop).await;
    let records = records(&shop).await;
    let (_, stuck, _) =
        changes.iter().find(|(kind, _, version)| kind == "OrderStatusChanged" && *version == 3).expect("one");
    let of = stuck.clone();
    shop.bus().fail(move |entry| {
        (entry.detail_type == "OrderStatusChanged" && entry.detail.contains(&of)).then_some("InternalFailure")
    });
    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    let publish = hasty(&shop, &proxy, 6);

    let answer = publish(json!({ "Records": records })).await.expect("an answer");
    let sequence_number = checkpoint(&answer).expect("a failure");
    let at = |record: &Value| record["dynamodb"]["SequenceNumber"] == *sequence_number;
    let failed = records.iter().position(at).expect("it is of this batch");
    let first = records.iter().position(|record| {
        record["dynamodb"]["NewImage"]["version"]["N"] == "2"
            && record["dynamodb"]["NewImage"]["orderId"]["S"] == stuck.as_str()
    });
    assert!(Some(failed) <= first, "{failed} is behind what was not taken: {first:?}");
    let before = told(&shop);
    let of_stuck: Vec<_> =
        before.iter().filter(|(_, order, _)| order == stuck).map(|(kind, ..)| kind.as_str()).collect();
    assert_eq!(of_stuck, ["OrderPlaced"]);

    shop.bus().heal();
    let answer = publish(json!({ "Records": records[failed..] })).await.expect("an answer");
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    check(&told(&shop), &changes);
}

/// The publisher with a time limit of so many seconds, the last of which is left for its answer.
fn hasty(shop: &Shop, proxy: &FaultProxy, seconds: u64) -> Invoke {
    let mut template = shop.template().clone();
    template.functions.iter_mut().for_each(|function| function.timeout_seconds = seconds);
    let endpoints = Endpoints { eventbridge: proxy.url().to_owned(), ..shop.endpoints() };
    let functions = local::functions::start_all(&endpoints, &template).expect("the functions start");
    let (_, start) = functions.consumers.into_iter().find(|(name, _)| name == "publish-order-events").expect("it");
    start().expect("it starts")
}

#[tokio::test]
async fn events_are_sent_again_with_the_next_delivery_if_the_bus_does_not_answer_in_time() {
    let shop = stocked().await;
    let changes = order_lifecycle(&shop).await;
    let records = records(&shop).await;
    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    proxy.inject_share(Match::any(), Fault::Delay(Duration::from_secs(5)), 1.0, 0);
    let answer = hasty(&shop, &proxy, 2)(json!({ "Records": records })).await.expect("an answer in time");
    let first = records.iter().find(|record| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "product");
    assert_eq!(checkpoint(&answer), Some(&first.expect("the product comes first")["dynamodb"]["SequenceNumber"]));

    proxy.heal();
    let answer = publisher(&shop, &proxy)(json!({ "Records": records })).await.expect("an answer");
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    check(&told(&shop), &changes);
}

#[tokio::test]
async fn no_event_after_an_order_is_published_while_its_lines_cannot_be_read() {
    let shop = stocked().await;
    let changes = order_lifecycle(&shop).await;
    let records = records(&shop).await;
    let proxy = FaultProxy::start(shop.bus().url()).await.expect("a fault proxy");
    shop.fault_proxy().inject_share(Match::action("Query"), throttling(), 1.0, 0);
    let answer = hasty(&shop, &proxy, 2)(json!({ "Records": records })).await.expect("an answer");
    let position = |wanted: &dyn Fn(&Value) -> bool| records.iter().position(wanted).expect("a record");
    let failed = checkpoint(&answer).expect("a failure");
    let failed = position(&|record| record["dynamodb"]["SequenceNumber"] == *failed);
    let placed = position(&|record| record["dynamodb"]["NewImage"]["EntityType"]["S"] == "order");
    assert!(failed <= placed, "{failed} is behind the first order, {placed}");
    assert_eq!(told(&shop), []);

    shop.fault_proxy().heal();
    assert_eq!(
        publisher(&shop, &proxy)(json!({ "Records": records })).await.expect("an answer")["batchItemFailures"],
        json!([])
    );
    check(&told(&shop), &changes);
}
