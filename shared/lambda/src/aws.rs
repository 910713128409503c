//! The configuration of AWS clients, built directly for Lambda.
//!
//! On Lambda, region and credentials are environment variables. `aws-config`, which would look for them in six places,
//! is not a dependency. The reasons: docs/decisions.md, "TLS is rustls with ring", and docs/decisions.md, "AWS clients
//! read environment variables".

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_async::rt::sleep::{SharedAsyncSleep, TokioSleep};
use aws_smithy_http_client::Connector;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use aws_smithy_runtime_api::client::behavior_version::BehaviorVersion;
use aws_smithy_runtime_api::client::http::{HttpConnectorSettings, SharedHttpConnector, http_client_fn};
use aws_smithy_runtime_api::client::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::SdkConfig;
use aws_types::region::Region;

use crate::variables::{Misconfigured, Variables};

/// The root certificates of all AWS endpoints: Amazon Root CA 1 to 4 and Starfield Services Root G2, from
/// <https://www.amazontrust.com>.
const AMAZON_ROOTS: &[u8] = include_bytes!("../roots/amazon.pem");

/// The variable with the longest time of an attempt, in seconds. The local stack sets it, because it is as slow as its
/// machine is busy.
const ATTEMPT_TIMEOUT_VARIABLE: &str = "ATTEMPT_TIMEOUT_SECONDS";
/// The longest time of an attempt without that variable. The connection must be open after a third of it.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(3);
/// The longest time for a connection to a service that is not AWS's.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// An AWS service that a function calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    DynamoDb,
    EventBridge,
    SecretsManager,
    Sqs,
}

impl Service {
    /// The environment variable that sets another endpoint for the service.
    fn endpoint_variable(self) -> &'static str {
        match self {
            Self::DynamoDb => "AWS_ENDPOINT_URL_DYNAMODB",
            Self::EventBridge => "AWS_ENDPOINT_URL_EVENTBRIDGE",
            Self::SecretsManager => "AWS_ENDPOINT_URL_SECRETS_MANAGER",
            Self::Sqs => "AWS_ENDPOINT_URL_SQS",
        }
    }
}

/// The HTTP connectors, one for each kind of [`Trust`], built when a client first needs one and shared by all clients.
/// The SDK would build one to validate each client's configuration and another for its first call.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connections(Arc<[OnceLock<SharedHttpConnector>; 3]>);

/// The certificates that a connection trusts.
#[derive(Clone, Copy)]
enum Trust {
    /// None: plain HTTP.
    Plain,
    /// Amazon's root certificates. Reading the system's whole bundle would be most of a cold start.
    Amazon,
    /// The system's bundle, for an endpoint other than AWS's. Its operator may have added a certificate of their own.
    System,
}

impl Trust {
    fn of(endpoint: Option<&str>) -> Self {
        match endpoint {
            None => Self::Amazon,
            Some(url) if url.starts_with("http://") => Self::Plain,
            Some(_) => Self::System,
        }
    }
}

impl Connections {
    pub(crate) fn config(&self, service: Service, variables: &Variables) -> Result<SdkConfig, Misconfigured> {
        let endpoint = variables.optional(service.endpoint_variable()).or(variables.optional("AWS_ENDPOINT_URL"));
        let timeout = attempt_timeout(variables)?;
        let connector = self.connector(Trust::of(endpoint), timeout)?;
        let mut config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(variables.required("AWS_REGION")?.to_owned()))
            .credentials_provider(SharedCredentialsProvider::new(credentials(variables)?))
            .http_client(http_client_fn(move |_, _| connector.clone()))
            .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
            .retry_config(RetryConfig::standard())
            // Requests and answers are small, so the timeout of an attempt also ends a stalled stream.
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
            .timeout_config(
                TimeoutConfig::builder().connect_timeout(timeout / 3).operation_attempt_timeout(timeout).build(),
            );
        config.set_endpoint_url(endpoint.map(str::to_owned));
        Ok(config.build())
    }

    fn connector(&self, trust: Trust, timeout: Duration) -> Result<SharedHttpConnector, Misconfigured> {
        let shared = &self.0[trust as usize];
        if let Some(connector) = shared.get() {
            return Ok(connector.clone());
        }
        let new = connector(trust, timeout / 3, timeout)?;
        Ok(shared.get_or_init(|| new).clone())
    }
}

