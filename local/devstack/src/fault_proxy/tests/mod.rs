mod capacity;
mod faults;
mod holds;
mod limits;
mod roles;
mod shares;
mod signing;
mod throttles;

use serde_json::json;

use super::*;
use crate::aws_json::local_client;
use crate::endpoint::Endpoint;
use crate::engine::Engine;
use crate::template::Template;

const TEMPLATE: &str = r"
Resources:
  Table:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: fault-proxy-tests
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }, { AttributeName: G, AttributeType: S }]
      GlobalSecondaryIndexes:
        - { IndexName: GSI1, KeySchema: [{ AttributeName: G, KeyType: HASH }], Projection: { ProjectionType: ALL } }
      TimeToLiveSpecification: { AttributeName: expiresAt, Enabled: true }
";

const TABLE: &str = "fault-proxy-tests";

struct Bench {
    _engine: Engine,
    proxy: FaultProxy,
    client: reqwest::Client,
}

impl Bench {
    async fn start() -> Self {
        crate::clock::start();
        let engine = Engine::start(0, None).await.unwrap();
        let template = Template::parse(TEMPLATE).unwrap();
        Endpoint::new(engine.url()).unwrap().ensure_tables(&template.tables, "data").await.unwrap();
        let proxy = FaultProxy::start(engine.url()).await.unwrap();
        Self { _engine: engine, proxy, client: local_client().unwrap() }
    }

    async fn call(&self, action: &str, request: Value) -> reqwest::Result<(u16, Value)> {
        let request = self
            .client
            .post(self.proxy.url())
            .header("content-type", "application/x-amz-json-1.0")
            .header("x-amz-target", format!("DynamoDB_20120810.{action}"))
            .header("x-amz-date", "20260101T000000Z")
            .header("authorization", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=b, Signature=c")
            .body(request.to_string());
        let response = request.send().await?;
        Ok((response.status().as_u16(), response.json().await?))
    }

    async fn exists(&self, key: &str) -> bool {
        let (_, answer) =
            self.call("GetItem", json!({ "TableName": TABLE, "Key": { "PK": { "S": key } } })).await.unwrap();
        answer.get("Item").is_some()
    }
}

fn put(key: &str) -> Value {
    json!({ "TableName": TABLE, "Item": { "PK": { "S": key }, "G": { "S": "g" } } })
}

fn transaction(keys: &[&str]) -> Value {
    let items: Vec<Value> = keys.iter().map(|key| json!({ "Put": put(key) })).collect();
    json!({ "TransactItems": items })
}

fn batch(keys: &[&str]) -> Value {
    let keys: Vec<Value> = keys.iter().map(|key| json!({ "PK": { "S": key } })).collect();
    json!({ "RequestItems": { TABLE: { "Keys": keys, "ConsistentRead": true } } })
}

fn consumed(access: Access, table_units: f64, indexes: &[(&str, f64)]) -> Consumed {
    let index_units = indexes.iter().map(|&(name, units)| (name.to_owned(), units)).collect();
    Consumed { table: TABLE.to_owned(), access, table_units, index_units }
}

#[tokio::test]
async fn an_equal_table_is_reused_and_a_different_one_is_refused() {
    let engine = Engine::start(0, None).await.unwrap();
    let endpoint = Endpoint::new(engine.url()).unwrap();
    endpoint.ensure_tables(&Template::parse(TEMPLATE).unwrap().tables, "data").await.unwrap();
    endpoint.ensure_tables(&Template::parse(TEMPLATE).unwrap().tables, "data").await.unwrap();

    let other = Template::parse(&TEMPLATE.replace("AttributeName: G,", "AttributeName: H,")).unwrap();
    let error = endpoint.ensure_tables(&other.tables, "data").await.unwrap_err().to_string();
    let expected = "has other keys or indexes than the template says: delete it or choose another with Options::data";
    assert!(error.ends_with(expected), "{error}");
}
