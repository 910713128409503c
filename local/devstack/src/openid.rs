//! Access tokens of an OpenID Connect issuer, which the gateway verifies as API Gateway's JWT authorizer does.
//!
//! The issuer's keys are read once at the start, and again if a token names a key that is not among them. Unlike API
//! Gateway, which accepts RSA keys alone, this also accepts ES256.

use std::time::{Duration, Instant};

use anyhow::{Context, Error, Result, ensure};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::RwLock;

use crate::option_error::OptionError;
use crate::{signatures, token};

/// The longest wait for an answer of the issuer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The shortest time between two reads of the keys. Otherwise, each token with an invented key would cause one.
const BETWEEN_READS: Duration = Duration::from_secs(1);

pub(crate) struct OpenIdIssuer {
    url: String,
    audience: String,
    keys_url: String,
    keys: RwLock<Keys>,
    rules: Validation,
    http: Http,
}

struct Keys {
    set: JwkSet,
    read_at: Instant,
}

/// What `/.well-known/openid-configuration` says.
#[derive(Deserialize)]
struct Configuration {
    issuer: String,
    jwks_uri: String,
}

impl OpenIdIssuer {
    /// Reads the configuration and the keys of the issuer at this URL.
    pub(crate) async fn discover(url: &str, audience: &str) -> Result<Self> {
        signatures::install();
        let http = Http::new()?;
        let well_known = format!("{}/.well-known/openid-configuration", url.trim_end_matches('/'));
        let unreadable = |url: &str, error: Error| {
            OptionError::new("issuer", format!("cannot read {url}: name an OpenID Connect issuer")).caused_by(error)
        };
        let configuration = http.get(&well_known).await.map_err(|error| unreadable(&well_known, error))?;
        let Configuration { issuer, jwks_uri } = configuration;
        ensure!(
            issuer == url,
            "{well_known} is the configuration of the issuer {issuer}: its tokens name that one, so give that URL"
        );
        let set = http.get(&jwks_uri).await.map_err(|error| unreadable(&jwks_uri, error))?;
        Ok(Self {
            url: issuer,
            audience: audience.to_owned(),
            keys_url: jwks_uri,
            keys: RwLock::new(Keys { set, read_at: Instant::now() }),
            rules: token::rules(&[Algorithm::RS256, Algorithm::ES256], url),
            http,
        })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The claims of a token that this issuer issued for this API and that is valid now.
    pub(crate) async fn verify(&self, token: &str) -> Option<Map<String, Value>> {
        let header = jsonwebtoken::decode_header(token).ok()?;
        if !self.rules.algorithms.contains(&header.alg) {
            return None;
        }
        let key = self.key(&header.kid?).await?;
        let mut rules = self.rules.clone();
        rules.algorithms = vec![header.alg];
        token::verify(token, &key, &rules, &self.audience)
    }

    async fn key(&self, id: &str) -> Option<DecodingKey> {
        if let Some(known) = self.keys.read().await.set.find(id) {
            return DecodingKey::from_jwk(known).ok();
        }
        let mut keys = self.keys.write().await;
        if keys.read_at.elapsed() >= BETWEEN_READS {
            keys.read_at = Instant::now();
            match self.http.get(&self.keys_url).await {
                Ok(set) => keys.set = set,
                Err(error) => tracing::warn!("cannot read {}: {error:#}", self.keys_url),
            }
        }
        DecodingKey::from_jwk(keys.set.find(id)?).ok()
    }
}

/// A client for HTTPS, and for HTTP on this machine. `reqwest` has no TLS here, because each of its clients would load
/// the certificates of the system, also for the calls within the stack.
struct Http(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

impl Http {
    fn new() -> Result<Self> {
        let provider = rustls::crypto::ring::default_provider();
        let connector = HttpsConnectorBuilder::new().with_provider_and_native_roots(provider);
        let connector = connector.context("cannot read the certificates of this system")?;
        let connector = connector.https_or_http().enable_http1().build();
        Ok(Self(Client::builder(TokioExecutor::new()).build(connector)))
    }

    async fn get<T: DeserializeOwned>(&self, url: &str) -> Result<T> {
        let read = async {
            let answer = self.0.get(url.parse().context("this is not a URL")?).await?;
            ensure!(answer.status().is_success(), "the status is {}", answer.status());
            let body = answer.into_body().collect().await?.to_bytes();
            serde_json::from_slice(&body).context("the body is not what OpenID Connect expects")
        };
        let read = tokio::time::timeout(PATIENCE, read).await;
        read.with_context(|| format!("no answer in {} s", PATIENCE.as_secs()))?
    }
}

#[cfg(test)]
#[path = "openid_tests/mod.rs"]
mod tests;
