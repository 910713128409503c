//! Signatures, and the addresses of objects.

use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SignatureLocation, SigningSettings,
    UriPathNormalizationMode, sign,
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

/// Signs requests to one bucket, and URLs of its objects.
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
        let base = bucket_url(environment, bucket)?;
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

    /// The headers of a signed request, with `headers`.
    pub(crate) fn headers(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Vec<(String, String)>, Error> {
        let (added, _) = self.sign(method, path, headers, SignableBody::Bytes(body), None)?;
        Ok([headers.to_vec(), added].concat())
    }

    /// A signed URL, which is valid for this time. Whoever uses it must send exactly these headers.
    pub(crate) fn url(
        &self,
        method: &str,
        key: &str,
        headers: &[(String, String)],
        valid: Duration,
    ) -> Result<String, Error> {
        let path = path(key);
        let (_, query) = self.sign(method, &path, headers, SignableBody::UnsignedPayload, Some(valid))?;
        Ok(format!("{}{path}?{}", self.base, encode(&query)))
    }

    /// The headers and the parameters of the query that a signature adds.
    #[allow(clippy::type_complexity, reason = "pairs of texts")]
    fn sign(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: SignableBody<'_>,
        valid: Option<Duration>,
    ) -> Result<(Vec<(String, String)>, Vec<(String, String)>), Error> {
        let invalid = |error: &dyn std::fmt::Display| Error::Invalid(format!("a request cannot be signed: {error}"));
        let mut settings = SigningSettings::default();
        // S3 signs paths as they are sent.
        settings.percent_encoding_mode = PercentEncodingMode::Single;
        settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        if let Some(valid) = valid {
            settings.signature_location = SignatureLocation::QueryParams;
            settings.expires_in = Some(valid);
        }
        let parameters = v4::SigningParams::builder()
            .identity(&self.identity)
            .region(&self.region)
            .name("s3")
            .time(SystemTime::now())
            .settings(settings)
            .build()
            .map_err(|error| invalid(&error))?;
        let uri = format!("{}{path}", self.base);
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let request = SignableRequest::new(method, uri, headers, body).map_err(|error| invalid(&error))?;
        let signed = sign(request, &parameters.into()).map_err(|error| invalid(&error))?;
        let (headers, query) = signed.into_parts().0.into_parts();
        let headers = headers.iter().map(|header| (header.name().to_owned(), header.value().to_owned()));
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), value.to_string()));
        Ok((headers.collect(), query.collect()))
    }
}

/// The URL of a bucket in the environment's region, without a final slash.
///
/// # Errors
/// The region is missing.
pub fn bucket_url(environment: &Environment, bucket: &str) -> Result<String, Misconfigured> {
    let region = environment.required("AWS_REGION")?;
    let endpoint = environment.optional("AWS_ENDPOINT_URL_S3").or(environment.optional("AWS_ENDPOINT_URL"));
    Ok(match endpoint {
        Some(endpoint) => format!("{}/{bucket}", endpoint.trim_end_matches('/')),
        None => format!("https://{bucket}.s3.{region}.amazonaws.com"),
    })
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
