//! The records of a file of history: customers, guests and products. What a client sends in a request has the type of the
//! request here, too: [`given`]. Discount codes and gift cards are in
//! [`code_records`](super::code_records), orders in [`order_record`](super::order_record).

use std::collections::BTreeMap;

use http_api::read_document;
use key_schema::entity::{Customer, Guest, Product, ProductDescription, ProductImage, WholeStock};
use key_schema::value::{
    AltText, Attributes, Category, Cells, Charge, CustomerId, Description, EmailAddress, Grams, ImageId, Money, Name,
    Pixels, ProductId, Timestamp, Username,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use serde_with::skip_serializing_none;
use utoipa::ToSchema;

use super::code_records::{DiscountRecord, GiftCardRecord};
use super::order_record::OrderRecord;

/// One line of a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Record {
    Customer(CustomerRecord),
    Guest(GuestRecord),
    Product(ProductRecord),
    Discount(DiscountRecord),
    GiftCard(GiftCardRecord),
    Order(Box<OrderRecord>),
}

/// The kind of a line, and its other members.
#[derive(Deserialize)]
struct Tagged {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(flatten)]
    members: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Customer,
    Guest,
    Product,
    Discount,
    GiftCard,
    Order,
}

/// Reads a member by the type `T` that requests have for it.
pub(super) fn given<'de, T: Deserialize<'de> + Into<U>, U, D: Deserializer<'de>>(from: D) -> Result<U, D::Error> {
    T::deserialize(from).map(Into::into)
}

/// The same for a member that may be absent.
pub(super) fn given_if_any<'de, T, U, D>(from: D) -> Result<Option<U>, D::Error>
where
    T: Deserialize<'de> + Into<U>,
    D: Deserializer<'de>,
{
    Ok(Option::<T>::deserialize(from)?.map(Into::into))
}

/// A customer with the claims of the address and the username.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CustomerRecord {
    pub customer_id: CustomerId,
    /// Unique in the shop, regardless of case.
    pub username: Username,
    /// Unique in the shop, regardless of case.
    pub email: EmailAddress,
    #[serde(deserialize_with = "given::<Name, _, _>")]
    #[schema(value_type = Name)]
    pub name: String,
    /// The time of the sign-up.
    pub created_at: Timestamp,
    /// The number of times the profile was written.
    #[serde(default = "one")]
    pub version: u64,
    /// The time at which the customer was erased. Such a record has neutral texts and no claims. Its orders keep the id.
    pub erased_at: Option<Timestamp>,
    /// The guests whom the customer has claimed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 20)]
    pub guests: Vec<CustomerId>,
}

/// A guest with orders. Guests without orders expire, and are no history.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GuestRecord {
    /// `guest-` and the hash of the guest's secret.
    pub customer_id: CustomerId,
    pub email: EmailAddress,
    #[serde(deserialize_with = "given::<Name, _, _>")]
    #[schema(value_type = Name)]
    pub name: String,
    pub created_at: Timestamp,
    /// The customer who has claimed the guest, and names the guest among `guests`.
    pub claimed_by: Option<CustomerId>,
}

/// A product with its stock.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ProductRecord {
    pub product_id: ProductId,
    #[serde(deserialize_with = "given::<Name, _, _>")]
    #[schema(value_type = Name)]
    pub name: String,
    #[serde(default, deserialize_with = "given::<Description, _, _>")]
    #[schema(value_type = Description)]
    pub description: String,
    pub category: Category,
    /// The price of one unit today. The lines of orders have their own prices.
    #[serde(deserialize_with = "given::<Charge, _, _>")]
    #[schema(value_type = Charge)]
    pub price: Money,
    /// The weight of one unit in grams.
    pub weight_grams: Option<Grams>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "given::<Attributes, _, _>")]
    #[schema(value_type = Attributes)]
    pub attributes: BTreeMap<String, String>,
    /// The product of which this is a variant.
    pub variant_of: Option<ProductId>,
    /// Whether lists, categories and the search have the product.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    #[schema(default = true)]
    pub listed: bool,
    /// Whether the product is recalled, so that it cannot be ordered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recalled: bool,
    /// The images. The objects themselves are in the bucket of the shop that has this product.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<ImageRecord>,
    /// The units that can be sold today. Importing an order does not change them.
    #[serde(default)]
    pub available: u64,
    /// The number of cells over which the units are spread.
    #[serde(default)]
    pub cells: Cells,
    /// The units when the product was created. If absent: `available`.
    pub initial_stock: Option<u32>,
    /// The number of times the product was written.
    #[serde(default = "one")]
    pub version: u64,
}

