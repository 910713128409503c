//! A pretend OpenSearch for a laptop: it speaks the part of OpenSearch's REST protocol that Till uses.
//!
//! It keeps its indexes in memory. A search reads every document, which takes milliseconds for thousands of products. It
//! knows strict mappings, aliases, writes under the condition of a sequence number, queries, filters, facets, orders and
//! `search_after`; a request that needs anything else is refused, and not answered wrongly.
//!
//! It differs from OpenSearch in this: what was written is found at once, and not within a second; words are split at every
//! character that is neither a letter nor a digit; and scores have other values, though the same order in clear cases.
//! `.ci/search` runs the same tests over OpenSearch itself.

mod aggregation;
mod api;
mod cluster;
mod query;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use uuid::Uuid;

use self::cluster::Cluster;

/// The user of the pretend cluster, and the password.
#[derive(Clone, Debug)]
pub struct User {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
}

impl User {
    /// A user with a password that nobody can guess.
    pub fn random() -> Self {
        Self { username: "till".to_owned(), password: Uuid::new_v4().simple().to_string() }
    }

    /// User and password as the secret's text.
    pub fn secret(&self) -> String {
        serde_json::json!({ "username": self.username, "password": self.password }).to_string()
    }
}

/// A running pretend OpenSearch. It stops when it is dropped.
pub struct PretendSearch {
    url: String,
    serving: JoinHandle<()>,
}

/// The parts that requests share.
struct Shared {
    /// The header `Authorization` of the user.
    authorization: String,
    cluster: Mutex<Cluster>,
}

impl Shared {
    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PretendSearch {
    /// Starts a cluster without indexes.
    pub fn start(listener: TcpListener, user: &User) -> Result<Self> {
        let url = format!("http://{}", listener.local_addr().context("a listener has no address")?);
        let authorization = format!("Basic {}", STANDARD.encode(format!("{}:{}", user.username, user.password)));
        let shared = Arc::new(Shared { authorization, cluster: Mutex::default() });
        let router = devstack::refuse_other_hosts(api::router(shared));
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!("the pretend OpenSearch stopped: {error}");
            }
        });
        Ok(Self { url, serving })
    }

    /// The base URL.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for PretendSearch {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
