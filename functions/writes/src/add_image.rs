//! `POST /products/{productId}/images`: signs the upload of an image.

use http_api::{Answer, Example, ImageUploadView, Json, Kind, Path, Route, Scope};
use images::{MOST_BYTES, NewImage as Signed, UPLOAD_SECONDS, Uploads};
use key_schema::access::Access;
use key_schema::entity::Product;
use key_schema::value::{ImageId, ProductId, Timestamp};
use serde::Deserialize;
use table::{Budget, Reader};
use utoipa::ToSchema;

use crate::{image_change, optimistic};

pub const ROUTE: Route = Route::post("/products/{productId}/images", Scope::Admin)
    .summary(
        "Begin to add an image to a product. Upload the image itself to the URL in the answer within 15 minutes, with the \
         headers in the answer, and confirm it within an hour.",
    )
    .refuses(&[Kind::NotFound, Kind::TooManyImages])
    .access(&[Access::batch_get::<Product>()])
    .grants(&[images::UPLOAD])
    .example(Example::at("09:30:20").path("espresso-cup").body(
        r#"{
            "contentType": "image/webp",
            "size": 8,
            "sha256": "mH/bNyrHdbaEhhucpagF0CHQNlMm8a7GVF+eIMgwdJg="
        }"#,
    ));

/// An image that will be uploaded.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewImage {
    content_type: ContentType,
    /// The size in bytes: at most 10 MiB.
    #[schema(value_type = u32, minimum = 1, maximum = 10_485_760)]
    size: Size,
    /// The SHA-256 of the image, in base 64.
    #[schema(value_type = String, pattern = "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$")]
    sha256: Sha256,
}

/// The media types that every browser shows as a picture and never runs: an SVG may contain scripts.
#[derive(Clone, Copy, Deserialize, ToSchema)]
enum ContentType {
    #[serde(rename = "image/avif")]
    Avif,
    #[serde(rename = "image/gif")]
    Gif,
    #[serde(rename = "image/jpeg")]
    Jpeg,
    #[serde(rename = "image/png")]
    Png,
    #[serde(rename = "image/webp")]
    Webp,
}

impl ContentType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Avif => "image/avif",
            Self::Gif => "image/gif",
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
        }
    }
}

#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "u32")]
struct Size(u32);

impl TryFrom<u32> for Size {
    type Error = &'static str;

    fn try_from(bytes: u32) -> Result<Self, Self::Error> {
        (1..=MOST_BYTES).contains(&bytes).then_some(Self(bytes)).ok_or("must be 1 to 10485760 bytes")
    }
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Sha256(String);

impl TryFrom<String> for Sha256 {
    type Error = &'static str;

    /// 32 bytes are 43 characters, the last of which has four bits.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/".contains(byte);
        match text.as_bytes() {
            [first @ .., last, b'='] if first.len() == 42 && first.iter().all(is_digit) && has_four_bits(*last) => {
                Ok(Self(text))
            }
            _ => Err("must be a SHA-256 in base 64, which has 44 characters"),
        }
    }
}

const fn has_four_bits(digit: u8) -> bool {
    matches!(
        digit,
        b'A' | b'E' | b'I' | b'M' | b'Q' | b'U' | b'Y' | b'c' | b'g' | b'k' | b'o' | b's' | b'w' | b'0' | b'4' | b'8'
    )
}

/// Writes nothing: the signed URL and the time in the image's id are all there is of an upload. So an upload that is
/// never finished leaves nothing behind, and one that is never confirmed leaves an object, which `tidy-images` deletes.
pub async fn handle(
    (table, uploads): (Reader, Uploads),
    Path(product): Path<ProductId>,
    Json(NewImage { content_type, size, sha256 }): Json<NewImage>,
    budget: Budget,
) -> Answer<Json<ImageUploadView>> {
    image_change::has_room(&optimistic::read(&table, Product::key_of(&product), budget).await?)?;
    let now = Timestamp::now();
    let image_id = ImageId::random(now);
    let signed = Signed { size: size.0, content_type: content_type.as_str(), sha256: &sha256.0 };
    let (url, headers) = uploads.sign(&product, &image_id, &signed)?;
    let expires_at = now.plus_seconds(UPLOAD_SECONDS);
    Ok(Json(ImageUploadView { image_id, method: "PUT", url, headers, expires_at }))
}