/// An image of a product.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ImageRecord {
    pub image_id: ImageId,
    /// The text for people who do not see the image.
    pub alt: Option<AltText>,
    /// The width in pixels.
    pub width: Option<Pixels>,
    /// The height in pixels.
    pub height: Option<Pixels>,
}

impl From<ImageRecord> for ProductImage {
    fn from(ImageRecord { image_id, alt, width, height }: ImageRecord) -> Self {
        Self { image_id, alt, width, height }
    }
}

impl From<ProductImage> for ImageRecord {
    fn from(ProductImage { image_id, alt, width, height }: ProductImage) -> Self {
        Self { image_id, alt, width, height }
    }
}

const fn yes() -> bool {
    true
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_yes(value: &bool) -> bool {
    *value
}

fn one() -> u64 {
    1
}

impl Record {
    /// The record in a line of JSON.
    pub(super) fn read(line: &[u8]) -> Result<Self, String> {
        let Tagged { kind, members } = read_document(line)?;
        let members = serde_json::to_vec(&members).map_err(|error| error.to_string())?;
        Ok(match kind {
            Kind::Customer => Self::Customer(read_document(&members)?),
            Kind::Guest => Self::Guest(read_document(&members)?),
            Kind::Product => Self::Product(read_document(&members)?),
            Kind::Discount => Self::Discount(read_document(&members)?),
            Kind::GiftCard => Self::GiftCard(read_document(&members)?),
            Kind::Order => Self::Order(Box::new(read_document::<OrderRecord>(&members)?.joined()?)),
        })
    }

    /// The kind and the id, as reports name the record.
    pub(super) fn name(&self) -> (&'static str, &str) {
        match self {
            Self::Customer(record) => ("customer", record.customer_id.as_str()),
            Self::Guest(record) => ("guest", record.customer_id.as_str()),
            Self::Product(record) => ("product", record.product_id.as_str()),
            Self::Discount(record) => ("discount", record.code.as_str()),
            Self::GiftCard(record) => ("giftCard", record.code.as_str()),
            Self::Order(record) => ("order", record.order_id.as_str()),
        }
    }

    /// The position of the record in an exported file: what orders refer to comes before the orders.
    pub(super) fn position(&self) -> String {
        let id = self.name().1;
        match self {
            Self::Customer(record) => format!("1 {} {id}", record.created_at),
            Self::Guest(record) => format!("1 {} {id}", record.created_at),
            Self::Product(_) => format!("2 {id}"),
            Self::Discount(record) => format!("3 {} {id}", record.created_at),
            Self::GiftCard(record) => format!("4 {} {id}", record.created_at),
            Self::Order(record) => format!("5 {} {id}", record.placed_at),
        }
    }
}

/// Adds a reason unless the condition holds.
pub(super) fn require(reasons: &mut Vec<String>, holds: bool, reason: impl FnOnce() -> String) {
    if !holds {
        reasons.push(reason());
    }
}

/// Adds a reason if the moment is yet to come.
pub(super) fn past(reasons: &mut Vec<String>, field: &str, at: Timestamp, now: Timestamp) {
    require(reasons, at <= now, || format!("{field}: {at} is in the future"));
}

impl CustomerRecord {
    /// The profile.
    pub(super) fn entity(&self, now: Timestamp) -> Result<Customer, Vec<String>> {
        let mut reasons = Vec::new();
        past(&mut reasons, "createdAt", self.created_at, now);
        require(&mut reasons, self.version > 0, || "version: must be at least 1".to_owned());
        require(&mut reasons, !self.customer_id.is_guest(), || "customerId: is that of a guest".to_owned());
        let are_guests = self.guests.len() <= Customer::MOST_GUESTS && self.guests.iter().all(CustomerId::is_guest);
        require(&mut reasons, are_guests, || "guests: at most 20 ids that begin with guest-".to_owned());
        let Self { customer_id, username, email, name, created_at, version, erased_at, guests } = self.clone();
        let customer = Customer { customer_id, username, email, name, created_at, version, erased_at, guests };
        if let Some(at) = erased_at {
            past(&mut reasons, "erasedAt", at, now);
            let has_texts = || "erasedAt: an erased customer has no name and no address".to_owned();
            require(&mut reasons, customer.is_tombstone(), has_texts);
        }
        if reasons.is_empty() { Ok(customer) } else { Err(reasons) }
    }
}

impl GuestRecord {
    /// The profile, which does not expire.
    pub(super) fn entity(&self, now: Timestamp) -> Result<Guest, Vec<String>> {
        let mut reasons = Vec::new();
        past(&mut reasons, "createdAt", self.created_at, now);
        require(&mut reasons, self.customer_id.is_guest(), || "customerId: must begin with guest-".to_owned());
        let is_by_customer = self.claimed_by.as_ref().is_none_or(|customer| !customer.is_guest());
        require(&mut reasons, is_by_customer, || "claimedBy: is that of a guest".to_owned());
        let Self { customer_id, email, name, created_at, claimed_by } = self.clone();
        if reasons.is_empty() {
            Ok(Guest { customer_id, email, name, created_at, expires_at: None, claimed_by })
        } else {
            Err(reasons)
        }
    }
}

impl From<Guest> for GuestRecord {
    fn from(guest: Guest) -> Self {
        let Guest { customer_id, email, name, created_at, expires_at: _, claimed_by } = guest;
        Self { customer_id, email, name, created_at, claimed_by }
    }
}

impl From<Customer> for CustomerRecord {
    fn from(customer: Customer) -> Self {
        let Customer { customer_id, username, email, name, created_at, version, erased_at, guests } = customer;
        Self { customer_id, username, email, name, created_at, version, erased_at, guests }
    }
}

impl ProductRecord {
    /// The product, the item with its description if that is long, and its stock.
    pub(super) fn entities(&self) -> Result<(Product, Option<ProductDescription>, WholeStock), Vec<String>> {
        let mut reasons = Vec::new();
        require(&mut reasons, self.version > 0, || "version: must be at least 1".to_owned());
        let available = self.available;
        require(&mut reasons, i64::try_from(available).is_ok(), || format!("available: {available} is too much"));
        let Self { product_id, name, description, category, price, weight_grams, images, cells, version, .. } =
            self.clone();
        let stock = WholeStock::shared_out(product_id.clone(), price, available, cells);
        let stock = WholeStock { recalled: self.recalled, ..stock };
        let initial_stock = self.initial_stock.unwrap_or(u32::try_from(available).unwrap_or(u32::MAX));
        let mut product = Product {
            product_id,
            name,
            description: String::new(),
            whole_description: None,
            category,
            price,
            listed: self.listed,
            images: images.into_iter().map(ProductImage::from).collect(),
            initial_stock,
            availability: stock.availability(0),
            availability_changes: 0,
            version,
            weight_grams: weight_grams.filter(|weight| weight.get() > 0),
            attributes: self.attributes.clone(),
            variant_of: self.variant_of.clone(),
        };
        let long = product.describe(description);
        if reasons.is_empty() { Ok((product, long, stock)) } else { Err(reasons) }
    }

    /// The record of a product with this description.
    pub(super) fn of(product: Product, description: String, stock: &WholeStock) -> Self {
        let Product {
            product_id,
            name,
            description: _,
            whole_description: _,
            category,
            price,
            weight_grams,
            attributes,
            variant_of,
            listed,
            images,
            initial_stock,
            availability: _,
            availability_changes: _,
            version,
        } = product;
        Self {
            product_id,
            name,
            description,
            category,
            price,
            weight_grams,
            attributes,
            variant_of,
            listed,
            recalled: stock.recalled,
            images: images.into_iter().map(ImageRecord::from).collect(),
            available: stock.available(),
            cells: stock.cells(),
            initial_stock: Some(initial_stock),
            version,
        }
    }
}
