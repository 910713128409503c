//! Prewarming: opening the connections to DynamoDB before the first event.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_types::body::SdkBody;
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

/// Opens the connections that the first event will use: one, and then as many again as there are, until there are enough.
/// Each connection brings tickets for the next ones, with which a handshake has neither certificates nor RSA. If all were
/// opened at once, there would be no tickets.
pub(crate) async fn prewarm(client: Client<DynamoDb>, table: Arc<str>, connections: Connections) {
    let most = connections.0.load(Ordering::Relaxed).max(1);
    let mut open = 1;
    check_health(&client, &table).await;
    while open < most {
        open = most.min(2 * open);
        join_all((0..open).map(|_| check_health(&client, &table))).await;
    }
}

/// Sends `GET /`, DynamoDB's public health check. The request reads nothing, costs nothing and needs no permission, but
/// to send it the client resolves its endpoint, signs, and opens a connection.
async fn check_health(client: &Client<DynamoDb>, table: &str) {
    let once = Config::builder().retry_config(RetryConfig::disabled());
    let health_check = client.query().table_name(table).customize().config_override(once).mutate_request(|request| {
        // A valid constant method cannot be refused.
        _ = request.set_method("GET");
        request.headers_mut().remove("content-length");
        *request.body_mut() = SdkBody::empty();
    });
    // The answer does not matter: a connection is open now.
    _ = health_check.send().await;
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

    /// The time that DynamoDB takes for an answer.
    const ANSWERING: Duration = Duration::from_millis(50);

    /// Answers every request like DynamoDB's health check, and reports each with the number of its connection.
    fn serve(listener: &TcpListener, requests: &mpsc::Sender<(usize, String)>) {
        for (connection, client) in listener.incoming().enumerate() {
            let (client, requests) = (client.expect("a connection"), requests.clone());
            std::thread::spawn(move || answer_all(client, connection, &requests));
        }
    }

    /// A table at a server of this kind, and what the server reports.
    fn table() -> (Table, mpsc::Receiver<(usize, String)>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let (send, requests) = mpsc::channel();
        std::thread::spawn(move || serve(&listener, &send));
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

    fn answer_all(mut client: TcpStream, connection: usize, requests: &mpsc::Sender<(usize, String)>) {
        let mut request = [0; 4096];
        while let Ok(length @ 1..) = client.read(&mut request) {
            let text = String::from_utf8_lossy(&request[..length]);
            std::thread::sleep(ANSWERING);
            let answer = "healthy: dynamodb";
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
            client.write_all(answer.as_bytes()).expect("an answer");
            requests.send((connection, text.into_owned())).expect("the test receives");
        }
    }

    #[tokio::test]
    async fn the_first_request_uses_the_prewarmed_connection() {
        let (table, requests) = table();
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
    #[tokio::test]
    async fn a_connection_is_open_for_each_request_of_an_event() {
        let (table, requests) = table();
        let connections = Connections::default();
        // The parts of a function may need different numbers.
        for number in [5, 8, 3] {
            connections.at_least(number);
        }
        prewarm(table.client.clone(), Arc::clone(&table.home.name), connections).await;
        let prewarmed: Vec<_> = requests.try_iter().map(|(connection, _)| connection).collect();
        let used = prewarmed.iter().copied().collect::<std::collections::BTreeSet<_>>();
        assert_eq!((used, prewarmed.len()), ((0..8).collect(), 1 + 2 + 4 + 8));

        let query = || table.client.query().table_name(&*table.home.name).send();
        join_all((0..8).map(|_| query())).await;
        assert!(requests.try_iter().all(|(connection, _)| connection < 8), "an event opens no connection");
    }
}
