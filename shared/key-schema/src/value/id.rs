//! Ids and codes.

use std::fmt::{self, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use uuid::{Builder, Uuid};

use super::{Day, IdempotencyKey, Invalid, KeyPart, Timestamp, guest};

#[cfg(test)]
mod tests;

/// The namespace of all ids that Till derives (UUIDv5, RFC 9562). If it changed, repeated requests would get new order
/// ids and be placed again.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f2d_9a57_1c0e_4b7b_9d51_7a1f_0c3e_5d42);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $label:literal $(in $case:ident)?;)+) => {$(
        $(#[$doc])*
        ///
        /// 1 to 64 characters of `[A-Za-z0-9_-]`, compared byte for byte.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(try_from = "String")]
        #[schema(value_type = String, pattern = "^[A-Za-z0-9_-]{1,64}$")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
                if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
                    $(let text = text.$case();)?
                    Ok(Self(text))
                } else {
                    Err(Invalid::new(concat!($label, " must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")))
                }
            }
        }

        values!(parsed: $name);
        values!(shown: $name);

        impl KeyPart for $name {
            fn write_to(&self, key: &mut String) {
                key.push_str(&self.0);
            }
        }
    )+};
}

ids! {
    /// A customer: the `sub` of the customer's token. Or a guest, who has no token: `guest-` and a hash.
    CustomerId = "customerId";
    /// An address of an address book.
    AddressId = "addressId";
    /// A method of shipping, such as `express`.
    ShippingMethodId = "methodId";
    /// A product.
    ProductId = "productId";
    /// An order. Derived from customer and idempotency key.
    OrderId = "orderId";
    /// An invoice. Contains the order's id.
    InvoiceId = "invoiceId";
    /// A series of invoice numbers: what its numbers begin with, such as a year.
    InvoiceSeries = "series of invoices";
    /// A return. Contains the order's id.
    ReturnId = "returnId";
    /// A shipment. Contains the order's id.
    ShipmentId = "shipmentId";
    /// A payment intent: a payment at the provider.
    IntentId = "payment intent id";
    /// A discount code, in upper case: people type it.
    DiscountCode = "discount code" in to_ascii_uppercase;
    /// A gift card's code, in upper case: people type it.
    GiftCardCode = "gift card code" in to_ascii_uppercase;
    /// A stored answer. Derived from caller and idempotency key.
    IdempotencyRecordId = "idempotency record id";
    /// A mark that a visitor has viewed a product on a day. Derived from the three.
    ViewMarkId = "view mark id";
    /// An image of a product. Random, and contains the time at which it was made.
    ImageId = "imageId";
    /// A repair of copies. Random.
    RepairId = "repair id";
    /// A holder of a lease. Random.
    HolderId = "holder id";
    /// A category of the catalogue, as a slug (`home-and-garden`).
    Category = "category";
}

impl CustomerId {
    /// The id of the guest whose secret has this hash, in base64url.
    pub(super) fn of_guest(hash: &str) -> Self {
        Self(format!("{}{hash}", guest::PREFIX))
    }

    /// Whether this is the id of a guest. Nobody has a token for it.
    pub fn is_guest(&self) -> bool {
        self.0.starts_with(guest::PREFIX)
    }
}

impl ProductId {
    /// A new random id (UUIDv4).
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string())
    }
}

impl AddressId {
    /// The id of an address that its client gives no id: a `UUIDv5` of the address, so the same request again gives the
    /// same id.
    pub fn of(address: &str) -> Self {
        Self(Uuid::new_v5(&NAMESPACE, format!("address#{address}").as_bytes()).to_string())
    }
}

impl HolderId {
    /// A new random id (UUIDv4).
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string())
    }
}

impl ImageId {
    /// A new id, which contains this time (a `UUIDv7`, RFC 9562). 74 of its bits are random, so nobody can guess it.
    pub fn random(now: Timestamp) -> Self {
        let random = Uuid::new_v4().into_bytes();
        // The version in byte 6 and the variant in byte 8 of a UUIDv4 are not random.
        let random = [0, 1, 2, 3, 4, 5, 9, 10, 11, 12].map(|at: usize| random[at]);
        let millis = u64::try_from(now.as_millisecond()).unwrap_or_default();
        Self(Builder::from_unix_timestamp_millis(millis, &random).into_uuid().to_string())
    }

    /// The time in this id. `None` if the id is of another form, so that there is no such image.
    pub fn made_at(&self) -> Option<Timestamp> {
        let id = Uuid::try_parse(&self.0).ok().filter(|id| id.get_version_num() == 7)?;
        // The milliseconds are the first 48 of the 128 bits.
        Timestamp::from_millisecond(i64::try_from(id.as_u128() >> 80).ok()?)
    }
}

