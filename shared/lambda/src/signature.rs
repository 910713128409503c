//! The signatures of requests to AWS, with a signing key that is kept for its day.
//!
//! The SDK derives the key anew for each request, and clones, sorts and formats every header more than once. Here the key
//! is derived once a day by the SDK's own function, and the request is hashed as it is. What the signature covers is the
//! same, byte for byte; a property test compares both.
//!
//! Only the requests that functions usually send are signed here: the first attempt of a POST to the root of a service,
//! whose body is in memory. The SDK's signer signs all others, retries among them, because it knows by how much the
//! service's clock differs.
//!
//! Rules: <https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html>.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_runtime::auth::sigv4::{SCHEME_ID, SigV4Signer};
use aws_runtime::auth::{
    HttpSignatureType, PayloadSigningOverride, SigV4OperationSigningConfig, SigV4SessionTokenNameOverride,
};
use aws_runtime::content_encoding::DeferredSignerSender;
use aws_sigv4::sign::v4::generate_signing_key;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::auth::{AuthScheme, AuthSchemeEndpointConfig, AuthSchemeId, Sign};
use aws_smithy_runtime_api::client::identity::{Identity, SharedIdentityResolver};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::retries::RequestAttempts;
use aws_smithy_runtime_api::client::runtime_components::{GetIdentityResolver, RuntimeComponents};
use aws_smithy_types::config_bag::ConfigBag;
use aws_types::SigningName;
use aws_types::region::SigningRegion;
use jiff::Timestamp;
use ring::{digest, hmac};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
const DATE: &str = "x-amz-date";
const TOKEN: &str = "x-amz-security-token";
const AUTHORIZATION: &str = "authorization";

/// Headers that a signature does not cover, because they may change on the way: those that the SDK leaves out.
const NOT_COVERED: [&str; 4] = [AUTHORIZATION, "user-agent", "x-amzn-trace-id", "transfer-encoding"];

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// The scheme `sigv4` of a client, instead of the SDK's: `Config::builder().push_auth_scheme(SigV4::default())`.
#[derive(Debug, Default)]
pub struct SigV4(Signer);

impl AuthScheme for SigV4 {
    fn scheme_id(&self) -> AuthSchemeId {
        SCHEME_ID
    }

    fn identity_resolver(&self, resolvers: &dyn GetIdentityResolver) -> Option<SharedIdentityResolver> {
        resolvers.identity_resolver(SCHEME_ID)
    }

    fn signer(&self) -> &dyn Sign {
        &self.0
    }
}

#[derive(Debug, Default)]
struct Signer {
    /// The key that signed last.
    key: Mutex<Option<Arc<Key>>>,
    /// Signs what is not usual.
    sdk: SigV4Signer,
}

/// A signing key, and what it is for.
#[derive(Debug)]
struct Key {
    /// The owner. Its secret is not shown by `Debug`.
    credentials: Credentials,
    /// Days since 1970.
    day: u64,
    region: String,
    service: String,
    /// The day as `20261125`.
    date: String,
    /// `<date>/<region>/<service>/aws4_request`
    scope: String,
    hmac: hmac::Key,
}

/// The headers that make a request a signed one.
#[derive(Debug, PartialEq, Eq)]
struct Signature {
    date_time: String,
    authorization: String,
}

impl Sign for Signer {
    fn sign_http_request(
        &self,
        request: &mut HttpRequest,
        identity: &Identity,
        endpoint: AuthSchemeEndpointConfig<'_>,
        components: &RuntimeComponents,
        config: &ConfigBag,
    ) -> Result<(), BoxError> {
        let usual = identity.data::<Credentials>().zip(usual(&endpoint, config));
        let signed = usual.and_then(|(credentials, (region, service))| {
            let now = components.time_source().unwrap_or_default().now();
            let signature = self.key(credentials, region, service, now)?.sign(request, now)?;
            Some((signature, credentials.session_token()))
        });
        let Some((Signature { date_time, authorization }, token)) = signed else {
            return self.sdk.sign_http_request(request, identity, endpoint, components, config);
        };
        let headers = request.headers_mut();
        headers.try_insert(DATE, date_time)?;
        headers.try_insert(AUTHORIZATION, authorization)?;
        if let Some(token) = token {
            headers.try_insert(TOKEN, token.to_owned())?;
        }
        Ok(())
    }
}

/// The region and the name that the request is signed for, unless something about the signature is unusual.
fn usual<'a>(endpoint: &AuthSchemeEndpointConfig<'_>, config: &'a ConfigBag) -> Option<(&'a str, &'a str)> {
    let is_first = config.load::<RequestAttempts>().is_some_and(|attempts| attempts.attempts() == 1);
    let of_endpoint = ["signingName", "signingRegion", "disableDoubleEncoding", "disableNormalizePath"];
    let is_changed = of_endpoint.iter().any(|key| endpoint.get(key).is_some())
        || config.load::<PayloadSigningOverride>().is_some()
        || config.load::<SigV4SessionTokenNameOverride>().is_some()
        || config.load::<DeferredSignerSender>().is_some();
    let operation = config.load::<SigV4OperationSigningConfig>()?;
    let options = &operation.signing_options;
    let is_plain = options.signature_type == HttpSignatureType::HttpRequestHeaders
        && options.payload_override.is_none()
        && options.expires_in.is_none()
        && !options.content_sha256_header
        && !options.omit_session_token;
    if !is_first || is_changed || !is_plain {
        return None;
    }
    let region = config.load::<SigningRegion>().or(operation.region.as_ref())?;
    let service = config.load::<SigningName>().or(operation.name.as_ref())?;
    Some((region.as_ref(), service.as_ref()))
}

