//! The laptop's S3, and the client of S3.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use devstack::gateway::Invoke;
use devstack::{Functions, Options, Stack, Template};
use futures_util::future::join_all;
use lambda::Environment;
use objects::{Bucket, Error, Presigned, Upload};
use reqwest::Client;
use sha2::{Digest as _, Sha256};

use crate::prelude::*;

const TEMPLATE: &str = r#"
Resources:
  Notes:
    Type: AWS::DynamoDB::Table
    Properties:
      KeySchema: [{ AttributeName: PK, KeyType: HASH }]
      AttributeDefinitions: [{ AttributeName: PK, AttributeType: S }]
  Pictures:
    Type: AWS::S3::Bucket
  Letters:
    Type: AWS::S3::Bucket
    Properties: { BucketName: letters }
  PicturesPolicy:
    Type: AWS::S3::BucketPolicy
    Properties:
      Bucket: !Ref Pictures
      PolicyDocument:
        Version: "2012-10-17"
        Statement:
          - { Effect: Allow, Principal: "*", Action: s3:GetObject, Resource: !Sub "${Pictures.Arn}/open/*" }
  Role:
    Type: AWS::IAM::Role
    Properties:
      Policies:
        - PolicyDocument:
            Version: "2012-10-17"
            Statement:
              - { Effect: Allow, Action: s3:GetObject, Resource: !Sub "${Pictures.Arn}/*" }
              - { Effect: Allow, Action: s3:PutObject, Resource: !Sub "${Pictures.Arn}/in/*" }
              - { Effect: Allow, Action: s3:ListBucket, Resource: !GetAtt Pictures.Arn }
              - { Effect: Allow, Action: s3:GetObject, Resource: !Sub "${Letters.Arn}/open/*" }
  GetNote:
    Type: AWS::Serverless::Function
    Properties:
      Handler: get-note
      Role: !GetAtt Role.Arn
      Environment: { Variables: { PICTURES: !Ref Pictures, LETTERS: !Ref Letters } }
      Events:
        Get:
          Type: HttpApi
          Properties: { Path: "/notes", Method: GET, Auth: { Authorizer: NONE } }
"#;

/// A stack with two buckets.
struct Store {
    stack: Stack,
}

impl Store {
    async fn open(data: Option<PathBuf>) -> Self {
        let options = Options { data, ..Options::new(Template::parse(TEMPLATE).expect("a template")) };
        let get_note: Invoke = Arc::new(|_| Box::pin(async { Ok(json!({ "statusCode": 200 })) }));
        let functions = Functions { handlers: vec![("get-note".to_owned(), get_note)], consumers: Vec::new() };
        Self { stack: Stack::start(options, |_, _| Ok(functions)).await.expect("the stack starts") }
    }

    fn environment(&self, key: &str, secret: &str) -> Environment {
        let url = self.stack.s3_url().expect("the template has buckets");
        let function = self.stack.template().function("GetNote").expect("the function");
        let own = [
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", key),
            ("AWS_SECRET_ACCESS_KEY", secret),
            ("AWS_ENDPOINT_URL_S3", url),
        ];
        let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Environment::of(function.environment.clone().into_iter().chain(own))
    }

    /// A developer's.
    fn bucket(&self, name: &str) -> Bucket {
        Bucket::open(&self.environment("developer", "local"), name).expect("a client")
    }
}

const PICTURES: &str = "devstack-pictures";

