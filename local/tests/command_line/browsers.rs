//! `--cors-origin`.

use reqwest::{Client, Method};

use crate::Running;

#[tokio::test]
async fn pages_of_the_chosen_origins_and_of_this_machine_may_call_the_api() {
    let (first, second) = ("https://notes.example", "https://letters.example");
    let running =
        Running::start(&["--port", "0", "--empty", "--quiet", "--cors-origin", first, "--cors-origin", second]);
    let client = Client::builder().no_proxy().build().unwrap();
    for (origin, is_allowed) in
        [(first, true), (second, true), ("http://localhost:5173", true), ("https://other.example", false)]
    {
        let request = client.request(Method::OPTIONS, format!("{}/products", running.url)).header("origin", origin);
        let answer = request.header("access-control-request-method", "GET").send().await.unwrap();
        let allowed = answer.headers().get("access-control-allow-origin").map(|value| value.to_str().unwrap());
        assert_eq!(allowed, is_allowed.then_some(origin));
    }
}
