//! The payment provider of `cargo local`: a pretend one, unless the user names another.

use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::net::Ipv4Addr;

use anyhow::{Context, Result, anyhow, ensure};
use devstack::Stack;
use local::PAYMENT_SECRET;
use local::pretend_provider::{Keys, PretendProvider};
use tokio::net::TcpListener;

use super::Serve;

/// The environment variables with the keys of a provider that the user names.
const API_KEY: &str = "PAYMENT_API_KEY";
const WEBHOOK_SECRET: &str = "PAYMENT_WEBHOOK_SECRET";

/// The file of the data directory in which the pretend provider keeps its ledger.
const LEDGER: &str = "pretend-payments.json";

pub(super) enum Payments {
    Pretend { provider: PretendProvider, keys: Keys },
    Other { url: String, keys: Keys },
}

impl Payments {
    /// Starts the pretend provider, or reads the keys of the other one.
    pub(super) async fn start(arguments: &Serve) -> Result<Self> {
        if let Some(url) = &arguments.payments {
            let key = |name: &str| {
                let value = std::env::var(name).ok().filter(|value| !value.is_empty());
                value.with_context(|| format!("--payments needs the environment variable {name}"))
            };
            let keys = Keys { api_key: key(API_KEY)?, webhook_secret: key(WEBHOOK_SECRET)? };
            ensure!(
                !keys.api_key.contains("_live_"),
                "{API_KEY} moves real money: a laptop takes a test key, such as sk_test_..."
            );
            return Ok(Self::Other { url: url.clone(), keys });
        }
        let port = arguments.payments_port;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| match error.kind() {
            ErrorKind::AddrInUse => anyhow!("port {port} is in use: choose another with --payments-port"),
            _ => anyhow!("cannot listen on port {port} ({error}): choose another with --payments-port"),
        })?;
        let keys = Keys::random();
        // The stack creates the directory, before the provider first writes.
        let file = arguments.data.as_ref().map(|data| data.join(LEDGER));
        Ok(Self::Pretend { provider: PretendProvider::start(listener, keys.clone(), file.as_deref())?, keys })
    }

    pub(super) fn url(&self) -> &str {
        match self {
            Self::Pretend { provider, .. } => provider.url(),
            Self::Other { url, .. } => url,
        }
    }

    /// The provider, if it is the pretend one.
    pub(super) fn pretend(&self) -> Option<&PretendProvider> {
        match self {
            Self::Pretend { provider, .. } => Some(provider),
            Self::Other { .. } => None,
        }
    }

    /// The secret that the functions read.
    pub(super) fn secrets(&self) -> BTreeMap<String, String> {
        let (Self::Pretend { keys, .. } | Self::Other { keys, .. }) = self;
        BTreeMap::from([(PAYMENT_SECRET.to_owned(), keys.secret())])
    }

    /// Lets the pretend provider report to this stack.
    pub(super) fn send_webhooks_to(&mut self, stack: &Stack) {
        if let Self::Pretend { provider, .. } = self {
            provider.send_webhooks_to(&format!("{}/payment-events", stack.url()));
        }
    }
}

impl fmt::Display for Payments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pretend { provider, .. } => {
                write!(f, "Pretend payment provider at {}/ (no money moves)", provider.url())
            }
            Self::Other { url, .. } => write!(f, "Payment provider at {url}: let it report to /payment-events"),
        }
    }
}
