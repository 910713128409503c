//! How requests are authenticated: by a user and a password, or by an AWS signature.

use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lambda::{Environment, Misconfigured};
use secret::Secret;
use serde::Deserialize;

use crate::Error;

/// The form of the secret's content.
const FORM: &str = r#"{"username": "...", "password": "..."}"#;

#[derive(Debug)]
pub(super) enum Auth {
    Password(Secret<User>),
    /// Signatures of the function's role, as an Amazon OpenSearch Service domain wants them.
    Signature(Signer),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct User {
    username: String,
    password: String,
}

#[derive(Debug)]
pub(super) struct Signer {
    /// The base URL, without a slash at the end.
    base: String,
    region: String,
    credentials: Credentials,
}

type Headers = Vec<(&'static str, String)>;

impl Auth {
    pub(super) fn of(url: &str, secret: Option<&str>, environment: &Environment) -> Result<Self, Misconfigured> {
        if let Some(secret) = secret {
            return Ok(Self::Password(Secret::of(secret, FORM, environment)?));
        }
        let [key, secret] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| environment.required(name));
        let session = environment.optional("AWS_SESSION_TOKEN").map(str::to_owned);
        Ok(Self::Signature(Signer {
            base: url.trim_end_matches('/').to_owned(),
            region: environment.required("AWS_REGION")?.to_owned(),
            credentials: Credentials::new(key?, secret?, session, None, "environment"),
        }))
    }

    /// The headers that authenticate a request.
    pub(super) async fn headers(&self, method: &str, path: &str, body: &str) -> Result<Headers, Error> {
        match self {
            Self::Password(secret) => {
                let User { username, password } = secret.content().await?;
                let user = STANDARD.encode(format!("{username}:{password}"));
                Ok(vec![("authorization", format!("Basic {user}"))])
            }
            Self::Signature(signer) => signer.headers(method, path, body, SystemTime::now()),
        }
    }
}

impl Signer {
    fn headers(&self, method: &str, path: &str, body: &str, now: SystemTime) -> Result<Headers, Error> {
        let failed = |error: &dyn std::fmt::Display| Error::Credentials(error.to_string());
        let identity = self.credentials.clone().into();
        let parameters = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name("es")
            .time(now)
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| failed(&error))?;
        let url = format!("{}{path}", self.base);
        let body = SignableBody::Bytes(body.as_bytes());
        let request = SignableRequest::new(method, &url, std::iter::empty(), body).map_err(|error| failed(&error))?;
        let signed = sign(request, &parameters.into()).map_err(|error| failed(&error))?;
        let (headers, _) = signed.into_parts().0.into_parts();
        Ok(headers.into_iter().map(|header| (header.name(), header.value().to_owned())).collect())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use std::time::Duration;

    use super::*;

    #[test]
    fn a_request_is_signed_for_the_service_es_as_aws_computes_it() {
        let signer = Signer {
            base: "https://search-till-abc.eu-west-1.es.amazonaws.com".to_owned(),
            region: "eu-west-1".to_owned(),
            credentials: Credentials::new(
                "AKIDEXAMPLE",
                "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                Some("token".to_owned()),
                None,
                "test",
            ),
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_mins(29_923_770);
        let headers = signer.headers("POST", "/till-products/_search?preference=x", "{}", now).expect("signed");
        let value = |name: &str| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
        assert_eq!(value("x-amz-date"), Some("20261123T093000Z"));
        assert_eq!(value("x-amz-security-token"), Some("token"));
        // Computed from AWS's description of the algorithm with HMAC and SHA-256 alone, by another program.
        let expected = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20261123/eu-west-1/es/aws4_request, \
                        SignedHeaders=host;x-amz-date;x-amz-security-token, \
                        Signature=d6608b4fd598a7fdd1149c45e1c1cb604b3615ebf174762f33585cebaff0611a";
        assert_eq!(value("authorization"), Some(expected));
    }
}
