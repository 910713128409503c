//! Items as DynamoDB sent them, which are read straight into their entities.
//!
//! The SDK makes a map of each item, and to read the map as an entity takes another one: three quarters of what a page
//! costs. So the connector takes the items out of an answer, and the SDK reads the rest: errors, the last key, the consumed
//! capacity, what is left unprocessed.

use std::cell::RefCell;

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

use crate::Error;
use crate::home::Home;
use crate::item::Item;

/// An item as DynamoDB sent it.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    json: Box<str>,
    /// The table that it is in.
    home: Home,
}

impl Raw {
    /// Reads it as an entity, or as an enum of entities.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(json::read(&self.json).map_err(serde_dynamo::Error::custom)?)
    }

    /// Its canonical key in the table or an index.
    pub(crate) fn key(&self, index: Index) -> Option<Key> {
        let (partition, sort) = index.attributes();
        let [partition, sort] = json::texts(&self.json, [partition, sort])?;
        let stored = Key { index, partition, sort };
        self.home.layout.canonical(stored.clone()).or(Some(stored))
    }

    /// Its attributes, with canonical keys.
    pub(crate) fn item(&self) -> Result<Item, Error> {
        let item: serde_dynamo::Item = serde_json::from_str(&self.json).map_err(serde_dynamo::Error::custom)?;
        let mut item = item.into();
        self.home.canonicalize(&mut item);
        Ok(item)
    }
}

tokio::task_local! {
    /// The items of the last answer to the call that is under way.
    static ITEMS: RefCell<Vec<Box<str>>>;
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
    let (rest, items) = str::from_utf8(&body)
        .ok()
        .and_then(json::split)
        .ok_or_else(|| ConnectorError::io("the answer is cut off".into()))?;
    ITEMS.with(|last| last.replace(items.into_iter().map(Into::into).collect()));
    *answer.body_mut() = SdkBody::from(rest);
    Ok(answer)
}
