//! Keeps web pages away from the laptop's ports.
//!
//! Every port is on a loopback address. No other machine can reach it, but the browser on this machine can, for any
//! page that it shows. Such a page has two attacks:
//!
//! - **DNS rebinding.** The page lets its own name resolve to 127.0.0.1. The browser then treats the port as the page's
//!   own origin, and the page can read all answers, even a token. The browser still sends the page's name as `Host`, so
//!   a request is answered only if its `Host` is a loopback name or address; of a program it may be the name that
//!   containers have for this machine. Its port does not matter: a page cannot rebind a loopback name, and a tunnel in
//!   front of this port has another port.
//! - **Blind requests.** A form or a script sends a request whose answer it cannot read. The browser then names the
//!   page in `Origin`, or sends `Sec-Fetch-Site: cross-site`. Programs that are not browsers send neither.

use std::net::IpAddr;

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response as AxumResponse;
use serde_json::json;
use tokio::net::TcpListener;

use crate::problem::problem;

const DEFAULT_PORT: u16 = 80;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BrowserGuard {
    port: u16,
}

/// Why a request is not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// `Host` is missing, ambiguous, or no loopback name or address.
    Host,
    /// A page of another origin sent the request.
    Origin,
}

impl BrowserGuard {
    pub(crate) fn of(listener: &TcpListener) -> Result<Self> {
        Ok(Self { port: listener.local_addr().context("a listener has no address")?.port() })
    }

    /// Refuses a request to an AWS service on a laptop that comes from a web page. Functions in a container may call it.
    pub(crate) fn check(self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        check_name(uri, headers, names_of(headers))?;
        self.check_origin(headers)
    }

    /// Refuses a request whose `Host` is not a loopback name or address.
    pub(crate) fn check_host(uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        check_name(uri, headers, is_loopback)
    }

    /// Refuses a request from a page of another origin.
    pub(crate) fn check_origin(self, headers: &HeaderMap) -> Result<(), Refusal> {
        let is_own_origin = |origin: &HeaderValue| {
            let authority = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            authority.and_then(|authority| authority.parse().ok()).is_some_and(|authority| self.leads_here(&authority))
        };
        let is_own_site = |site: &HeaderValue| ["same-origin", "none"].iter().any(|own| site == own);
        let own = headers.get_all(header::ORIGIN).iter().all(is_own_origin)
            && headers.get_all("sec-fetch-site").iter().all(is_own_site);
        if own { Ok(()) } else { Err(Refusal::Origin) }
    }

    fn leads_here(self, authority: &Authority) -> bool {
        is_loopback(authority) && authority.port_u16().unwrap_or(DEFAULT_PORT) == self.port
    }

    /// Guards S3 likewise, but a page may show an image. It cannot read what it shows.
    pub(crate) fn protect_objects(self, service: Router) -> Router {
        service.layer(from_fn_with_state(self, pass_programs_and_images))
    }

    /// Guards an AWS service, so that only programs can call it.
    pub(crate) fn protect(self, service: Router) -> Router {
        service.layer(from_fn_with_state(self, pass_programs))
    }
}

/// Guards a service that stands beside the stack against pages that rebind their names. Pages of other origins may call
/// the service, as far as it answers them.
pub fn refuse_other_hosts(service: Router) -> Router {
    service.layer(from_fn(pass_local_hosts))
}

async fn pass_local_hosts(request: Request, next: Next) -> AxumResponse {
    match check_name(request.uri(), request.headers(), names_of(request.headers())) {
        Ok(()) => next.run(request).await,
        Err(refusal) => problem(refusal.status(), refusal.detail()),
    }
}

fn check_name(uri: &Uri, headers: &HeaderMap, is_own: fn(&Authority) -> bool) -> Result<(), Refusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let parsed = |host: &HeaderValue| host.to_str().ok().and_then(|host| host.parse().ok());
    let is_named = match ((hosts.next(), hosts.next()), uri.authority()) {
        ((Some(host), None), in_target) => {
            parsed(host).is_some_and(|host| is_own(&host)) && in_target.is_none_or(is_own)
        }
        // HTTP/2 has the host only in the target.
        ((None, _), Some(in_target)) => is_own(in_target),
        _ => false,
    };
    if is_named { Ok(()) } else { Err(Refusal::Host) }
}

/// The names that lead here. A network may answer for the name that containers use, and let a page rebind it. So this name
/// is for programs: a browser sends `Sec-Fetch-Site`.
fn names_of(headers: &HeaderMap) -> fn(&Authority) -> bool {
    if headers.contains_key("sec-fetch-site") { is_loopback } else { is_known_to_programs }
}

fn is_known_to_programs(authority: &Authority) -> bool {
    is_loopback(authority) || authority.host() == "host.docker.internal"
}

fn is_loopback(authority: &Authority) -> bool {
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    match host.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

async fn pass_programs(State(guard): State<BrowserGuard>, request: Request, next: Next) -> AxumResponse {
    match guard.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.of_aws(),
    }
}

