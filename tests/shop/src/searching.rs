//! The search index of a shop: a pretend OpenSearch of its own, or a part of the cluster that the environment names.

use std::env;

use devstack::Template;
use lambda::Environment;
use local::SEARCH_SECRET;
use local::pretend_search::{PretendSearch, User};
use local::reindex::{reindex, variables};
use serde_json::Value;
use tokio::net::TcpListener;

use crate::{Shop, until_some};

/// The environment variable with the base URL of an OpenSearch cluster without users. Tests that use it run one after the
/// other, because all shops have the same names of indexes.
const CLUSTER: &str = "TILL_SEARCH_URL";

pub struct Searching {
    url: String,
    user: User,
    /// It stops with the shop.
    pretend: Option<PretendSearch>,
}

pub const PARAMETERS: [(&str, &str); 2] = [("SearchUrl", "http://search.invalid"), ("SearchSecretArn", SEARCH_SECRET)];

impl Searching {
    pub(crate) async fn start() -> Self {
        let user = User::random();
        if let Ok(url) = env::var(CLUSTER) {
            return Self { url, user, pretend: None };
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let pretend = PretendSearch::start(listener, &user).expect("it starts");
        Self { url: pretend.url().to_owned(), user, pretend: Some(pretend) }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The secret of the cluster's user, by its ARN.
    pub(crate) fn secret(&self) -> [(String, String); 1] {
        [(SEARCH_SECRET.to_owned(), self.user.secret())]
    }
}

impl Shop {
    pub fn search_url(&self) -> &str {
        &self.search.url
    }

    pub fn end_search(&mut self) {
        self.search.pretend = None;
    }

    pub fn indexer(&self) -> Environment {
        let secrets = self.endpoints().secretsmanager;
        let more = [("TABLE_NAME", self.table()), ("AWS_ENDPOINT_URL_SECRETS_MANAGER", secrets.as_str())];
        let more = more.map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.operator().with(more).with(variables(&self.search.url, Some(SEARCH_SECRET)))
    }

    /// Builds the search index, and returns the number of products.
    pub async fn reindex(&self) -> u64 {
        reindex(&self.indexer(), |_| ()).await.expect("the index is built")
    }

    /// A shop that indexes its products. Nothing counts orders.
    pub async fn open_searchable() -> Self {
        Self::open_searchable_with(|_| ()).await
    }

    /// The same, with a template that is changed after parsing.
    pub async fn open_searchable_with(change: impl FnOnce(&mut Template)) -> Self {
        let shop = Self::open_with(|template| {
            for source in &mut template.stream_sources {
                source.enabled = source.function == "PublishOrderEvents";
            }
            change(template);
        })
        .await;
        if let Ok(url) = env::var(CLUSTER) {
            // What an earlier test left.
            let client = reqwest::Client::new();
            client.delete(format!("{url}/till-products-*")).send().await.expect("the cluster answers");
        }
        shop.reindex().await;
        shop
    }

    /// Searches until the answer is as expected. The index follows after a while.
    pub async fn search_until(&self, query: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let search = async || Some(self.nobody().get(&format!("/search?{query}")).await.expect(200)).filter(&is_so);
        until_some(format!("the index has {query}"), search).await
    }
}
