//! Before the first event.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::Config;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_smithy_types::body::SdkBody;

/// Asks DynamoDB whether it is well, as anybody may: `GET /`. The question reads nothing, is billed nothing, and needs no permission;
/// but to ask it, the client finds its endpoint, signs, and opens the connection that the first event will use.
pub(crate) async fn ask_after_health(client: Client, table: String) {
    let once = Config::builder().retry_config(RetryConfig::disabled());
    let question = client.query().table_name(table).customize().config_override(once).mutate_request(|request| {
        // Both are constants that are valid.
        _ = request.set_method("GET");
        request.headers_mut().remove("content-length");
        *request.body_mut() = SdkBody::empty();
    });
    // Whatever is answered: the way is open now.
    _ = question.send().await;
}