async fn pass_programs_and_images(guard: State<BrowserGuard>, request: Request, next: Next) -> AxumResponse {
    let headers = request.headers();
    // An image that a script may read comes with an `Origin`.
    let is_shown = request.method() == Method::GET
        && headers.get("sec-fetch-dest").is_some_and(|dest| dest == "image")
        && !headers.contains_key(header::ORIGIN);
    if is_shown && BrowserGuard::check_host(request.uri(), headers).is_ok() {
        return next.run(request).await;
    }
    pass_programs(guard, request, next).await
}

impl Refusal {
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin => StatusCode::FORBIDDEN,
        }
    }

    pub(crate) fn detail(self) -> &'static str {
        match self {
            Self::Host => "Name localhost or 127.0.0.1 as the Host.",
            Self::Origin => "A page of another origin may not send this request.",
        }
    }

    /// The refusal in the format of an AWS service.
    pub(crate) fn of_aws<B: From<String>>(self) -> Response<B> {
        let body = json!({ "__type": "AccessDeniedException", "message": self.detail() }).to_string();
        let mut response = Response::new(body.into());
        *response.status_mut() = self.status();
        let json = HeaderValue::from_static("application/x-amz-json-1.0");
        response.headers_mut().insert(header::CONTENT_TYPE, json);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUARD: BrowserGuard = BrowserGuard { port: 3000 };

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let named = |name: &str| name.parse::<header::HeaderName>().unwrap();
        pairs.iter().map(|(name, value)| (named(name), value.parse().unwrap())).collect()
    }

    fn host(name: &str) -> Result<(), Refusal> {
        BrowserGuard::check_host(&Uri::from_static("/notes"), &headers(&[("host", name)]))
    }

    #[test]
    fn a_request_to_a_loopback_name_or_address_passes() {
        for name in [
            "localhost:3000",
            "LocalHost:3000",
            "127.0.0.1:3000",
            "127.1.2.3:3000",
            "[::1]:3000",
            "localhost:3001",
            "localhost",
        ] {
            assert_eq!(host(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn a_request_to_another_name_is_refused() {
        for name in [
            "evil.example:3000",
            "localhost.evil.example:3000",
            "evil.localhost:3000",
            "127.0.0.1.evil.example:3000",
            "10.0.0.1:3000",
            "[::2]:3000",
            "0.0.0.0:3000",
            "",
            "localhost:3000:3000",
            "a b",
        ] {
            assert_eq!(host(name), Err(Refusal::Host), "{name}");
        }
    }

    #[test]
    fn a_function_in_a_container_reaches_the_services_but_not_the_gateway_and_a_page_of_that_name_neither() {
        let (here, container) = (Uri::from_static("/"), ("host", "host.docker.internal:3000"));
        let page = headers(&[container, ("origin", "http://host.docker.internal:3000")]);
        assert_eq!(GUARD.check(&here, &headers(&[container])), Ok(()));
        assert_eq!(GUARD.check(&here, &page), Err(Refusal::Origin));
        let rebound = headers(&[container, ("sec-fetch-site", "same-origin")]);
        assert_eq!(GUARD.check(&here, &rebound), Err(Refusal::Host));
        assert_eq!(host("host.docker.internal:3000"), Err(Refusal::Host));
    }

    #[test]
    fn a_host_that_is_missing_or_contradicts_itself_is_refused() {
        let own = headers(&[("host", "localhost:3000")]);
        let mut twice = own.clone();
        twice.append(header::HOST, HeaderValue::from_static("evil.example:3000"));
        assert_eq!(BrowserGuard::check_host(&Uri::from_static("/"), &twice), Err(Refusal::Host));
        assert_eq!(BrowserGuard::check_host(&Uri::from_static("/"), &HeaderMap::new()), Err(Refusal::Host));
        assert_eq!(BrowserGuard::check_host(&Uri::from_static("http://evil.example:3000/"), &own), Err(Refusal::Host));
        assert_eq!(BrowserGuard::check_host(&Uri::from_static("http://localhost:3000/"), &own), Ok(()));
        assert_eq!(BrowserGuard::check_host(&Uri::from_static("http://localhost:3000/"), &HeaderMap::new()), Ok(()));
    }

    #[test]
    fn requests_from_programs_and_from_pages_of_this_port_pass() {
        for own in [
            &[][..],
            &[("origin", "http://localhost:3000")],
            &[("origin", "http://127.0.0.1:3000"), ("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
        ] {
            assert_eq!(GUARD.check_origin(&headers(own)), Ok(()), "{own:?}");
        }
    }

    #[test]
    fn a_request_from_a_page_of_another_origin_is_refused() {
        for foreign in [
            ("origin", "https://evil.example"),
            ("origin", "http://evil.example:3000"),
            ("origin", "http://localhost:3001"),
            ("origin", "https://localhost:3000"),
            ("origin", "null"),
            ("origin", ""),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            assert_eq!(GUARD.check_origin(&headers(&[foreign])), Err(Refusal::Origin), "{foreign:?}");
        }
    }
}
