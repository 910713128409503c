//! AWS's JSON services, called without an SDK for each: the scenario needs six calls.

use std::env;
use std::time::SystemTime;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4::SigningParams;
use reqwest::Client as Http;
use serde_json::Value;

use crate::till::variable;

/// An account, and the endpoint of its services.
pub struct Aws {
    http: Http,
    /// The endpoint of all services, unless each has AWS's own.
    endpoint: Option<String>,
    region: String,
    credentials: Credentials,
}

/// A service: its name, the prefix of its actions' names, and the version of its protocol.
#[derive(Clone, Copy)]
pub struct Service(&'static str, &'static str, &'static str);

pub const COGNITO: Service = Service("cognito-idp", "AWSCognitoIdentityProviderService", "1.1");
pub const SQS: Service = Service("sqs", "AmazonSQS", "1.0");

impl Aws {
    /// From the environment variables that every AWS tool uses.
    pub fn from_environment(http: Http) -> Self {
        let [key, secret] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(variable);
        let session = env::var("AWS_SESSION_TOKEN").ok();
        Self {
            http,
            endpoint: env::var("AWS_ENDPOINT_URL").ok(),
            region: variable("AWS_REGION"),
            credentials: Credentials::new(key, secret, session, None, "environment"),
        }
    }

    /// A service of the laptop's stack, which does not check signatures.
    pub fn local(http: Http, endpoint: &str) -> Self {
        let credentials = Credentials::new("local", "local", None, None, "local");
        Self { http, endpoint: Some(endpoint.to_owned()), region: "us-east-1".to_owned(), credentials }
    }

    /// The service's answer, which must be a success.
    pub async fn call(&self, service: Service, action: &str, request: &Value) -> Value {
        let Service(name, prefix, version) = service;
        let url = self.endpoint.clone().unwrap_or_else(|| format!("https://{name}.{}.amazonaws.com/", self.region));
        let (target, media_type) = (format!("{prefix}.{action}"), format!("application/x-amz-json-{version}"));
        let headers = [("x-amz-target", target.as_str()), ("content-type", media_type.as_str())];
        let body = request.to_string();
        let mut call = self.http.post(&url);
        for (name, value) in self.signature(name, &url, &headers, &body) {
            call = call.header(name, value);
        }
        for (name, value) in headers {
            call = call.header(name, value);
        }
        let answer = call.body(body).send().await.unwrap_or_else(|error| panic!("{action} at {url}: {error}"));
        let ok = answer.status().is_success();
        let text = answer.text().await.expect("text");
        assert!(ok, "{action} at {url}: {text}");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The headers that authenticate the caller.
    fn signature(&self, service: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Vec<(String, String)> {
        let identity = self.credentials.clone().into();
        let parameters = SigningParams::builder()
            .identity(&identity)
            .region(&self.region)
            .name(service)
            .time(SystemTime::now())
            .settings(SigningSettings::default())
            .build()
            .expect("all is given");
        let body = SignableBody::Bytes(body.as_bytes());
        let request = SignableRequest::new("POST", url, headers.iter().copied(), body).expect("a request");
        let (signed, _) = sign(request, &parameters.into()).expect("it can be signed").into_parts();
        signed.headers().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}
