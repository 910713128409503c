//! Prewarming: opening the connections to DynamoDB before the first event.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::connection::CaptureSmithyConnection;
use aws_smithy_runtime_api::client::interceptors::context::BeforeDeserializationInterceptorContextRef;
use aws_smithy_runtime_api::client::interceptors::{Intercept, dyn_dispatch_hint};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::ConfigBag;
use futures_util::future::join_all;
use lambda::Client;

/// The number of connections that an event needs at the same time, shared by all parts of a function.
#[derive(Clone, Debug, Default)]
pub(crate) struct Connections(Arc<AtomicUsize>);

impl Connections {
    /// An event needs this many, or more.
    pub(crate) fn at_least(&self, number: usize) {
        self.0.fetch_max(number, Ordering::Relaxed);
    }
}

const MOST_ROUNDS: usize = 16;

/// Opens the connections that the first event will use: one, and then as many again as there are, until there are enough.
/// A connection may bring tickets for the next ones, with which a handshake has neither certificates nor RSA. If all were
/// opened at once, there would be no tickets.
///
/// A health check takes the connection that is ready first, which may be one that has just answered another check. So the
/// checks of a round are repeated until each has a connection of its own.
pub(crate) async fn prewarm(client: Client<DynamoDb>, table: Arc<str>, connections: Connections) {
    let most = connections.0.load(Ordering::Relaxed).max(1);
    let mut checks = 1;
    for _ in 0..MOST_ROUNDS {
        let used = Used::default();
        join_all((0..checks).map(|_| check_health(&client, &table, &used))).await;
        let open = used.number();
        if open == 0 || open >= most {
            return;
        }
        checks = most.min(2 * open);
    }
}

/// Sends `GET /`, DynamoDB's public health check. The request reads nothing, costs nothing and needs no permission, but
/// to send it the client resolves its endpoint, signs, and opens a connection.
async fn check_health(client: &Client<DynamoDb>, table: &str, used: &Used) {
    let once = Config::builder().retry_config(RetryConfig::disabled()).interceptor(used.clone());
    let health_check = client.query().table_name(table).customize().config_override(once).mutate_request(|request| {
        // A valid constant method cannot be refused.
        _ = request.set_method("GET");
        request.headers_mut().remove("content-length");
        *request.body_mut() = SdkBody::empty();
    });
    // The answer does not matter: a connection is open now.
    _ = health_check.send().await;
}

/// The connections that answered, by their addresses here.
#[derive(Clone, Debug, Default)]
struct Used(Arc<Mutex<BTreeSet<SocketAddr>>>);

impl Used {
    fn number(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

#[dyn_dispatch_hint]
impl Intercept for Used {
    fn name(&self) -> &'static str {
        "Used"
    }

    fn read_after_transmit(
        &self,
        _: &BeforeDeserializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let connection = config.load::<CaptureSmithyConnection>().and_then(CaptureSmithyConnection::get);
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.extend(connection.and_then(|connection| connection.local_addr()));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::mpsc;
    use std::time::Duration;

    use lambda::{Environment, FromEnvironment as _};

    use crate::Table;

    use super::*;

    /// Answers every request after this time like DynamoDB's health check, and reports each with the number of its
    /// connection.
    fn serve(listener: &TcpListener, time: Duration, requests: &mpsc::Sender<(usize, String)>) {
        for (connection, client) in listener.incoming().enumerate() {
            let (client, requests) = (client.expect("a connection"), requests.clone());
            std::thread::spawn(move || answer_all(client, connection, time, &requests));
        }
    }

    /// A table at a server of this kind, and what the server reports.
    fn table(time: Duration) -> (Table, mpsc::Receiver<(usize, String)>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let (send, requests) = mpsc::channel();
        std::thread::spawn(move || serve(&listener, time, &send));
        let variables = [
            ("AWS_ENDPOINT_URL_DYNAMODB", endpoint.as_str()),
            ("AWS_REGION", "eu-west-1"),
            ("AWS_ACCESS_KEY_ID", "a"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("TABLE_NAME", "orders"),
        ];
        let environment = Environment::of(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        (Table::from_environment(&environment).expect("an environment"), requests)
    }

    fn answer_all(mut client: TcpStream, connection: usize, time: Duration, requests: &mpsc::Sender<(usize, String)>) {
        let mut request = [0; 4096];
        while let Ok(length @ 1..) = client.read(&mut request) {
            let text = String::from_utf8_lossy(&request[..length]);
            std::thread::sleep(time);
            let answer = "healthy: dynamodb";
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
            // Before the answer, so that the test has the report when the client has the answer.
            requests.send((connection, text.into_owned())).expect("the test receives");
            client.write_all(answer.as_bytes()).expect("an answer");
        }
    }

    #[tokio::test]
    async fn the_first_request_uses_the_prewarmed_connection() {
        let (table, requests) = table(Duration::ZERO);
        prewarm(table.client.clone(), Arc::clone(&table.home.name), Connections::default()).await;
        // The server's answer is no valid answer to a query. The test only needs the request.
        _ = table.client.query().table_name(&*table.home.name).send().await;

        let next = || requests.recv_timeout(Duration::from_secs(5)).expect("a request");
        for method in ["GET", "POST"] {
            let (connection, request) = next();
            assert!(connection == 0 && request.starts_with(&format!("{method} / HTTP/1.1\r\n")), "{request}");
            assert!(request.contains("\r\nuser-agent: till/"), "{request}");
            assert!(!request.contains("amz-sdk-") && !request.contains("x-amz-user-agent"), "{request}");
        }
    }

    /// Prewarms eight connections of a server that answers after this time, and then sends eight requests at once. Returns the
    /// connection of each request, before and after.
    async fn prewarmed(time: Duration) -> [Vec<usize>; 2] {
        let (table, requests) = table(time);
        let connections = Connections::default();
        // The parts of a function may need different numbers.
        for number in [5, 8, 3] {
            connections.at_least(number);
        }
        prewarm(table.client.clone(), Arc::clone(&table.home.name), connections).await;
        let before = requests.try_iter().map(|(connection, _)| connection).collect();
        let query = || table.client.query().table_name(&*table.home.name).send();
        join_all((0..8).map(|_| query())).await;
        [before, requests.try_iter().map(|(connection, _)| connection).collect()]
    }

    #[tokio::test]
    async fn a_connection_is_open_for_each_request_of_an_event() {
        let distinct = |all: &[usize]| all.iter().copied().collect::<BTreeSet<_>>();
        let [before, after] = prewarmed(Duration::from_millis(50)).await;
        let eight: BTreeSet<_> = (0..8).collect();
        assert_eq!((distinct(&before), before.len()), (eight.clone(), 1 + 2 + 4 + 8));
        assert_eq!((distinct(&after), after.len()), (eight, 8));
        // A connection may answer several checks before another one is open.
        let [before, _] = prewarmed(Duration::ZERO).await;
        assert!(distinct(&before).len() >= 8, "{before:?}");
    }
}
