//! A proxy on the wire between two HTTP services. While it is faulty, it cuts, delays, doubles and reorders requests.
//!
//! The fault proxy of the devstack is for AWS's JSON protocols. This one passes any request, and knows no content.

use std::io::Error as Cut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use devstack::fault_proxy::serve_or_cut;
use devstack::forward;
use fastrand::Rng;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use reqwest::Client as Http;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A proxy in front of one service. It stops when it is dropped.
pub struct Wire {
    url: String,
    line: Arc<Line>,
    accepting: JoinHandle<()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The connection is cut before the request reaches the service.
    CutBefore,
    /// The connection is cut after the service answered.
    CutAfter,
    /// The connection is cut, and the request reaches the service after this time.
    Late(Duration),
    /// The request is delayed by this time. So requests that are sent side by side arrive in another order.
    Delay(Duration),
    /// The request reaches the service twice at once.
    Twice,
    /// The request reaches the service, and again after this time.
    Again(Duration),
    /// The service says that it is unavailable, and does nothing.
    Unavailable,
}

impl Fault {
    /// A random fault. The longest times are longer than most retries take.
    fn any(random: &mut Rng) -> Self {
        let mut time = |most: u64| Duration::from_millis(random.u64(0..most));
        let times = [time(400), time(150), time(600)];
        match random.u8(0..8) {
            0 => Self::CutBefore,
            1 => Self::CutAfter,
            2 => Self::Late(times[0]),
            3 | 4 => Self::Delay(times[1]),
            5 => Self::Twice,
            6 => Self::Again(times[2]),
            _ => Self::Unavailable,
        }
    }
}

struct Line {
    http: Http,
    upstream: String,
    /// The share of requests that suffer a fault, while the wire is faulty.
    faults: Mutex<Option<(f64, Rng)>>,
    under_way: AtomicUsize,
    suffered: AtomicUsize,
    /// The statuses of all answers of the service.
    statuses: Mutex<Vec<u16>>,
}

/// A request as it came.
#[derive(Clone)]
struct Sent {
    method: Method,
    path: String,
    headers: HeaderMap,
    body: Bytes,
}

impl Wire {
    /// Starts a wire without faults to the service at this base URL.
    pub async fn to(upstream: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let http = Http::builder().no_proxy().build().expect("a client");
        let line = Arc::new(Line {
            http,
            upstream: upstream.to_owned(),
            faults: Mutex::new(None),
            under_way: AtomicUsize::default(),
            suffered: AtomicUsize::default(),
            statuses: Mutex::default(),
        });
        let passing = Arc::clone(&line);
        let pass = move |request| {
            let line = Arc::clone(&passing);
            async move { line.pass(request).await }
        };
        let accepting = tokio::spawn(serve_or_cut(listener, pass));
        Self { url, line, accepting }
    }

    /// The base URL for clients.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// From now on this share of the requests suffers a fault. The seed and the sequence of the requests determine which.
    pub fn fail(&self, share: f64, seed: u64) {
        *self.line.faults() = Some((share, Rng::with_seed(seed)));
    }

    /// From now on every request passes.
    pub fn heal(&self) {
        *self.line.faults() = None;
    }

    /// Whether no request is under way, including those that nobody waits for.
    pub fn is_idle(&self) -> bool {
        self.line.under_way.load(Ordering::SeqCst) == 0
    }

    /// The statuses of all answers of the service, in the sequence in which they came.
    pub fn statuses(&self) -> Vec<u16> {
        self.line.statuses.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The number of requests that suffered a fault.
    pub fn suffered(&self) -> usize {
        self.line.suffered.load(Ordering::SeqCst)
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Line {
    fn faults(&self) -> std::sync::MutexGuard<'_, Option<(f64, Rng)>> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_fault(&self) -> Option<Fault> {
        let mut faults = self.faults();
        let (share, random) = faults.as_mut()?;
        let fault = (random.f64() < *share).then(|| Fault::any(random));
        self.suffered.fetch_add(usize::from(fault.is_some()), Ordering::SeqCst);
        fault
    }

    /// Passes one request on; an error cuts the connection.
    async fn pass(self: &Arc<Self>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Cut> {
        let _under_way = UnderWay::begin(self);
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(Cut::other)?.to_bytes();
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        let sent = Sent { method: head.method, path, headers: head.headers, body };
        let cut = || Cut::other("the wire is cut");
        match self.next_fault() {
            None => self.forward(sent).await,
            Some(Fault::CutBefore) => Err(cut()),
            Some(Fault::CutAfter) => {
                self.forward(sent).await?;
                Err(cut())
            }
            Some(Fault::Late(time)) => {
                self.forward_later(sent, time);
                Err(cut())
            }
            Some(Fault::Delay(time)) => {
                tokio::time::sleep(time).await;
                self.forward(sent).await
            }
            Some(Fault::Twice) => {
                let (first, second) = tokio::join!(self.forward(sent.clone()), self.forward(sent));
                first.and(second)
            }
            Some(Fault::Again(time)) => {
                let first = self.forward(sent.clone()).await;
                self.forward_later(sent, time);
                first
            }
            Some(Fault::Unavailable) => {
                let mut answer = Response::new(Full::from("{}"));
                *answer.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                Ok(answer)
            }
        }
    }

    /// Forwards a request after this time. Nobody waits for the answer.
    fn forward_later(self: &Arc<Self>, sent: Sent, time: Duration) {
        let under_way = UnderWay::begin(self);
        tokio::spawn(async move {
            tokio::time::sleep(time).await;
            _ = under_way.0.forward(sent).await;
        });
    }

    async fn forward(&self, sent: Sent) -> Result<Response<Full<Bytes>>, Cut> {
        let Sent { method, path, headers, body } = sent;
        let url = format!("{}{path}", self.upstream);
        let answer = forward(&self.http, method, url, &headers, body).await.map_err(Cut::other)?;
        self.statuses.lock().unwrap_or_else(PoisonError::into_inner).push(answer.status().as_u16());
        Ok(answer.map(Full::from))
    }
}

struct UnderWay(Arc<Line>);

impl UnderWay {
    fn begin(line: &Arc<Line>) -> Self {
        line.under_way.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(line))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}
