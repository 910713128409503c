//! The DynamoDB client, built directly for Lambda.
//!
//! Region and credentials are environment variables there, so `aws-config`, which would look for them in six places, stays out.
//! The reasons for each choice, with figures, are in `docs/decisions.md`.

use std::time::Duration;

use aws_credential_types::Credentials;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Region, retry::RetryConfig};
use aws_sdk_dynamodb::{Client, Config};
use aws_smithy_async::rt::sleep::TokioSleep;
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_runtime_api::client::http::{
    HttpConnectorSettings, SharedHttpClient, SharedHttpConnector, http_client_fn,
};

use crate::variables::{Misconfigured, Variables};

/// The roots of every AWS endpoint: Amazon Root CA 1 to 4 and Starfield Services Root G2, from <https://www.amazontrust.com>.
const AMAZON_ROOTS: &[u8] = include_bytes!("../roots/amazon.pem");

const CONNECT: Duration = Duration::from_secs(1);
const ATTEMPT: Duration = Duration::from_secs(3);

pub(crate) fn dynamodb(variables: &Variables) -> Result<Client, Misconfigured> {
    let endpoint = variables.optional("AWS_ENDPOINT_URL_DYNAMODB").or_else(|| variables.optional("AWS_ENDPOINT_URL"));
    let credentials = Credentials::new(
        variables.required("AWS_ACCESS_KEY_ID")?,
        variables.required("AWS_SECRET_ACCESS_KEY")?,
        variables.optional("AWS_SESSION_TOKEN").map(str::to_owned),
        None,
        "environment",
    );

    let mut config = Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(variables.required("AWS_REGION")?.to_owned()))
        .credentials_provider(credentials)
        .http_client(http_client(endpoint)?)
        .sleep_impl(TokioSleep::new())
        .retry_config(RetryConfig::standard())
        .timeout_config(TimeoutConfig::builder().connect_timeout(CONNECT).operation_attempt_timeout(ATTEMPT).build());
    config.set_endpoint_url(endpoint.map(str::to_owned));
    Ok(Client::from_conf(config.build()))
}

/// One connector, made once: the SDK would make one when it checks its configuration and another at the first call.
fn http_client(endpoint: Option<&str>) -> Result<SharedHttpClient, Misconfigured> {
    let connector = Connector::builder()
        .connector_settings(HttpConnectorSettings::builder().connect_timeout(CONNECT).read_timeout(ATTEMPT).build())
        .sleep_impl(TokioSleep::new());
    let connector = match endpoint {
        Some(url) if url.starts_with("http://") => SharedHttpConnector::new(connector.build_http()),
        _ => {
            // Who overrides the endpoint may have a certificate of his own in the machine's bundle. Otherwise it is AWS, and
            // reading the whole bundle would be most of a cold start.
            let roots = match endpoint {
                Some(_) => TrustStore::default(),
                None => TrustStore::empty().with_pem_certificate(AMAZON_ROOTS),
            };
            let tls = TlsContext::builder().with_trust_store(roots).build();
            let tls = tls.map_err(|error| Misconfigured(format!("the TLS roots cannot be used: {error}")))?;
            let provider = Provider::Rustls(CryptoMode::Ring);
            SharedHttpConnector::new(connector.tls_provider(provider).tls_context(tls).build())
        }
    };
    Ok(http_client_fn(move |_, _| connector.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(more: &[(&str, &str)]) -> Variables {
        let lambda = [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
        lambda.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_client_of_aws_is_made_with_amazons_roots() {
        assert!(dynamodb(&variables(&[])).is_ok());
        assert_eq!(AMAZON_ROOTS.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"-----BEGIN")).count(), 5);
    }

    #[test]
    fn an_endpoint_may_be_plain_or_encrypted() {
        for endpoint in ["http://127.0.0.1:8000", "https://dynamodb.example"] {
            assert!(dynamodb(&variables(&[("AWS_ENDPOINT_URL_DYNAMODB", endpoint)])).is_ok(), "{endpoint}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for name in ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            let error = dynamodb(&variables(&[(name, "")])).expect_err("it is missing");
            assert_eq!(error.to_string(), format!("the environment variable {name} is not set"));
        }
    }
}
