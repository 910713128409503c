//! Identifiers and codes.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{Invalid, KeyPart};

/// The namespace of every identifier that Till derives (UUIDv5, RFC 9562). Changing it changes every future order
/// id, and with that forgets which requests were already answered.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f2d_9a57_1c0e_4b7b_9d51_7a1f_0c3e_5d42);

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident = $label:literal;)+) => {$(
        $(#[$doc])*
        ///
        /// 1 to 64 characters of `[A-Za-z0-9_-]`, compared byte for byte.
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(try_from = "String")]
        #[schema(value_type = String, pattern = "^[A-Za-z0-9_-]{1,64}$")]
        pub struct $name(String);

        impl $name {
            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Invalid;

            fn try_from(text: String) -> Result<Self, Invalid> {
                let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
                if (1..=64).contains(&text.len()) && text.bytes().all(allowed) {
                    Ok(Self(text))
                } else {
                    Err(Invalid::new(concat!($label, " must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -")))
                }
            }
        }

        impl FromStr for $name {
            type Err = Invalid;

            fn from_str(text: &str) -> Result<Self, Invalid> {
                Self::try_from(text.to_owned())
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl KeyPart for $name {
            fn write_to(&self, key: &mut String) {
                key.push_str(&self.0);
            }
        }
    )+};
}

ids! {
    /// A customer: the `sub` of the customer's token.
    CustomerId = "customerId";
    /// A product.
    ProductId = "productId";
    /// An order. Derived from the request that made it.
    OrderId = "orderId";
    /// An invoice. Derived from its order.
    InvoiceId = "invoiceId";
    /// A discount code.
    DiscountCode = "discount code";
    /// A gift card's code.
    GiftCardCode = "gift card code";
    /// What is kept of a request that had an idempotency key. Derived from its caller and the key.
    IdempotencyRecordId = "idempotency record id";
    /// A category of the catalogue, as a slug (`home-and-garden`).
    Category = "category";
}

impl ProductId {
    /// A new identifier, different from all others (UUIDv4).
    pub fn random() -> Self {
        Self(Uuid::new_v4().to_string())
    }
}

impl OrderId {
    /// The order that this request makes: UUIDv5 of customer and idempotency key.
    ///
    /// The identifier is a pure function of the request, so the same request, however often and by whatever way it
    /// arrives, names the same order. A customer id holds no `#`, so no two pairs read alike.
    pub fn of(customer: &CustomerId, key: &IdempotencyKey) -> Self {
        let name = format!("{customer}#{}", key.as_str());
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string())
    }

    /// A stable number for this order below `count`: the same on every machine and in every version.
    pub fn spread(&self, count: u8) -> u8 {
        let hash = Sha256::digest(self.0.as_bytes());
        let number = u16::from_be_bytes([hash[0], hash[1]]) % u16::from(count.max(1));
        number.to_le_bytes()[0]
    }
}

impl IdempotencyRecordId {
    /// The record of the requests that a caller sends under a key: UUIDv5 of the two. A caller's id holds no `#`.
    pub fn of(caller: &CustomerId, key: &IdempotencyKey) -> Self {
        let name = format!("request#{caller}#{}", key.as_str());
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()).to_string())
    }
}

impl InvoiceId {
    /// What the id of an invoice has before that of its order.
    const PREFIX: &str = "inv-";

    /// The one invoice of an order. Its id leads back to the order: [`order`](Self::order).
    pub fn of(order: &OrderId) -> Self {
        Self(format!("{}{order}", Self::PREFIX))
    }

    /// The order of the invoice. `None` if the id was given by the release of 2026-11-21, whose ids were UUIDs: only the
    /// index knows their orders.
    pub fn order(&self) -> Option<OrderId> {
        self.0.strip_prefix(Self::PREFIX)?.parse().ok()
    }
}

/// The value of an `Idempotency-Key` header: 1 to 255 printable ASCII characters, chosen by the client.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for IdempotencyKey {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::try_from(text.to_owned())
    }
}

impl TryFrom<String> for IdempotencyKey {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        if (1..=255).contains(&text.len()) && text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("Idempotency-Key must be 1 to 255 printable ASCII characters"))
        }
    }
}

/// What a request asked for, in 43 characters: SHA-256 of its canonical form, in base64url.
///
/// It tells a repeated request from another request under a reused key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequestHash(String);

