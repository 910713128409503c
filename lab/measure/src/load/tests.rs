use super::*;

#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

fn arguments(line: &str) -> Arguments {
    <Line as clap::Parser>::parse_from(std::iter::once("load").chain(line.split(' '))).arguments
}

async fn open() -> Stack {
    workspace::stack_with(local::options(workspace::template().unwrap())).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stack_under_load_answers_as_it_should_and_keeps_its_laws() {
    let stack = open().await;
    let (text, verdict) = drive(&arguments("--requests 300 --workers 4 --products 20"), stack.url()).await.unwrap();
    verdict.unwrap();
    assert!(text.starts_with("300 requests in "), "{text}");
    assert!(text.contains("the stock is what it was"), "{text}");
    for kind in ["read a product", "place an order", "send an order again", "list own orders", "all"] {
        assert!(text.contains(&format!("\n{kind} ")), "{text}");
    }
    check(&stack).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sold_out_product_is_no_error_and_is_not_sold_twice() {
    let stack = open().await;
    let line = "--requests 200 --workers 8 --products 3 --stock 20 --mix order";
    let (text, verdict) = drive(&arguments(line), stack.url()).await.unwrap();
    verdict.unwrap();
    assert!(text.contains("409 out-of-stock"), "{text}");
    check(&stack).await.unwrap();
}

#[tokio::test]
async fn where_nothing_listens_the_user_is_told_what_to_start() {
    let error = drive(&arguments("--requests 1"), "http://127.0.0.1:1").await.err().unwrap();
    assert!(error.to_string().contains("start cargo local"), "{error:#}");
}

#[test]
fn a_stock_that_is_not_what_was_ordered_is_told() {
    let mut tally = Tally::new(2).unwrap();
    tally.books.sold = vec![3, 0];
    assert!(balanced(&tally, &[10, 10], &[7, 10], false).is_ok());
    let error = balanced(&tally, &[10, 10], &[7, 9], false).unwrap_err();
    assert_eq!(error.to_string(), "product 1: 1 units left the stock, and 0 were ordered");
    // The two cases with an unknown effect.
    assert!(balanced(&tally, &[10, 10], &[7, 9], true).is_ok());
    tally.books.unknown = 1;
    assert!(balanced(&tally, &[10, 10], &[7, 9], false).is_ok());
}
