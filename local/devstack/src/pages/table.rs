//! The items of the tables, page by page.

use anyhow::{Context, Result};
use axum::body::Body;
use axum::http::{Response, StatusCode};
use maud::html;
use serde_json::{Map, Value, json};

use super::page;
use crate::aws_json::{Refusal, Service};
use crate::template::{Table, Template};

/// The number of items on a page.
const ITEMS: usize = 50;

/// Reads the tables for their page.
pub(crate) struct TableBrowser {
    service: Service,
    tables: Vec<Table>,
}

/// What a page shows: the whole table or index, or one partition of it, behind the items of the pages before.
#[derive(Default)]
struct Wanted {
    /// The table's name. Empty: the first table.
    table: String,
    index: String,
    partition: String,
    /// The `LastEvaluatedKey` of the page before, as JSON.
    after: String,
}

impl Wanted {
    fn of(query: &str) -> Self {
        let mut wanted = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "table" => wanted.table = value.into_owned(),
                "index" => wanted.index = value.into_owned(),
                "partition" => wanted.partition = value.into_owned(),
                "after" => wanted.after = value.into_owned(),
                _ => {}
            }
        }
        wanted
    }

    fn link(&self, after: &Value) -> String {
        let mut query = form_urlencoded::Serializer::new("/_local/table?".to_owned());
        if !self.table.is_empty() {
            query.append_pair("table", &self.table);
        }
        query.append_pair("index", &self.index).append_pair("partition", &self.partition);
        query.append_pair("after", &after.to_string());
        query.finish()
    }
}

impl TableBrowser {
    /// The tables of this template, in the DynamoDB at this URL.
    pub(crate) fn new(url: &str, template: &Template) -> Result<Self> {
        Ok(Self { service: Service::dynamodb(url)?, tables: template.tables.clone() })
    }

    pub(crate) async fn page(&self, query: &str) -> Response<Body> {
        let wanted = Wanted::of(query);
        let chosen = self.tables.iter().position(|table| table.name() == wanted.table).unwrap_or_default();
        // A template has at least one table.
        let table = &self.tables[chosen];
        let (status, items, next, error) = match self.read(&table.creation, &wanted).await {
            Ok(Ok((items, next))) => (StatusCode::OK, items, next, None),
            Ok(Err(refusal)) => (
                StatusCode::BAD_REQUEST,
                Vec::new(),
                Value::Null,
                Some(format!("{:#}", refusal.into_error("The read"))),
            ),
            Err(error) => (StatusCode::BAD_GATEWAY, Vec::new(), Value::Null, Some(format!("{error:#}"))),
        };
        let keys = key_attributes(&table.creation["KeySchema"]);
        let name = table.name();
        page(
            status,
            name,
            &html! {
                p { a href="/" { "Start" } }
                h1 { (name) }
                form action="/_local/table" {
                    @if self.tables.len() > 1 {
                        select name="table" {
                            @for one in &self.tables { option selected[one == table] { (one.name()) } }
                        }
                        " "
                    }
                    select name="index" {
                        option value="" { "the table" }
                        @for index in indexes(&table.creation) { option selected[index == wanted.index] { (index) } }
                    }
                    " " input name="partition" placeholder="partition key: all" value=(wanted.partition);
                    " " button { "Show" }
                }
                @if let Some(error) = error { p { (error) } }
                table {
                    tr { @for key in &keys { th { (key) } } th { "Other attributes" } }
                    @for item in &items {
                        tr {
                            @for key in &keys { td { code { (text(&item[*key])) } } }
                            td { pre { (others(item, &keys)) } }
                        }
                    }
                }
                @if items.is_empty() { p { "There are no items." } }
                @if !next.is_null() { p { a href=(wanted.link(&next)) { "Next items" } } }
            },
        )
    }

    /// The items of a page as plain JSON, and the key to continue behind.
    async fn read(&self, table: &Value, wanted: &Wanted) -> Result<Result<(Vec<Value>, Value), Refusal>> {
        let mut request = json!({ "TableName": table["TableName"], "Limit": ITEMS });
        let mut schema = &table["KeySchema"];
        if !wanted.index.is_empty() {
            let mut indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
            let index = indexes.find(|index| index["IndexName"] == *wanted.index);
            schema = &index.with_context(|| format!("there is no index {}", wanted.index))?["KeySchema"];
            request["IndexName"] = json!(wanted.index);
        }
        if !wanted.after.is_empty() {
            request["ExclusiveStartKey"] = serde_json::from_str(&wanted.after).context("after is not a key")?;
        }
        let action = if wanted.partition.is_empty() {
            "Scan"
        } else {
            let key = key_attributes(schema).into_iter().next().context("there is no partition key")?;
            request["KeyConditionExpression"] = json!("#partition = :partition");
            request["ExpressionAttributeNames"] = json!({ "#partition": key });
            request["ExpressionAttributeValues"] = json!({ ":partition": { kind(table, key): wanted.partition } });
            "Query"
        };
        let answer = match self.service.call(action, &request).await? {
            Ok(answer) => answer,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let items = answer["Items"].as_array().into_iter().flatten().map(plain_item).collect::<Result<_>>()?;
        Ok(Ok((items, answer["LastEvaluatedKey"].clone())))
    }
}

fn indexes(table: &Value) -> impl Iterator<Item = &str> {
    let indexes = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
    indexes.filter_map(|index| index["IndexName"].as_str())
}

/// The type of a key attribute: `S`, `N` or `B`.
fn kind<'a>(table: &'a Value, key: &str) -> &'a str {
    let attributes = table["AttributeDefinitions"].as_array().into_iter().flatten();
    let mut kinds = attributes.filter(|attribute| attribute["AttributeName"] == key);
    kinds.find_map(|attribute| attribute["AttributeType"].as_str()).unwrap_or("S")
}

/// The partition key, and then the sort key if there is one.
fn key_attributes(schema: &Value) -> Vec<&str> {
    let keys = schema.as_array().into_iter().flatten();
    let mut keys: Vec<_> = keys.map(|key| (key["KeyType"] != "HASH", key["AttributeName"].as_str())).collect();
    keys.sort_unstable();
    keys.into_iter().filter_map(|(_, name)| name).collect()
}

fn plain_item(item: &Value) -> Result<Value> {
    let item: serde_dynamo::Item = serde_json::from_value(item.clone()).context("an item is not DynamoDB JSON")?;
    Ok(serde_dynamo::from_item(item)?)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn others(item: &Value, keys: &[&str]) -> String {
    let attributes = item.as_object().into_iter().flatten().filter(|(name, _)| !keys.contains(&name.as_str()));
    let attributes: Map<String, Value> = attributes.map(|(name, value)| (name.clone(), value.clone())).collect();
    serde_json::to_string_pretty(&attributes).unwrap_or_default()
}