fn attempt_timeout(variables: &Variables) -> Result<Duration, Misconfigured> {
    let Some(seconds) = variables.optional(ATTEMPT_TIMEOUT_VARIABLE) else { return Ok(ATTEMPT_TIMEOUT) };
    let wrong = || Misconfigured::Invalid(format!("{ATTEMPT_TIMEOUT_VARIABLE} must be a number, not {seconds:?}"));
    Ok(Duration::from_secs(seconds.parse().map_err(|_| wrong())?))
}

/// A connector for a service that is not AWS's.
pub(crate) fn elsewhere(base: &str, timeout: Duration) -> Result<SharedHttpConnector, Misconfigured> {
    connector(Trust::of(Some(base)), CONNECT_TIMEOUT, timeout)
}

fn credentials(variables: &Variables) -> Result<Credentials, Misconfigured> {
    Ok(Credentials::new(
        variables.required("AWS_ACCESS_KEY_ID")?,
        variables.required("AWS_SECRET_ACCESS_KEY")?,
        variables.optional("AWS_SESSION_TOKEN").map(str::to_owned),
        None,
        "environment",
    ))
}

fn connector(trust: Trust, connect: Duration, read: Duration) -> Result<SharedHttpConnector, Misconfigured> {
    let timeouts = HttpConnectorSettings::builder().connect_timeout(connect).read_timeout(read);
    let connector = Connector::builder().connector_settings(timeouts.build()).sleep_impl(TokioSleep::new());
    let roots = match trust {
        Trust::Plain => return Ok(SharedHttpConnector::new(connector.build_http())),
        Trust::Amazon => TrustStore::empty().with_pem_certificate(AMAZON_ROOTS),
        Trust::System => TrustStore::default(),
    };
    let tls = TlsContext::builder().with_trust_store(roots).build();
    let tls = tls.map_err(|error| Misconfigured::Invalid(format!("the TLS roots cannot be used: {error}")))?;
    Ok(SharedHttpConnector::new(connector.tls_provider(Provider::Rustls(CryptoMode::Ring)).tls_context(tls).build()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(more: &[(&str, &str)]) -> Result<SdkConfig, Misconfigured> {
        let lambda = [("AWS_REGION", "eu-west-1"), ("AWS_ACCESS_KEY_ID", "a"), ("AWS_SECRET_ACCESS_KEY", "s")];
        let variables = lambda.iter().chain(more).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Connections::default().config(Service::DynamoDb, &variables.collect())
    }

    #[test]
    fn a_client_of_aws_trusts_the_five_amazon_roots() {
        assert!(config(&[]).is_ok());
        assert_eq!(AMAZON_ROOTS.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"-----BEGIN")).count(), 5);
    }

    #[test]
    fn an_endpoint_may_be_plain_or_encrypted() {
        for endpoint in ["http://127.0.0.1:8000", "https://dynamodb.example"] {
            let config = config(&[("AWS_ENDPOINT_URL_DYNAMODB", endpoint)]).expect("a configuration");
            assert_eq!(config.endpoint_url(), Some(endpoint));
        }
    }

    #[test]
    fn an_attempt_takes_three_seconds_unless_a_variable_says_otherwise() {
        let attempt = |more: &[(&str, &str)]| {
            let config = config(more).map_err(|error| error.to_string())?;
            Ok(config.timeout_config().and_then(TimeoutConfig::operation_attempt_timeout).map(|time| time.as_secs()))
        };
        assert_eq!(attempt(&[]), Ok(Some(3)));
        assert_eq!(attempt(&[(ATTEMPT_TIMEOUT_VARIABLE, "30")]), Ok(Some(30)));
        let wrong: Result<_, String> = attempt(&[(ATTEMPT_TIMEOUT_VARIABLE, "soon")]);
        assert_eq!(wrong, Err("ATTEMPT_TIMEOUT_SECONDS must be a number, not \"soon\"".to_owned()));
    }

    #[test]
    fn the_endpoint_of_a_service_takes_precedence_over_the_common_endpoint() {
        let both = [("AWS_ENDPOINT_URL", "http://common"), ("AWS_ENDPOINT_URL_DYNAMODB", "http://own")];
        assert_eq!(config(&both).expect("a configuration").endpoint_url(), Some("http://own"));
        assert_eq!(config(&both[..1]).expect("a configuration").endpoint_url(), Some("http://common"));
        let of_another_service = [("AWS_ENDPOINT_URL_SQS", "http://queue")];
        assert_eq!(config(&of_another_service).expect("a configuration").endpoint_url(), None);
    }

    #[test]
    fn an_error_names_the_missing_variable() {
        for name in ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            let error = config(&[(name, "")]).expect_err("it is missing");
            assert_eq!(error.to_string(), format!("the environment variable {name} is not set"));
        }
    }
}
