//! Signatures, and the addresses of objects.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings, UriPathNormalizationMode,
    sign,
};
use aws_sigv4::sign::v4;
use aws_smithy_runtime_api::client::identity::Identity;
use lambda::{Environment, Misconfigured};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

use crate::Error;

/// The characters of a key that an address has as they are, next to letters and digits.
const KEY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// The characters of a query's value that an address has as they are.
const VALUE: &AsciiSet = &KEY.add(b'/');

/// Signs requests to one bucket.
#[derive(Clone, Debug)]
pub(crate) struct Signer {
    /// The URL of the bucket, without a final slash.
    base: String,
    region: String,
    identity: Identity,
}

impl Signer {
    pub(crate) fn new(environment: &Environment, bucket: &str) -> Result<Self, Misconfigured> {
        let region = environment.required("AWS_REGION")?.to_owned();
        let endpoint = environment.optional("AWS_ENDPOINT_URL_S3").or(environment.optional("AWS_ENDPOINT_URL"));
        let base = match endpoint {
            Some(endpoint) => format!("{}/{bucket}", endpoint.trim_end_matches('/')),
            None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
        };
        let credentials = Credentials::new(
            environment.required("AWS_ACCESS_KEY_ID")?,
            environment.required("AWS_SECRET_ACCESS_KEY")?,
            environment.optional("AWS_SESSION_TOKEN").map(str::to_owned),
            None,
            "environment",
        );
        Ok(Self { base, region, identity: credentials.into() })
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// The headers of a signed request: those of the request and those of the signature.
    pub(crate) fn headers(
        &self,
        method: &str,
        path: &str,
        mut headers: Vec<(String, String)>,
        body: &[u8],
    ) -> Result<Vec<(String, String)>, Error> {
        let invalid = |error: &dyn std::fmt::Display| Error::Invalid(format!("a request cannot be signed: {error}"));
        let mut settings = SigningSettings::default();
        // S3 signs paths as they are sent.
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        let parameters = v4::SigningParams::builder()
            .identity(&self.identity)
            .region(&self.region)
            .name("s3")
            .time(SystemTime::now())
            .settings(settings)
            .build()
            .map_err(|error| invalid(&error))?;
        let uri = format!("{}{path}", self.base);
        let own = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let request =
            SignableRequest::new(method, uri, own, SignableBody::Bytes(body)).map_err(|error| invalid(&error))?;
        let signed = sign(request, &parameters.into()).map_err(|error| invalid(&error))?;
        let (added, _) = signed.into_parts().0.into_parts();
        headers.extend(added.iter().map(|header| (header.name().to_owned(), header.value().to_owned())));
        Ok(headers)
    }
}

/// The path of an object below its bucket.
pub(crate) fn path(key: &str) -> String {
    format!("/{}", percent_encode(key.as_bytes(), KEY))
}

/// A query, without its question mark.
pub(crate) fn encode(query: &[(String, String)]) -> String {
    let encoded = query.iter().map(|(name, value)| format!("{name}={}", percent_encode(value.as_bytes(), VALUE)));
    encoded.collect::<Vec<_>>().join("&")
}
