use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn every_function_answers_in_every_set_up_and_takes_time() {
    let rows = measure(&Arguments { events: 3, clients: 2 }).await.unwrap();
    assert_eq!(rows.iter().map(|row| row.function).collect::<Vec<_>>(), ["get-product", "place-order", "get-order"]);
    for Row { function, whole, over_engine, engine, alone } in &rows {
        for cpu in [whole.cpu, over_engine.cpu, *engine, alone.cpu] {
            assert!(cpu > Duration::ZERO, "{function}");
        }
    }
}
