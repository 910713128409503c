//! A shared cache between clients and the gateway, as a content delivery network is one.
//!
//! It decides by the headers of requests and answers alone: `http-cache-semantics` implements RFC 9111. Concurrent
//! requests for one page wait for one request to the gateway. It passes on the caller's token, so only the answers'
//! headers keep a private answer out of it.

use std::collections::BTreeMap;
use std::io::Error as Cut;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use devstack::fault_proxy::serve_or_cut;
use devstack::forward;
use http_body_util::{BodyExt as _, Full};
use http_cache_semantics::{AfterResponse, BeforeRequest, CachePolicy};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use hyper::{Method, Request, Response, StatusCode};
use reqwest::Client as Http;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The header that says whether the gateway was asked.
pub const VERDICT: &str = "x-cache";

/// An edge in front of one gateway. It stops when it is dropped.
pub struct Edge {
    url: String,
    cache: Arc<Cache>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Requests that were answered without the gateway.
    pub hits: u64,
    /// Requests that reached the gateway.
    pub forwarded: u64,
    /// Those of them that the gateway answered with 304.
    pub revalidated: u64,
    /// The longest time that the gateway took for an answer.
    pub longest: Duration,
}

struct Cache {
    http: Http,
    origin: String,
    /// The stored answers by path and query.
    pages: Mutex<BTreeMap<String, Page>>,
    counts: Mutex<Counts>,
}

/// The place of one answer. Whoever asks the gateway for it holds the lock.
type Page = Arc<tokio::sync::Mutex<Option<Stored>>>;

struct Stored {
    policy: CachePolicy,
    body: Bytes,
}

impl Edge {
    /// Starts an empty edge in front of the gateway at this base URL.
    pub async fn of(origin: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let http = Http::builder().no_proxy().build().expect("a client");
        let cache = Cache { http, origin: origin.to_owned(), pages: Mutex::default(), counts: Mutex::default() };
        let cache = Arc::new(cache);
        let serving = Arc::clone(&cache);
        let pass = move |request| {
            let cache = Arc::clone(&serving);
            async move { cache.answer(request).await }
        };
        let accepting = tokio::spawn(serve_or_cut(listener, pass));
        Self { url, cache, accepting }
    }

    /// The base URL for clients.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What this edge did so far.
    pub fn counts(&self) -> Counts {
        self.cache.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The paths and queries of the answers that are stored.
    pub async fn stored(&self) -> Vec<String> {
        let pages = self.cache.pages().clone();
        let mut stored = Vec::new();
        for (path, page) in pages {
            if page.lock().await.is_some() {
                stored.push(path);
            }
        }
        stored
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Cache {
    fn pages(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Page>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Answers one request; an error cuts the connection.
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Cut> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(Cut::other)?.to_bytes();
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let mut request = Request::from_parts(head, ());
        if request.method() != Method::GET {
            let answer = self.forward(request.method().clone(), &path, request.headers(), body).await?;
            return Ok(told(answer, "pass"));
        }
        // A client's condition is about the client's own copy.
        let condition = request.headers_mut().remove(IF_NONE_MATCH);
        let page = Arc::clone(self.pages().entry(path.clone()).or_default());
        // Requests for the same page wait here for the one that asks the gateway.
        let mut stored = page.lock().await;
        let headers = match stored.as_ref().map(|stored| stored.policy.before_request(&request, SystemTime::now())) {
            Some(BeforeRequest::Fresh(head)) => {
                self.count(|counts| counts.hits += 1);
                let body = stored.as_ref().map(|stored| stored.body.clone()).unwrap_or_default();
                return Ok(told(for_client(condition.as_ref(), Response::from_parts(head, body)), "hit"));
            }
            Some(BeforeRequest::Stale { request, .. }) => request.headers,
            None => request.headers().clone(),
        };
        let began = Instant::now();
        let fresh = self.forward(Method::GET, &path, &headers, Bytes::new()).await?;
        let now = SystemTime::now();
        let answer = if let Some(old) = stored.take() {
            match old.policy.after_response(&request, &fresh, now) {
                AfterResponse::NotModified(policy, head) => {
                    self.count(|counts| counts.revalidated += 1);
                    *stored = Some(Stored { policy, body: old.body.clone() });
                    Response::from_parts(head, old.body)
                }
                AfterResponse::Modified(policy, _) => {
                    *stored = keep(policy, &fresh);
                    fresh
                }
            }
        } else {
            *stored = keep(CachePolicy::new(&request, &fresh), &fresh);
            fresh
        };
        self.count(|counts| counts.longest = counts.longest.max(began.elapsed()));
        Ok(told(for_client(condition.as_ref(), answer), "miss"))
    }

    async fn forward(
        &self,
        method: Method,
        path: &str,
        headers: &HeaderMap,
        body: Bytes,
    ) -> Result<Response<Bytes>, Cut> {
        let url = format!("{}{path}", self.origin);
        let answer = forward(&self.http, method, url, headers, body).await.map_err(Cut::other)?;
        self.count(|counts| counts.forwarded += 1);
        Ok(answer)
    }
}

fn keep(policy: CachePolicy, answer: &Response<Bytes>) -> Option<Stored> {
    policy.is_storable().then(|| Stored { policy, body: answer.body().clone() })
}

/// 304 if the client has this answer already.
fn for_client(condition: Option<&HeaderValue>, answer: Response<Bytes>) -> Response<Bytes> {
    let text = |value: Option<&HeaderValue>| value.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (condition, tag) = (text(condition), text(answer.headers().get(ETAG)));
    let has = !tag.is_empty() && condition.split(',').any(|known| known.trim() == tag);
    if !has || answer.status() != StatusCode::OK {
        return answer;
    }
    let (mut head, _) = answer.into_parts();
    head.status = StatusCode::NOT_MODIFIED;
    head.headers.remove(CONTENT_TYPE);
    Response::from_parts(head, Bytes::new())
}

fn told(answer: Response<Bytes>, verdict: &'static str) -> Response<Full<Bytes>> {
    let mut answer = answer.map(Full::new);
    answer.headers_mut().insert(VERDICT, HeaderValue::from_static(verdict));
    answer
}
