//! Items as DynamoDB sent them, which are read straight into their entities.
//!
//! The SDK makes a map of each item, and to read the map as an entity takes another one: three quarters of what a page
//! costs. So the connector takes the items out of an answer, and the SDK reads the rest: errors, the last key, the consumed
//! capacity, what is left unprocessed.

use std::cell::RefCell;
use std::collections::HashMap;

use aws_sdk_dynamodb::config::http::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::http::{
    HttpClient as _, HttpConnector, HttpConnectorFuture, SharedHttpClient, SharedHttpConnector, http_client_fn,
};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use key_schema::json;
use key_schema::layout::{Index, Key};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Error;
use crate::home::Home;
use crate::item::Item;

/// An item as DynamoDB sent it.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    json: Box<RawValue>,
    /// The table that it is in.
    home: Home,
}

impl Raw {
    /// Reads it as an entity, or as an enum of entities.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(json::read(self.json.get()).map_err(serde_dynamo::Error::custom)?)
    }

    /// Its canonical key in the table or an index.
    pub(crate) fn key(&self, index: Index) -> Option<Key> {
        let (partition, sort) = index.attributes();
        let [partition, sort] = json::texts(self.json.get(), [partition, sort])?;
        let stored = Key { index, partition, sort };
        self.home.layout.canonical(stored.clone()).or(Some(stored))
    }

    /// Its attributes, with canonical keys.
    pub(crate) fn item(&self) -> Result<Item, Error> {
        let item: serde_dynamo::Item = serde_json::from_str(self.json.get()).map_err(serde_dynamo::Error::custom)?;
        let mut item = item.into();
        self.home.canonicalize(&mut item);
        Ok(item)
    }
}

tokio::task_local! {
    /// The items of the last answer to the call that is under way.
    static ITEMS: RefCell<Vec<Box<RawValue>>>;
}

/// The output of a Query or a BatchGetItem in this table, without its items, and the items.
pub(crate) fn split<T, E>(
    call: impl Future<Output = Result<T, E>>,
    home: &Home,
) -> impl Future<Output = Result<(T, Vec<Raw>), E>> {
    // A call's future is large.
    let call = Box::pin(call);
    ITEMS.scope(RefCell::default(), async {
        let output = call.await?;
        let items = ITEMS.with(RefCell::take);
        Ok((output, items.into_iter().map(|json| Raw { json, home: home.clone() }).collect()))
    })
}

/// An HTTP client that takes the items out of the answers to calls in [`split`].
pub(crate) fn splitting(client: SharedHttpClient) -> SharedHttpClient {
    http_client_fn(move |settings, components| {
        SharedHttpConnector::new(Splitting(client.http_connector(settings, components)))
    })
}

#[derive(Debug)]
struct Splitting(SharedHttpConnector);

impl HttpConnector for Splitting {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let answer = self.0.call(request);
        HttpConnectorFuture::new(async {
            let answer = answer.await?;
            let is_split = ITEMS.try_with(|_| ()).is_ok() && answer.status().is_success();
            if is_split { without_items(answer).await } else { Ok(answer) }
        })
    }
}

async fn without_items(mut answer: HttpResponse) -> Result<HttpResponse, ConnectorError> {
    let body = ByteStream::new(answer.take_body()).collect().await;
    let body = body.map_err(|error| ConnectorError::io(error.into()))?.into_bytes();
    let unreadable = |error: serde_json::Error| ConnectorError::io(error.into());
    let mut output: Output<'_> = serde_json::from_slice(&body).map_err(unreadable)?;
    let mut items = std::mem::take(&mut output.items);
    items.extend(std::mem::take(&mut output.responses).into_values().flatten());
    ITEMS.with(|last| last.replace(items));
    *answer.body_mut() = SdkBody::from(serde_json::to_vec(&output).map_err(unreadable)?);
    Ok(answer)
}

/// The output of a Query or a BatchGetItem, as DynamoDB spells it.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "PascalCase")]
struct Output<'a> {
    #[serde(default, skip_serializing)]
    items: Vec<Box<RawValue>>,
    /// The items of each table.
    #[serde(default, skip_serializing)]
    responses: HashMap<String, Vec<Box<RawValue>>>,
    #[serde(borrow)]
    last_evaluated_key: Option<&'a RawValue>,
    #[serde(borrow)]
    unprocessed_keys: Option<&'a RawValue>,
    #[serde(borrow)]
    consumed_capacity: Option<&'a RawValue>,
}
