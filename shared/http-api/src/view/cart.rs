use std::collections::HashMap;

use key_schema::entity::{Availability, Cart, CartLine, Offer, Product, ProductImage};
use key_schema::value::{CartVersion, Money, ProductId, Quantity, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

use super::ImageView;

/// A cart, with its products as they are now. It reserves nothing: an order is placed at the prices of its moment.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Cart)]
pub struct CartView {
    lines: Vec<CartLineView>,
    /// The sum of the amounts. Absent without lines, and if the prices have several currencies.
    #[schema(nullable = false)]
    subtotal: Option<Money>,
    /// The version by which an order may name the cart. It changes with each PUT. Absent if there is no cart, as are the
    /// times.
    #[schema(value_type = Option<CartVersion>, nullable = false)]
    version: Option<u64>,
    #[schema(nullable = false)]
    updated_at: Option<Timestamp>,
    /// The moment from which the cart no longer exists.
    expires_at: Option<Timestamp>,
}

/// One line of a cart.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CartLine)]
pub struct CartLineView {
    /// The product.
    product_id: ProductId,
    /// The number of units.
    quantity: Quantity,
    /// The product's name.
    name: String,
    /// The price of one unit.
    unit_price: Money,
    /// `quantity` times `unitPrice`.
    amount: Money,
    /// Whether the product can be bought, as of some seconds ago.
    availability: Availability,
    /// `false` if no list has the product. Absent otherwise.
    #[schema(nullable = false)]
    listed: Option<bool>,
    /// The first image of the product. Absent if there is none.
    #[schema(nullable = false)]
    thumbnail: Option<ImageView>,
    /// What was different when the product was put into the cart. Absent if nothing was.
    #[schema(nullable = false)]
    when_added: Option<PastOfferView>,
}

/// What has changed of a product since it was put into the cart: what it was then. What is the same is absent.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PastOffer)]
pub struct PastOfferView {
    /// The price of one unit.
    #[schema(nullable = false)]
    unit_price: Option<Money>,
    /// Whether the product could be bought.
    #[schema(nullable = false)]
    availability: Option<Availability>,
    /// Whether lists had the product.
    #[schema(nullable = false)]
    listed: Option<bool>,
}

/// A cart as it is stored, in the export of its customer.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = StoredCart)]
pub struct StoredCartView {
    lines: Vec<CartLine>,
    #[schema(value_type = CartVersion)]
    version: u64,
    updated_at: Timestamp,
    /// The moment from which the cart no longer exists.
    expires_at: Option<Timestamp>,
}

impl CartView {
    /// The cart of a customer who has none.
    pub const fn empty() -> Self {
        Self { lines: Vec::new(), subtotal: None, version: None, updated_at: None, expires_at: None }
    }

    /// The cart with its products, each with its thumbnail. `None` if a product is missing.
    pub fn new(
        cart: Cart,
        mut products: HashMap<ProductId, Product>,
        thumbnail: impl Fn(&Product) -> Option<(ProductImage, String)>,
    ) -> Option<Self> {
        let lines = cart.lines.into_iter().map(|line| {
            let product = products.remove(&line.product_id)?;
            let thumbnail = thumbnail(&product).map(ImageView::new);
            Some(CartLineView::new(line, product, thumbnail))
        });
        let lines: Vec<_> = lines.collect::<Option<_>>()?;
        let mut amounts = lines.iter().map(|line| Some(line.amount));
        let subtotal = amounts.next().flatten();
        let subtotal = amounts.fold(subtotal, |sum, amount| sum?.checked_add(amount?));
        let (version, updated_at) = (Some(cart.version), Some(cart.updated_at));
        Some(Self { lines, subtotal, version, updated_at, expires_at: in_seconds(cart.expires_at) })
    }
}

impl CartLineView {
    fn new(line: CartLine, product: Product, thumbnail: Option<ImageView>) -> Self {
        let CartLine { product_id, quantity, when_added } = line;
        let now = product.offer();
        let when_added = PastOfferView::of(&when_added, &now);
        let Offer { price: unit_price, availability, listed } = now;
        Self {
            product_id,
            quantity,
            name: product.name,
            unit_price,
            amount: Money::nearest(unit_price.amount().saturating_mul(quantity.get().into()), unit_price.currency()),
            availability,
            listed: (!listed).then_some(false),
            thumbnail,
            when_added,
        }
    }
}

impl PastOfferView {
    fn of(then: &Offer, now: &Offer) -> Option<Self> {
        let Offer { price, availability, listed } = *then;
        let past = Self {
            unit_price: (price != now.price).then_some(price),
            availability: (availability != now.availability).then_some(availability),
            listed: (listed != now.listed).then_some(listed),
        };
        (past != Self::default()).then_some(past)
    }
}

impl From<Cart> for StoredCartView {
    fn from(cart: Cart) -> Self {
        let Cart { lines, version, updated_at, expires_at, .. } = cart;
        Self { lines, version, updated_at, expires_at: in_seconds(expires_at) }
    }
}

fn in_seconds(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(seconds.saturating_mul(1000))
}