impl FromStr for RequestHash {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match URL_SAFE_NO_PAD.decode(text) {
            Ok(digest) if digest.len() == Sha256::output_size() => Ok(Self(text.to_owned())),
            _ => Err(Invalid::new("a request's hash must be a SHA-256 in base64url")),
        }
    }
}

impl RequestHash {
    /// The hash of a request's canonical form.
    pub fn of(canonical: &[u8]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(Sha256::digest(canonical)))
    }

    /// The hash as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_id_that_could_leave_its_key_segment_is_refused() {
        for text in ["", "a#b", "a b", "é", "a\n", &"x".repeat(65)] {
            assert!(text.parse::<CustomerId>().is_err(), "{text:?}");
        }
        assert!("x".repeat(64).parse::<CustomerId>().is_ok());
    }

    #[test]
    fn the_derivation_of_order_ids_never_changes() {
        let customer: CustomerId = "ada".parse().expect("an id");
        let key: IdempotencyKey = "first".parse().expect("a key");
        assert_eq!(OrderId::of(&customer, &key).as_str(), "cfd2ee81-ea09-51ba-9720-b8382bcdedb5");
    }

    #[test]
    fn an_invoice_leads_back_to_its_order_unless_the_last_release_named_it() {
        let order: OrderId = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5".parse().expect("an id");
        let invoice = InvoiceId::of(&order);
        assert_eq!(invoice.as_str(), "inv-cfd2ee81-ea09-51ba-9720-b8382bcdedb5");
        assert_eq!(invoice.as_str().parse::<InvoiceId>().expect("an id").order(), Some(order));
        for other in ["b4dd6961-3f4a-5a57-bfa4-8b4f881e2819", "inv-", "inv"] {
            assert_eq!(other.parse::<InvoiceId>().expect("an id").order(), None);
        }
    }

    proptest! {
        #[test]
        fn different_requests_make_different_orders(
            a in "[A-Za-z0-9_-]{1,8}", b in "[A-Za-z0-9_-]{1,8}", x in "[ -~]{1,8}", y in "[ -~]{1,8}",
        ) {
            let order = |customer: &str, key: &str| OrderId::of(&customer.parse().expect("an id"), &key.parse().expect("a key"));
            prop_assert_eq!(order(&a, &x) == order(&b, &y), (a, x) == (b, y));
        }
    }

    #[test]
    fn an_idempotency_key_is_printable_and_short() {
        let long = "x".repeat(256);
        for text in ["k", " ~", &long[1..]] {
            assert_eq!(text.parse::<IdempotencyKey>().map(|key| key.as_str().to_owned()), Ok(text.to_owned()));
        }
        for text in ["", "a\u{7f}", "a\n", "\u{e4}", &long] {
            assert!(text.parse::<IdempotencyKey>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_request_hash_is_a_sha_256() {
        let hash = RequestHash::of(b"abc");
        assert_eq!(hash.as_str(), "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0");
        assert_eq!(hash.as_str().parse(), Ok(hash.clone()));
        for text in ["", "xyzzy", &hash.as_str()[..40], &format!("{}AAAA", hash.as_str())] {
            assert!(text.parse::<RequestHash>().is_err(), "{text}");
        }
    }

    #[test]
    fn an_order_keeps_its_shard_and_orders_are_spread_evenly() {
        let order: OrderId = "cfd2ee81-ea09-51ba-9720-b8382bcdedb5".parse().expect("an id");
        assert_eq!([0, 1, 8, 64].map(|shards| order.spread(shards)), [0, 0, 5, 13]);
        let ada: CustomerId = "ada".parse().expect("an id");
        let mut counts = [0; 8];
        for key in 0..8_000 {
            let order = OrderId::of(&ada, &key.to_string().parse().expect("a key"));
            counts[usize::from(order.spread(8))] += 1;
        }
        assert!(counts.iter().all(|count| (900..1_100).contains(count)), "{counts:?}");
    }

    #[test]
    fn every_new_product_has_another_id() {
        assert_ne!(ProductId::random(), ProductId::random());
        assert!(ProductId::random().as_str().parse::<ProductId>().is_ok());
    }

    #[test]
    fn the_derivation_of_idempotency_records_never_changes() {
        let (caller, key) = ("ada".parse().expect("an id"), "first".parse().expect("a key"));
        assert_eq!(IdempotencyRecordId::of(&caller, &key).as_str(), "6d969e68-77be-588c-8366-ded6b7e49a91");
    }
}
