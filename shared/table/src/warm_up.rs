//! Before the first event.

use std::sync::Arc;

use aws_sdk_dynamodb::Client as DynamoDb;
use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_types::body::SdkBody;
use lambda::Client;

/// Asks DynamoDB whether it is well, as anybody may: `GET /`. The question reads nothing, is billed nothing, and needs
/// no permission; but to ask it, the client finds its endpoint, signs, and opens the connection that the first event
/// will use.
pub(crate) async fn prewarm(client: Client<DynamoDb>, table: Arc<str>) {
    let once = Config::builder().retry_config(RetryConfig::disabled());
    let question = client.query().table_name(&*table).customize().config_override(once).mutate_request(|request| {
        // Both are constants that are valid.
        _ = request.set_method("GET");
        request.headers_mut().remove("content-length");
        *request.body_mut() = SdkBody::empty();
    });
    // Whatever is answered: the way is open now.
    _ = question.send().await;
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

    /// Answers every request as DynamoDB answers those after its health, and tells each with the number of its
    /// connection.
    fn serve(listener: &TcpListener, lines: &mpsc::Sender<(usize, String)>) {
        for (connection, client) in listener.incoming().enumerate() {
            let (client, lines) = (client.expect("a connection"), lines.clone());
            std::thread::spawn(move || answer_all(client, connection, &lines));
        }
    }

    fn answer_all(mut client: TcpStream, connection: usize, lines: &mpsc::Sender<(usize, String)>) {
        let mut request = [0; 4096];
        while let Ok(length @ 1..) = client.read(&mut request) {
            let text = String::from_utf8_lossy(&request[..length]);
            let answer = "healthy: dynamodb";
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{answer}", answer.len());
            client.write_all(answer.as_bytes()).expect("an answer");
            lines.send((connection, text.into_owned())).expect("somebody listens");
        }
    }

    #[tokio::test]
    async fn the_first_request_finds_the_connection_open() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let endpoint = format!("http://{}", listener.local_addr().expect("an address"));
        let (send, lines) = mpsc::channel();
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

        prewarm(table.client.clone(), Arc::clone(&table.name)).await;
        // That it is no answer to a query is no matter here.
        _ = table.client.query().table_name(&*table.name).send().await;

        let next = || lines.recv_timeout(Duration::from_secs(5)).expect("a request");
        for method in ["GET", "POST"] {
            let (connection, request) = next();
            assert!(connection == 0 && request.starts_with(&format!("{method} / HTTP/1.1\r\n")), "{request}");
            assert!(request.contains("\r\nuser-agent: till/"), "{request}");
            assert!(!request.contains("amz-sdk-") && !request.contains("x-amz-user-agent"), "{request}");
        }
    }
}
