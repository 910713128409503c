use std::time::Duration;

use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningParams, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_smithy_types::body::SdkBody;
use proptest::prelude::*;

use super::*;

const DYNAMODB: &str = "https://dynamodb.eu-west-1.amazonaws.com/";

fn credentials(token: Option<String>) -> Credentials {
    Credentials::new("AKIAEXAMPLE", "a/secret+key", token, None, "test")
}

fn request(url: &str, headers: &[(String, String)], body: &[u8]) -> HttpRequest {
    let mut request = HttpRequest::new(SdkBody::from(body));
    request.set_method("POST").expect("a method");
    request.set_uri(url.to_owned()).expect("a URL");
    for (name, value) in headers {
        request.headers_mut().try_append(name.clone(), value.clone()).expect("a header");
    }
    request
}

/// What the SDK adds to the request: name and value of each header.
fn of_sdk(
    request: &HttpRequest,
    credentials: &Credentials,
    (region, service): (&str, &str),
    now: SystemTime,
) -> Vec<(String, String)> {
    let identity = credentials.clone().into();
    let params = v4::SigningParams::builder().identity(&identity).region(region).name(service).time(now);
    let params = params.settings(SigningSettings::default()).build().expect("all is set");
    let body = SignableBody::Bytes(request.body().bytes().expect("a body in memory"));
    let signable = SignableRequest::new(request.method(), request.uri(), request.headers().iter(), body);
    let signed = sign(signable.expect("it can be signed"), &SigningParams::V4(params)).expect("a signature");
    let (headers, _) = signed.into_parts().0.into_parts();
    headers.iter().map(|header| (header.name().to_owned(), header.value().to_owned())).collect()
}

proptest! {
    #[test]
    fn a_signature_is_the_sdk_s_byte_for_byte(
        host in "[a-z0-9.-]{1,40}(:[1-9][0-9]{3})?",
        region in "[a-z]{2}-[a-z]{4,9}-[1-9]",
        service in "[a-z]{2,12}",
        headers in prop::collection::btree_map("[a-z][a-z0-9-]{0,20}", "([!-~]{1,30}( [!-~]{1,30}){0,3})?", 0..8),
        body in prop::collection::vec(any::<u8>(), 0..3000),
        token in prop::option::of("[A-Za-z0-9+/=]{1,1000}"),
        seconds in 0u64..4_000_000_000,
        nanoseconds in 0u32..1_000_000_000,
    ) {
        let (url, now) = (format!("https://{host}/"), UNIX_EPOCH + Duration::new(seconds, nanoseconds));
        let headers: Vec<_> = headers.into_iter().filter(|(name, _)| !["host", DATE, TOKEN].contains(&name.as_str())).collect();
        let (request, credentials) = (request(&url, &headers, &body), credentials(token));
        let signer = Signer::default();
        let key = signer.key(&credentials, &region, &service, now).expect("a key");
        let Signature { date_time, authorization } = key.sign(&request, now).expect("it is a usual request");
        let mut signed = vec![(DATE.to_owned(), date_time), (AUTHORIZATION.to_owned(), authorization)];
        signed.extend(credentials.session_token().map(|token| (TOKEN.to_owned(), token.to_owned())));
        prop_assert_eq!(signed, of_sdk(&request, &credentials, (&region, &service), now));
    }
}

#[test]
fn headers_that_change_on_the_way_are_not_covered() {
    let headers = NOT_COVERED.map(|name| (name.to_owned(), "any".to_owned()));
    let (request, credentials, now) = (request(DYNAMODB, &headers, b"{}"), credentials(None), SystemTime::now());
    let key = Signer::default().key(&credentials, "eu-west-1", "dynamodb", now).expect("a key");
    let signature = key.sign(&request, now).expect("it is a usual request");
    assert!(signature.authorization.contains("SignedHeaders=host;x-amz-date, "), "{signature:?}");
    let of_sdk = of_sdk(&request, &credentials, ("eu-west-1", "dynamodb"), now);
    assert_eq!(of_sdk[1].1, signature.authorization);
}

#[test]
fn a_key_is_kept_until_its_day_its_owner_or_its_service_changes() {
    let (signer, midnight) = (Signer::default(), UNIX_EPOCH + Duration::from_secs(20_000 * SECONDS_OF_A_DAY));
    let second = Duration::from_secs(1);
    let (ours, others) = (credentials(None), Credentials::new("AKIAEXAMPLE", "another", None, None, "test"));
    let key =
        |credentials: &Credentials, service, now| signer.key(credentials, "eu-west-1", service, now).expect("a key");
    let first = key(&ours, "dynamodb", midnight);
    assert!(Arc::ptr_eq(&first, &key(&ours, "dynamodb", midnight + Duration::from_secs(SECONDS_OF_A_DAY) - second)));
    for changed in [
        key(&ours, "dynamodb", midnight + Duration::from_secs(SECONDS_OF_A_DAY)),
        key(&ours, "dynamodb", midnight - second),
        key(&others, "dynamodb", midnight),
        key(&credentials(Some("a token".to_owned())), "dynamodb", midnight),
        key(&ours, "sqs", midnight),
    ] {
        assert!(!Arc::ptr_eq(&first, &changed));
    }
}

#[test]
fn an_unusual_request_is_left_to_the_sdk() {
    let (credentials, now) = (credentials(None), SystemTime::now());
    let key = Signer::default().key(&credentials, "eu-west-1", "dynamodb", now).expect("a key");
    let header = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
    let long_path = format!("{DYNAMODB}path");
    for unusual in [
        request(&long_path, &[], b""),
        request("https://dynamodb.eu-west-1.amazonaws.com/?query", &[], b""),
        request("https://dynamodb.eu-west-1.amazonaws.com:443/", &[], b""),
        request(DYNAMODB, &header("a", "two  spaces"), b""),
        request(DYNAMODB, &header("a", " before"), b""),
        request(DYNAMODB, &header("host", "of the caller"), b""),
        request(DYNAMODB, &[header("a", "1"), header("a", "2")].concat(), b""),
    ] {
        assert_eq!(key.sign(&unusual, now), None, "{unusual:?}");
    }
    let mut get = request(DYNAMODB, &[], b"");
    get.set_method("GET").expect("a method");
    assert_eq!(key.sign(&get, now), None);
    assert!(key.sign(&request(DYNAMODB, &[], b""), now).is_some());
}

#[test]
fn a_secret_is_not_shown() {
    let signer = Signer::default();
    signer.key(&credentials(Some("a token".to_owned())), "eu-west-1", "dynamodb", SystemTime::now()).expect("a key");
    let shown = format!("{signer:?}");
    assert!(!shown.contains("a/secret+key") && !shown.contains("a token"), "{shown}");
}
