//! Uploads of images, as a browser makes them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use key_schema::value::ImageId;
use lambda::Environment;
use objects::Bucket;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::aws_json::OPERATOR;
use crate::{Reply, Shop};

/// The content of every image here.
pub const PICTURE: &[u8] = b"picture!";

pub fn new_image(content: &[u8]) -> Value {
    let sha256 = BASE64_STANDARD.encode(Sha256::digest(content));
    json!({ "contentType": "image/webp", "size": content.len(), "sha256": sha256 })
}

impl Shop {
    /// The bucket of images, as an operator sees it.
    pub fn images(&self) -> Bucket {
        let name = &self.template().function("AddImage").expect("a function").environment["IMAGES_BUCKET"];
        let s3 = self.s3_url().expect("the template has buckets");
        let variables = [
            ("AWS_REGION", "us-east-1"),
            ("AWS_ACCESS_KEY_ID", OPERATOR),
            ("AWS_SECRET_ACCESS_KEY", "local"),
            ("AWS_ENDPOINT_URL_S3", s3),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Bucket::open(&Environment::of(variables), name).expect("a client")
    }

    /// Puts an image's object directly into the bucket.
    pub async fn put_image(&self, product: &str, image: &ImageId) {
        self.images().put(&format!("images/{product}/{image}"), "image/webp", PICTURE).await.expect("it is written");
    }

    pub async fn signed_upload(&self, product: &str) -> Value {
        self.admin().post(&format!("/products/{product}/images"), new_image(PICTURE)).await.expect(200)
    }

    /// Makes a signed upload with this content, and returns the status.
    pub async fn upload(&self, signed: &Value, content: &[u8]) -> u16 {
        let mut request = self.http.put(signed["url"].as_str().expect("a URL")).body(content.to_vec());
        for (name, value) in signed["headers"].as_object().expect("headers") {
            // The client adds the length by itself.
            if name != "content-length" {
                request = request.header(name, value.as_str().expect("a text"));
            }
        }
        request.send().await.expect("an answer").status().as_u16()
    }

    /// Uploads an image, and returns its id.
    pub async fn uploaded(&self, product: &str) -> String {
        let signed = self.signed_upload(product).await;
        assert_eq!(self.upload(&signed, PICTURE).await, 200);
        signed["imageId"].as_str().expect("an id").to_owned()
    }

    pub async fn confirm_image(&self, product: &str, image: &str) -> Reply {
        self.admin().send(Method::PUT, &format!("/products/{product}/images/{image}"), &[], None).await
    }

    /// Confirms an image, or changes what is said about it.
    pub async fn say_of_image(&self, product: &str, image: &str, changes: Value) -> Reply {
        self.admin().put(&format!("/products/{product}/images/{image}"), changes).await
    }

    pub async fn remove_image(&self, product: &str, image: &str) -> Reply {
        self.admin().send(Method::DELETE, &format!("/products/{product}/images/{image}"), &[], None).await
    }

    pub async fn set_images(&self, product: &str, images: &[&ImageId]) {
        let images: Vec<_> = images.iter().map(|image| json!({ "M": { "imageId": { "S": image } } })).collect();
        let key = json!({ "S": format!("p#{product}") });
        let update = json!({
            "TableName": self.table(), "Key": { "PK": key, "SK": key }, "UpdateExpression": "SET images = :images",
            "ExpressionAttributeValues": { ":images": { "L": images } },
        });
        self.dynamodb("UpdateItem", &update).await;
    }

    /// Invokes `tidy-images` once, and returns its report.
    pub async fn tidy_images(&self) -> Value {
        self.consumer("tidy-images", &self.endpoints())(json!({})).await.expect("a report")
    }
}
