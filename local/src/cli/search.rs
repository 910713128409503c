//! The search index of `cargo local`: a pretend OpenSearch, unless the user names another.

use std::collections::BTreeMap;
use std::fmt;
use std::net::Ipv4Addr;

use anyhow::{Context, Result};
use devstack::Stack;
use local::SEARCH_SECRET;
use local::pretend_search::{PretendSearch, User};
use local::reindex::{has_index, reindex};
use tokio::net::TcpListener;

use super::Serve;
use super::place::of_stack;

/// The environment variables with the user of a cluster that the user names.
const USERNAME: &str = "SEARCH_USERNAME";
const PASSWORD: &str = "SEARCH_PASSWORD";

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
    pub(super) async fn build(&self, stack: &Stack) -> Result<()> {
        if let Self::Pretend { .. } = self {
            let port = stack.url().rsplit(':').next().and_then(|port| port.parse().ok());
            let environment = of_stack(port.context("the stack's URL has no port")?).await?;
            if has_index(&environment) {
                reindex(&environment, |_| ()).await.context("the search index cannot be built")?;
            }
        }
        Ok(())
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

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pretend { server, .. } => write!(f, "Pretend OpenSearch at {}/", server.url()),
            Self::Other { url, .. } => write!(f, "OpenSearch at {url}: cargo local reindex builds its index"),
        }
    }
}
