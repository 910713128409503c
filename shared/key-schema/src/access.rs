//! What a function asks of the table, as data: from it follows what its role allows.

use serde::de::{Deserialize, Deserializer, Error as _, Visitor, value};
use serde::forward_to_deserialize_any;

use crate::entity::{Entity as _, Product};
use crate::layout::{COPIED, Index, Layout};

pub use single_table::access::{Access, Action, EVERY};

/// The partitions of guests alone: their ids begin like no customer's.
pub const GUESTS: &str = "c#guest-{hash}";

/// The attributes, besides the key, that updates of an item name: those that some function changes, and those that a
/// condition of an update tests. A star stands for the rest of a name. All other attributes stay as the item was put. A
/// test compares the list with the calls of an eventful day, and every test enforces it.
const CHANGED: &[(&str, &str)] = &[
    ("customer", "email guests name username version"),
    ("customerStats", "EntityType customerId openUnits orders spent:*"),
    ("guest", "claimedBy email expiresAt"),
    ("cart", "expiresAt lines version"),
    ("emailClaim", "customerId email"),
    ("usernameClaim", "customerId username"),
    ("product", "*"),
    ("stock", "available cells heldByGuests price priceVersion putBacks recalled transferred"),
    ("stockCell", "available price priceVersion putBacks transferred"),
    ("productStats", "EntityType orders productId revenue:* units"),
    ("viewShard", "views"),
    ("categoryCount", "EntityType category products"),
    (
        "order",
        "GSI1PK allowances cancellation changedAt credits deliveredAt deliveredCount erased hasAddress requestId returnCount returning shipmentCount shipped status version",
    ),
    ("invoice", "GSI1PK GSI1SK number payments unnumbered version"),
    ("invoiceCounter", "EntityType last series"),
    ("orderFlag", "EntityType GSI1PK GSI1SK flaggedAt orderId reason"),
    ("return", "GSI1PK GSI1SK amount closedAt reason refusal restocked status"),
    ("shipment", "deliveredAt trackingNumber trackingUrl"),
    ("queuedOrder", "deadSince queuedAt refusal requestHash"),
    ("discount", "from heldByGuests maxUses revoked to uses version"),
    ("giftCard", "balance blocked validUntil version"),
    ("giftCardEntry", "returned status"),
    ("dayTotals", "EntityType date orders revenue:* status:* units"),
];

/// What never changes of a product. All else does, so a new field needs no entry here.
const OF_NEW_PRODUCT: [&str; 2] = ["productId", "initialStock"];

/// Each entity that updates change, with the attributes that they name besides the key.
pub fn changed() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    CHANGED.iter().map(|(entity, names)| match *entity {
        Product::TYPE => (Product::TYPE, attributes_of_products()),
        entity => (entity, names.split(' ').collect()),
    })
}

fn attributes_of_products() -> Vec<&'static str> {
    let fields = fields_of::<Product>().iter().copied().filter(|name| !OF_NEW_PRODUCT.contains(name));
    let keys = [Index::Gsi1, Index::Gsi2].map(|index| <[_; 2]>::from(index.attributes())).concat();
    let mut all: Vec<_> = keys.into_iter().chain(fields).collect();
    all.sort_unstable();
    all
}

/// The names of the struct's fields, as its `Deserialize` asks for them.
fn fields_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    struct Asked<'a>(&'a mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Asked<'_> {
        type Error = value::Error;

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = fields;
            Err(value::Error::custom("only its fields are wanted"))
        }

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(value::Error::custom("it is no struct"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut fields: &[&str] = &[];
    _ = T::deserialize(Asked(&mut fields));
    fields
}

/// The attributes of the items that the request may name, as patterns of a policy; `None` if it may name all of them.
/// An update names what it changes and what its condition tests. A whole item has all attributes, so there is nothing
/// to withhold from a put or from a read of whole items.
pub fn attributes(access: &Access) -> Option<Vec<&'static str>> {
    let others = match access.action {
        Action::BatchGetItem if access.is_of_keys => Vec::new(),
        Action::UpdateItem => changed().find(|(entity, _)| *entity == access.subject)?.1,
        _ => return None,
    };
    let (partition, sort) = Index::Table.attributes();
    let copied = (access.action == Action::UpdateItem).then_some(COPIED);
    Some([partition, sort].into_iter().chain(copied).chain(others).collect())
}

/// The pattern of the access's partition keys in a layout, as a policy spells it: `p#*`.
pub fn leading_keys(access: &Access, layout: Layout) -> String {
    single_table::access::leading_keys(&layout.partition(access.index, access.partition.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::{Customer, Guest};
    use crate::layout::CUSTOMER_BY_ID;
    use crate::value::GuestSecret;

    #[test]
    fn an_access_of_guests_is_to_the_collection_of_every_guest_and_of_no_customer() {
        let secret: GuestSecret = "dGhlIHNlY3JldCBvZiBhIGd1ZXN0IG9mIG15IHNob3A".parse().expect("a secret");
        let keys = leading_keys(&Access::query(CUSTOMER_BY_ID).of_partitions(GUESTS), Layout::V1);
        let prefix = keys.strip_suffix('*').expect("a prefix");
        assert!(Guest::key_of(&secret.guest_id()).partition.starts_with(prefix));
        let customer = "guest".parse().expect("an id");
        assert!(!Customer::key_of(&customer).partition.starts_with(prefix));
    }
}