impl OrderId {
    /// The id of the order for a customer and an idempotency key, as a UUIDv5 of the two.
    ///
    /// A request that is repeated, or that arrives through the queue, therefore has the same order id. A customer's id
    /// contains no `#`, so different pairs have different names.
    pub fn of(customer: &CustomerId, key: &IdempotencyKey) -> Self {
        let name = format!("{customer}#{}", key.as_str());
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string())
    }

    /// A number below `count` that depends only on this id: [`spread`].
    pub fn spread(&self, count: u8) -> u8 {
        spread(&self.0, count)
    }
}

/// A number below `count` that depends only on the text: the same on every machine and in every release.
pub fn spread(text: &str, count: u8) -> u8 {
    let hash = Sha256::digest(text.as_bytes());
    let number = u16::from_be_bytes([hash[0], hash[1]]) % u16::from(count.max(1));
    number.to_le_bytes()[0]
}

impl IdempotencyRecordId {
    /// The id of the record for a caller and an idempotency key, as a UUIDv5 of the two. A caller's id contains no `#`.
    pub fn of(caller: &CustomerId, key: &IdempotencyKey) -> Self {
        let name = format!("request#{caller}#{}", key.as_str());
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string())
    }
}

/// A visitor of the shop, as the visitor's browser calls itself: a random text that identifies no person.
///
/// 16 to 64 characters of `[A-Za-z0-9_-]`. The shop stores it nowhere.
#[derive(Clone, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(try_from = "String")]
#[schema(value_type = String, pattern = "^[A-Za-z0-9_-]{16,64}$")]
pub struct VisitorId(String);

impl TryFrom<String> for VisitorId {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if (16..=64).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("visitor must be 16 to 64 characters of A-Z, a-z, 0-9, _ and -"))
        }
    }
}

/// The visitor is in no log.
impl fmt::Debug for VisitorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VisitorId")
    }
}

impl ViewMarkId {
    /// The id of the mark that this visitor has viewed this product on this day: a SHA-256, from which nobody can
    /// find out the visitor. Day and product are its salt, so the marks of one visitor have nothing in common.
    pub fn of(day: Day, product: &ProductId, visitor: &VisitorId) -> Self {
        let hash = Sha256::digest(format!("{day}#{product}#{}", visitor.0).as_bytes());
        Self(URL_SAFE_NO_PAD.encode(hash))
    }
}

impl InvoiceId {
    const PREFIX: &str = "inv-";

    /// The id of an order's only invoice. It contains the order's id: [`order`](Self::order).
    pub fn of(order: &OrderId) -> Self {
        Self(format!("{}{order}", Self::PREFIX))
    }

    /// The order's id in this invoice's id. `None` for an id of another shop, which an imported
    /// invoice keeps. The index finds those invoices.
    pub fn order(&self) -> Option<OrderId> {
        self.0.strip_prefix(Self::PREFIX)?.parse().ok()
    }
}

impl ReturnId {
    const PREFIX: &str = "ret-";

    /// The id of the return that a request with this idempotency key makes of an order. So a repeated request finds its
    /// own return, and the return's order is found by the return's id.
    ///
    /// The hash has 16 characters, so that the id of a UUID fits into 64.
    pub fn of(order: &OrderId, key: &IdempotencyKey) -> Self {
        Self(of_order_and_key(Self::PREFIX, order, key))
    }

    /// The order's id in this return's id. `None` if the id is of another form, so that there is no such return.
    pub fn order(&self) -> Option<OrderId> {
        let (order, _) = self.0.strip_prefix(Self::PREFIX)?.rsplit_once('-')?;
        order.parse().ok()
    }
}

impl ShipmentId {
    const PREFIX: &str = "shp-";

    /// The id of the shipment that a request with this idempotency key makes of an order, in the form of a
    /// [`ReturnId`].
    pub fn of(order: &OrderId, key: &IdempotencyKey) -> Self {
        Self(of_order_and_key(Self::PREFIX, order, key))
    }

    /// The order's id in this shipment's id. `None` if the id is of another form, so that there is no such shipment.
    pub fn order(&self) -> Option<OrderId> {
        let (order, _) = self.0.strip_prefix(Self::PREFIX)?.rsplit_once('-')?;
        order.parse().ok()
    }
}

/// An id that contains an order's id, and a hash of the idempotency key.
fn of_order_and_key(prefix: &str, order: &OrderId, key: &IdempotencyKey) -> String {
    let hash = Sha256::digest(key.as_str().as_bytes());
    let mut id = format!("{prefix}{order}-");
    for byte in hash.iter().take(8) {
        // Writing to a string cannot fail.
        _ = write!(id, "{byte:02x}");
    }
    id
}
