//! Throttling as the AWS SDK sees it.

use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{AttributeValue, Put, ThrottlingReason, TransactWriteItem};
use aws_sdk_dynamodb::{Client, Config};

use super::{Bench, TABLE};
use crate::fault_proxy::{Fault, Match, WriteLimit};

const ARN: &str = "arn:aws:dynamodb:dynoxide:000000000000:table/fault-proxy-tests";

/// A client without retries.
fn sdk(bench: &Bench) -> Client {
    let config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("eu-west-1"))
        .credentials_provider(Credentials::new("a", "s", None, None, "tests"))
        .endpoint_url(bench.proxy.url())
        .http_client(aws_smithy_http_client::Builder::new().build_http())
        .retry_config(RetryConfig::disabled());
    Client::from_conf(config.build())
}

async fn put(client: &Client) -> Result<(), PutItemError> {
    let put = client.put_item().table_name(TABLE).item("PK", AttributeValue::S("one".to_owned()));
    put.send().await.map(|_| ()).map_err(SdkError::into_service_error)
}

async fn transact(client: &Client) -> Result<(), TransactWriteItemsError> {
    let put = Put::builder().table_name(TABLE).item("PK", AttributeValue::S("one".to_owned())).build().unwrap();
    let transaction = client.transact_write_items().transact_items(TransactWriteItem::builder().put(put).build());
    transaction.send().await.map(|_| ()).map_err(SdkError::into_service_error)
}

fn reason(reason: &str, resource: &str) -> [ThrottlingReason; 1] {
    [ThrottlingReason::builder().reason(reason).resource(resource).build()]
}

#[tokio::test]
async fn every_reason_has_its_own_exception_which_the_sdk_can_read() {
    let bench = Bench::start().await;
    let client = sdk(&bench);
    let cases = [
        ("TableWriteProvisionedThroughputExceeded", "ProvisionedThroughputExceededException"),
        ("IndexWriteKeyRangeThroughputExceeded", "ProvisionedThroughputExceededException"),
        ("TableWriteMaxOnDemandThroughputExceeded", "ThrottlingException"),
        ("IndexWriteAccountLimitExceeded", "RequestLimitExceeded"),
    ];
    for (given, code) in cases {
        bench.proxy.inject(Match::any(), Fault::Throttle { reason: given, resource: ARN.to_owned() }, 1);
        let error = put(&client).await.unwrap_err();
        assert_eq!(error.code(), Some(code), "{given}");
        let reasons = match &error {
            PutItemError::ProvisionedThroughputExceededException(error) => error.throttling_reasons(),
            PutItemError::ThrottlingException(error) => error.throttling_reasons(),
            PutItemError::RequestLimitExceeded(error) => error.throttling_reasons(),
            error => panic!("{given}: {error}"),
        };
        assert_eq!(reasons, reason(given, ARN));
    }
}

#[tokio::test]
async fn a_write_limit_refuses_like_provisioned_capacity() {
    let bench = Bench::start().await;
    let client = sdk(&bench);
    bench.proxy.limit_writes(Some(WriteLimit::per_second(0.0))).await;
    let expected = reason("TableWriteProvisionedThroughputExceeded", ARN);
    match put(&client).await {
        Err(PutItemError::ProvisionedThroughputExceededException(error)) => {
            assert_eq!(error.throttling_reasons(), expected);
        }
        other => panic!("{other:?}"),
    }
    match transact(&client).await {
        Err(TransactWriteItemsError::ProvisionedThroughputExceededException(error)) => {
            assert_eq!(error.throttling_reasons(), expected);
        }
        other => panic!("{other:?}"),
    }

    bench.proxy.limit_writes(Some(WriteLimit::per_second(0.0).cancelling())).await;
    match transact(&client).await {
        Err(TransactWriteItemsError::TransactionCanceledException(error)) => {
            assert_eq!(error.cancellation_reasons()[0].code(), Some("ProvisionedThroughputExceeded"));
        }
        other => panic!("{other:?}"),
    }
}