fn sha256_of(body: &[u8]) -> String {
    BASE64_STANDARD.encode(Sha256::digest(body))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_object_is_read_as_it_was_written_whatever_its_name() {
    let store = Store::open(None).await;
    let (pictures, letters) = (store.bucket(PICTURES), store.bucket("letters"));
    let names = ["plain.txt", "a/b/c", "with space+plus%25&and=sign", "ünï/日本.json", "~tilde_(1)*!'"];
    for (at, name) in names.into_iter().enumerate() {
        let body = vec![u8::try_from(at).expect("a few"); 100_000 * at];
        assert_eq!(pictures.get(name).await.expect("an answer"), None);
        assert!(!pictures.has(name).await.expect("an answer"));
        pictures.put(name, "image/png", &body).await.expect("it is written");
        assert!(pictures.has(name).await.expect("an answer"));
        assert!(pictures.get(name).await.expect("an answer").expect("it is there") == body, "{name}");
    }
    let mut sorted = names.map(str::to_owned);
    sorted.sort();
    assert_eq!(pictures.list("").await.expect("a list"), sorted);
    assert_eq!(pictures.list("a/").await.expect("a list"), ["a/b/c"]);
    assert_eq!(letters.list("").await.expect("a list"), Vec::<String>::new());
    pictures.put("plain.txt", "text/plain", b"new").await.expect("it is replaced");
    assert_eq!(pictures.get("plain.txt").await.expect("an answer").expect("it is there"), b"new");
    let nowhere = store.bucket("nowhere").put("x", "text/plain", b"x").await;
    assert!(nowhere.as_ref().is_err_and(|error| error.is("NoSuchBucket")), "{nowhere:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_list_has_every_object_once() {
    let store = Store::open(None).await;
    let letters = store.bucket("letters");
    // More than one page, which has 1000 keys.
    let names: Vec<_> = (0..1005).map(|at| format!("n/{at:04}")).collect();
    let puts = names.iter().map(|name| letters.put(name, "text/plain", b"x"));
    let mut puts = futures_util::stream::StreamExt::buffer_unordered(futures_util::stream::iter(puts), 8);
    while let Some(put) = futures_util::StreamExt::next(&mut puts).await {
        put.expect("it is written");
    }
    assert_eq!(letters.list("n/").await.expect("a list"), names);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_the_right_signature_is_refused() {
    let store = Store::open(None).await;
    let forged = Bucket::open(&store.environment("developer", "guessed"), PICTURES).expect("a client");
    let refused = forged.put("x", "text/plain", b"x").await;
    assert!(refused.as_ref().is_err_and(|error| error.is("SignatureDoesNotMatch")), "{refused:?}");
    let url = store.stack.s3_url().expect("an S3");
    for (method, path) in [(Method::GET, "letters/x"), (Method::PUT, "letters/x"), (Method::GET, "letters?list-type=2")]
    {
        let answer = Client::new().request(method, format!("{url}/{path}")).body("x").send().await.expect("an answer");
        assert_eq!(answer.status(), 403, "{path}");
    }
    let page = Client::new().get(format!("{url}/letters/x")).header("origin", "https://evil.example").send().await;
    assert_eq!(page.expect("an answer").status(), 403);
    assert_eq!(store.bucket("letters").list("").await.expect("a list"), Vec::<String>::new());
}

/// Everybody may read what the bucket's policy opens, and do nothing else.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_object_is_read_without_a_signature() {
    let store = Store::open(None).await;
    for key in ["open/a", "closed/a"] {
        store.bucket(PICTURES).put(key, "image/png", b"a picture").await.expect("it is written");
    }
    let url = format!("{}/{PICTURES}", store.stack.s3_url().expect("an S3"));
    for (method, path, status) in [
        (Method::GET, "/open/a", 200),
        (Method::HEAD, "/open/a", 200),
        (Method::GET, "/closed/a", 403),
        // Only those who may list the bucket are told that the object is absent.
        (Method::GET, "/open/b", 403),
        (Method::HEAD, "/open/b", 403),
        (Method::PUT, "/open/a", 403),
        (Method::PUT, "/open/b", 403),
        (Method::DELETE, "/open/a", 403),
        (Method::GET, "?list-type=2", 403),
    ] {
        let answer = Client::new().request(method.clone(), format!("{url}{path}")).body("x").send().await;
        assert_eq!(answer.expect("an answer").status(), status, "{method} {path}");
    }
    assert_eq!(store.bucket(PICTURES).list("").await.expect("a list"), ["closed/a", "open/a"]);
    // A page of the shop shows the image, which no script of the page can read.
    for (dest, origin, status) in
        [("image", None, 200), ("image", Some("http://127.0.0.1:3000"), 403), ("empty", None, 403)]
    {
        let shown = Client::new()
            .get(format!("{url}/open/a"))
            .header("sec-fetch-site", "same-site")
            .header("sec-fetch-dest", dest);
        let shown = origin.into_iter().fold(shown, |shown, origin| shown.header("origin", origin)).send().await;
        assert_eq!(shown.expect("an answer").status(), status, "{dest} {origin:?}");
    }
}

/// A function's access key is its logical id.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_is_enforced() {
    let store = Store::open(None).await;
    let environment = store.environment("GetNote", "local");
    let pictures = Bucket::open(&environment, PICTURES).expect("a client");
    let letters = Bucket::open(&environment, "letters").expect("a client");
    pictures.put("in/a", "text/plain", b"a").await.expect("its role allows it");
    assert!(pictures.get("in/a").await.expect("its role allows it").is_some());
    assert!(pictures.has("in/a").await.expect("its role allows it"));
    assert_eq!(pictures.list("").await.expect("its role allows it"), ["in/a"]);
    let is_denied = |error: &Error| matches!(error, Error::Refused { status: 403, .. });
    assert!(pictures.put("out/a", "text/plain", b"a").await.is_err_and(|error| is_denied(&error)));
    assert!(letters.put("in/a", "text/plain", b"a").await.is_err_and(|error| is_denied(&error)));
    assert!(letters.get("in/a").await.is_err_and(|error| is_denied(&error)));
    assert!(letters.list("").await.is_err_and(|error| is_denied(&error)));
    // An absent object: the role may list one of the buckets.
    assert!(!pictures.has("in/b").await.expect("its role allows it"));
    assert!(letters.has("open/b").await.is_err_and(|error| is_denied(&error)));
    assert!(letters.get("open/b").await.is_err_and(|error| is_denied(&error)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_url_takes_exactly_the_upload_that_it_is_for() {
    let store = Store::open(None).await;
    let presigned = Presigned::open(&store.environment("GetNote", "local"), PICTURES).expect("a signer");
    let (picture, hour) = (b"a picture".as_slice(), Duration::from_hours(1));
    let sha256 = sha256_of(picture);
    let upload = Upload { key: "in/p 1.png", size: 9, content_type: "image/png", sha256: &sha256 };
    let (url, headers) = presigned.put(&upload, hour).expect("a URL");
    let pictures = store.bucket(PICTURES);
    let send = async |url: &str, headers: &[(String, String)], body: &[u8]| {
        let mut request = Client::new().put(url).body(body.to_vec());
        for (name, value) in headers.iter().filter(|(name, _)| name != "content-length") {
            request = request.header(name, value);
        }
        request.send().await.expect("an answer").status().as_u16()
    };
    let with = |name: &str, value: &str| {
        let change = |(known, old): &(String, String)| {
            (known.clone(), if known == name { value.to_owned() } else { old.clone() })
        };
        headers.iter().map(change).collect::<Vec<_>>()
    };

    assert_ne!(send(&url, &headers, b"a longer picture").await, 200, "another size");
    assert_ne!(send(&url, &headers, b"A PICTURE").await, 200, "another content of the same size");
    assert_ne!(send(&url, &with("content-type", "text/html"), picture).await, 200, "another type");
    assert_ne!(send(&url, &with("x-amz-checksum-sha256", &sha256_of(b"A PICTURE")), b"A PICTURE").await, 200);
    assert_ne!(send(&url.replace("p%201", "p%202"), &headers, picture).await, 200, "another key");
    let without: Vec<_> = headers.iter().filter(|(name, _)| name != "if-none-match").cloned().collect();
    assert_ne!(send(&url, &without, picture).await, 200, "a header is missing");
    assert_eq!(pictures.list("").await.expect("a list"), Vec::<String>::new(), "nothing was written");

    let at_once = join_all((0..8).map(|_| send(&url, &headers, picture))).await;
    assert_eq!(at_once.iter().filter(|status| **status == 200).count(), 1, "one of many writes it: {at_once:?}");
    assert_eq!(send(&url, &headers, picture).await, 412, "there is such an object");
    let written = pictures.get("in/p 1.png").await.expect("an answer").expect("it is there");
    assert_eq!(written, picture);
    let short = Upload { key: "in/q", ..upload };
    let (expired, headers) = presigned.put(&short, Duration::from_secs(1)).expect("a URL");
    tokio::time::sleep(Duration::from_millis(2100)).await;
    assert_eq!(send(&expired, &headers, picture).await, 403, "it has expired");
    // A signed URL is worth what its signer may do.
    let (forbidden, headers) = presigned.put(&Upload { key: "out/p", ..upload }, hour).expect("a URL");
    assert_eq!(send(&forbidden, &headers, picture).await, 403, "its signer may not write there");
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_kept_in_the_data_directory_as_files_and_survive_a_restart() {
    let directory = std::env::temp_dir().join(format!("till-buckets-{}", uuid::Uuid::new_v4()));
    let store = Store::open(Some(directory.clone())).await;
    store.bucket("letters").put("in/a.txt", "text/plain", b"dear").await.expect("it is written");
    store.stack.shutdown().await.expect("it stops");
    let file = directory.join("buckets/letters/in/a.txt");
    assert_eq!(std::fs::read(&file).expect("a file"), b"dear");

    let store = Store::open(Some(directory.clone())).await;
    let object = store.bucket("letters").get("in/a.txt").await.expect("an answer").expect("it is there");
    assert_eq!(object, b"dear");
    store.stack.shutdown().await.expect("it stops");
    std::fs::remove_dir_all(directory).expect("it can be removed");
}