impl Signer {
    /// The key of this day, derived if it is not the one that signed last.
    fn key(&self, credentials: &Credentials, region: &str, service: &str, now: SystemTime) -> Option<Arc<Key>> {
        let day = now.duration_since(UNIX_EPOCH).ok()?.as_secs() / SECONDS_OF_A_DAY;
        let mut last = self.key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = last.as_ref().filter(|key| key.is_for(credentials, region, service, day)) {
            return Some(Arc::clone(key));
        }
        let key = Arc::new(Key::new(credentials, region, service, day)?);
        *last = Some(Arc::clone(&key));
        Some(key)
    }
}

impl Key {
    /// `None` if the day cannot be written.
    fn new(credentials: &Credentials, region: &str, service: &str, day: u64) -> Option<Self> {
        let seconds = day * SECONDS_OF_A_DAY;
        let start = UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        let date = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?.strftime("%Y%m%d").to_string();
        let key = generate_signing_key(credentials.secret_access_key(), start, region, service);
        Some(Self {
            credentials: credentials.clone(),
            day,
            region: region.to_owned(),
            service: service.to_owned(),
            scope: format!("{date}/{region}/{service}/aws4_request"),
            date,
            hmac: hmac::Key::new(hmac::HMAC_SHA256, key.as_ref()),
        })
    }

    fn is_for(&self, credentials: &Credentials, region: &str, service: &str, day: u64) -> bool {
        self.day == day
            && self.region == region
            && self.service == service
            && self.credentials.access_key_id() == credentials.access_key_id()
            && self.credentials.secret_access_key() == credentials.secret_access_key()
            && self.credentials.session_token() == credentials.session_token()
    }

    /// The signature of this request now. `None` if the request is not a usual one.
    fn sign(&self, request: &HttpRequest, now: SystemTime) -> Option<Signature> {
        let host = host_of_root(request.uri())?;
        let body = request.body().bytes()?;
        if request.method() != "POST" {
            return None;
        }
        let second = now.duration_since(UNIX_EPOCH).ok()?.as_secs().checked_sub(self.day * SECONDS_OF_A_DAY)?;
        let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
        let date_time = format!("{}T{hours:02}{minutes:02}{seconds:02}Z", self.date);

        let mut headers = Vec::with_capacity(8);
        headers.extend([("host", host), (DATE, &date_time)]);
        headers.extend(self.credentials.session_token().map(|token| (TOKEN, token)));
        headers.extend(request.headers().iter().filter(|(name, _)| !NOT_COVERED.contains(name)));
        if !headers.iter().all(|(_, value)| is_canonical(value)) {
            return None;
        }
        headers.sort_unstable_by_key(|&(name, _)| name);
        if headers.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }

        let mut names = String::with_capacity(96);
        let mut canonical = String::with_capacity(512 + self.credentials.session_token().map_or(0, str::len));
        canonical.push_str("POST\n/\n\n");
        for &(name, value) in &headers {
            for part in [name, ":", value, "\n"] {
                canonical.push_str(part);
            }
            if !names.is_empty() {
                names.push(';');
            }
            names.push_str(name);
        }
        for part in ["\n", &names, "\n"] {
            canonical.push_str(part);
        }
        push_hex(&mut canonical, digest::digest(&digest::SHA256, body).as_ref());

        let mut to_sign = format!("{ALGORITHM}\n{date_time}\n{}\n", self.scope);
        push_hex(&mut to_sign, digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let access_key = self.credentials.access_key_id();
        let mut authorization =
            format!("{ALGORITHM} Credential={access_key}/{}, SignedHeaders={names}, Signature=", self.scope);
        push_hex(&mut authorization, hmac::sign(&self.hmac, to_sign.as_bytes()).as_ref());
        Some(Signature { date_time, authorization })
    }
}

/// The host, and the port if there is one, of a URL that has neither path nor query.
fn host_of_root(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.strip_suffix('/').unwrap_or(rest);
    // A header `host` has no port that the scheme implies, and no user.
    let default_port = if scheme == "https" { ":443" } else { ":80" };
    let is_plain = !host.is_empty() && !host.contains(['/', '?', '#', '@']) && !host.ends_with(default_port);
    is_plain.then_some(host)
}

/// Whether a header's value is covered as it is: it has no spaces to be removed.
fn is_canonical(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_allowed = bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    is_allowed && !value.starts_with(' ') && !value.ends_with(' ') && !bytes.windows(2).any(|pair| pair == b"  ")
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
