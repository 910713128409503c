//! What a function asks of the table, as data: from it follows what its role allows.

use std::sync::LazyLock;

use utoipa::PartialSchema as _;
use utoipa::openapi::{Object, RefOr, Schema};

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
        "GSI1PK allowances cancellation changedAt credits deliveredAt erased hasAddress requestId returnStatuses returning shipmentStatuses shipped status version",
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
    static SCHEMA: LazyLock<Object> = LazyLock::new(|| match Product::schema() {
        RefOr::T(Schema::Object(product)) => product,
        _ => Object::new(),
    });

    let fields = SCHEMA.properties.keys().map(String::as_str).filter(|name| !OF_NEW_PRODUCT.contains(name));
    let keys = [Index::Gsi1, Index::Gsi2].map(|index| <[_; 2]>::from(index.attributes())).concat();
    let mut all: Vec<_> = keys.into_iter().chain(fields).collect();
    all.sort_unstable();
    all
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
