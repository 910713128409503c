//! Prewarming: opening the connection to DynamoDB before the first event.

use std::sync::Arc;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_types::body::SdkBody;
use lambda::Client;

/// Sends `GET /`, DynamoDB's public health check. The request reads nothing, costs nothing and needs no permission, but
/// to send it the client resolves its endpoint, signs, and opens the connection that the first event will use.
pub(crate) async fn prewarm(client: Client<DynamoDb>, table: Arc<str>) {
    let once = Config::builder().retry_config(RetryConfig::disabled());
    let health_check = client.query().table_name(&*table).customize().config_override(once).mutate_request(|request| {
        // A valid constant method cannot be refused.
        _ = request.set_method("GET");
        request.headers_mut().remove("content-length");
        *request.body_mut() = SdkBody::empty();
    });
    // The answer does not matter: the connection is open now.
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

    /// Answers every request like DynamoDB's health check, and reports each with the number of its connection.
    fn serve(listener: &TcpListener, requests: &mpsc::Sender<(usize, String)>) {
        for (connection, client) in listener.incoming().enumerate() {
            let (client, requests) = (client.expect("a connection"), requests.clone());
            std::thread::spawn(move || answer_all(client, connection, &requests));
        }
    }

    fn answer_all(mut client: TcpStream, connection: usize, requests: &mpsc::Sender<(usize, String)>) {
        let mut request = [0; 4096];
        while let Ok(length @ 1..) = client.read(&mut request) {
            let text = String::from_utf8_lossy(&request[..length]);
            let answer = "healthy: dynamodb";
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
            client.write_all(answer.as_bytes()).expect("an answer");
            requests.send((connection, text.into_owned())).expect("the test receives");
        }
    }

    #[tokio::test]
    async fn the_first_request_uses_the_prewarmed_connection() {
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
        let table = Table::from_environment(&environment).expect("an environment");

        prewarm(table.client.clone(), Arc::clone(&table.home.name)).await;
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
}
