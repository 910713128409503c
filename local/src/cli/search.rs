//! The search index of `cargo local`: a pretend OpenSearch, unless the user names another.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use devstack::Stack;
use local::SEARCH_SECRET;
use local::pretend_search::{PretendSearch, User};
use local::reindex::{has_index, reindex};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::Serve;
use super::place::of_stack;

/// The environment variables with the user of a cluster that the user names.
const USERNAME: &str = "SEARCH_USERNAME";
const PASSWORD: &str = "SEARCH_PASSWORD";

/// The longest that a start waits for the search index. That of a small shop is complete by then.
const PATIENCE: Duration = Duration::from_secs(1);

/// The longest that another cluster may take to answer.
const LOOK: Duration = Duration::from_secs(5);

pub(super) enum Search {
    Pretend { server: PretendSearch, user: User },
    Other { url: String, user: Option<User> },
}

impl Search {
    /// Starts the pretend OpenSearch, or reads the user of the other one.
    pub(super) async fn start(arguments: &Serve) -> Result<Self> {
        if let Some(url) = &arguments.search {
            let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
            let user = match variable(USERNAME) {
                Some(username) => {
                    let password = variable(PASSWORD).with_context(|| format!("{USERNAME} needs {PASSWORD}"))?;
                    Some(User { username, password })
                }
                None => None,
            };
            ensure_answers(url, user.as_ref()).await?;
            return Ok(Self::Other { url: url.clone(), user });
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on 127.0.0.1")?;
        let user = User::random();
        Ok(Self::Pretend { server: PretendSearch::start(listener, &user)?, user })
    }

    pub(super) fn parameters(&self) -> [(String, String); 2] {
        let secret = self.user().map_or("", |_| SEARCH_SECRET);
        [("SearchUrl", self.url().trim_end_matches('/')), ("SearchSecretArn", secret)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    }

    /// The secret that the functions read.
    pub(super) fn secrets(&self) -> BTreeMap<String, String> {
        self.user().map(|user| (SEARCH_SECRET.to_owned(), user.secret())).into_iter().collect()
    }

    /// Builds the index of the pretend OpenSearch, which keeps nothing. Another cluster has kept its own.
    ///
    /// A large table is still read when this returns, and the log says when the index is complete. Until then searches
    /// answer 503 `search-unavailable`. The building stops when the returned set is dropped.
    pub(super) async fn build(&self, stack: &Stack) -> Result<JoinSet<()>> {
        let mut building = JoinSet::new();
        if let Self::Pretend { .. } = self {
            let port = stack.url().rsplit(':').next().and_then(|port| port.parse().ok());
            let environment = of_stack(port.context("the stack's URL has no port")?).await?;
            if has_index(&environment) {
                building.spawn(async move {
                    match reindex(&environment, |_| ()).await {
                        Ok(products) => tracing::info!("the search index is complete: {products} products"),
                        Err(error) => tracing::error!("no search index: start cargo local reindex: {error:#}"),
                    }
                });
                if tokio::time::timeout(PATIENCE, building.join_next()).await.is_err() {
                    tracing::info!("searches answer 503 until the search index is complete");
                }
            }
        }
        Ok(building)
    }

    pub(super) fn url(&self) -> &str {
        match self {
            Self::Pretend { server, .. } => server.url(),
            Self::Other { url, .. } => url,
        }
    }

    fn user(&self) -> Option<&User> {
        match self {
            Self::Pretend { user, .. } => Some(user),
            Self::Other { user, .. } => user.as_ref(),
        }
    }
}

/// Looks at another cluster, so that a wrong address or user is found at the start.
async fn ensure_answers(url: &str, user: Option<&User>) -> Result<()> {
    let client = reqwest::Client::builder().no_proxy().timeout(LOOK).build().context("cannot make an HTTP client")?;
    let mut look = client.get(url);
    if let Some(User { username, password }) = user {
        look = look.basic_auth(username, Some(password));
    }
    let answer = look.send().await.map_err(reqwest::Error::without_url);
    let answer =
        answer.with_context(|| format!("no OpenSearch answers at {url}: start it or choose another with --search"))?;
    let status = answer.status();
    ensure!(
        status.is_success(),
        "OpenSearch at {url} answers {status}: its user is in the environment variables {USERNAME} and {PASSWORD}"
    );
    Ok(())
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pretend { server, .. } => write!(f, "Pretend OpenSearch at {}/", server.url()),
            Self::Other { url, .. } => write!(f, "OpenSearch at {url}: cargo local reindex builds its index"),
        }
    }
}
