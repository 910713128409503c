//! What clients say about a product: when they create it, and when they change it.

use key_schema::entity::{Product, ProductDescription, WholeStock};
use key_schema::value::{Attributes, Category, Cells, Charge, Description as Text, Grams, Money, Name, ProductId};
use serde::Deserialize;
use utoipa::ToSchema;

/// A new product.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProduct {
    /// A random id if absent. If the request names an id or has an Idempotency-Key, it can be repeated without creating
    /// a second product.
    product_id: Option<ProductId>,
    name: Name,
    description: Text,
    category: Category,
    price: Charge,
    /// The weight of one unit, for the price of shipping.
    weight_grams: Option<Grams>,
    /// What tells the variants of a product apart, such as `{"size": "M"}`.
    #[serde(default)]
    attributes: Attributes,
    /// The product of which this is a variant. A variant has its own price and its own stock.
    variant_of: Option<ProductId>,
    /// Whether lists, categories and the search have the product. If not, it can still be read by its id and ordered.
    #[serde(default = "listed")]
    #[schema(default = true)]
    listed: bool,
    /// The number of units that can be sold.
    #[serde(default)]
    #[schema(value_type = u64, maximum = 4_294_967_295u64)]
    stock: u32,
    /// The number of cells over which the units are spread. Orders that take units from the same cell are written one
    /// after the other, so a product that many customers order at the same moment needs several cells.
    #[serde(default)]
    cells: Cells,
}

const fn listed() -> bool {
    true
}

impl NewProduct {
    pub(crate) const fn named(&self) -> Option<&ProductId> {
        self.product_id.as_ref()
    }

    /// The product, the item with its description if that is long, and its stock.
    pub(crate) fn entities(self) -> (Product, Option<ProductDescription>, WholeStock) {
        let product_id = self.product_id.unwrap_or_else(ProductId::random);
        let stock = WholeStock::shared_out(product_id.clone(), self.price.into(), self.stock.into(), self.cells);
        let mut product = Product {
            variant_of: self.variant_of.filter(|main| *main != product_id),
            attributes: self.attributes.into(),
            listed: self.listed,
            initial_stock: self.stock,
            weight_grams: self.weight_grams.filter(|weight| weight.get() > 0),
            availability: stock.availability(0),
            ..Product::new(product_id, self.name.into(), self.category, self.price.into())
        };
        let long = product.describe(self.description.into());
        (product, long, stock)
    }
}

/// The fields to change. Absent fields keep their values.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProductChanges {
    name: Option<Name>,
    /// If it is the beginning that an answer showed of a long description, the description stays as it is.
    description: Option<Text>,
    category: Option<Category>,
    pub(crate) price: Option<Charge>,
    /// The weight of one unit. 0 removes it.
    weight_grams: Option<Grams>,
    /// The attributes instead of the present ones. `{}` removes them.
    attributes: Option<Attributes>,
    /// The product of which this is a variant. The product's own id makes it one that is no variant.
    variant_of: Option<ProductId>,
    /// Whether lists, categories and the search have the product.
    listed: Option<bool>,
    /// Whether the product is recalled. A recalled product cannot be ordered. Orders that exist stay as they are.
    recalled: Option<bool>,
    /// The number of cells of the stock. If it is the present number, the units are spread evenly over the cells again.
    pub(crate) cells: Option<Cells>,
}

impl ProductChanges {
    /// The product with these changes, still with its present version, and the item with its description if that is
    /// long and given.
    pub(crate) fn of(&self, product: &Product) -> (Product, Option<ProductDescription>) {
        let (mut changed, mut long) = (product.clone(), None);
        if let Some(name) = &self.name {
            changed.name = name.clone().into();
        }
        if let Some(description) = self.description.clone().map(String::from)
            && description != product.description
        {
            long = changed.describe(description);
        }
        if let Some(category) = &self.category {
            changed.category = category.clone();
        }
        changed.price = self.price.map_or(product.price, Money::from);
        if let Some(weight) = self.weight_grams {
            changed.weight_grams = Some(weight).filter(|weight| weight.get() > 0);
        }
        if let Some(attributes) = &self.attributes {
            changed.attributes = attributes.clone().into();
        }
        if let Some(main) = &self.variant_of {
            changed.variant_of = Some(main.clone()).filter(|main| *main != product.product_id);
        }
        changed.listed = self.listed.unwrap_or(product.listed);
        (changed, long)
    }

    /// The stock with these changes. If `is_calm`, its units are spread evenly over the cells; otherwise only the
    /// necessary cells change.
    pub(crate) fn of_stock(&self, stock: &WholeStock, is_calm: bool) -> WholeStock {
        let cells = self.cells.unwrap_or(stock.cells());
        let is_laid_out = self.cells.is_none() || (cells == stock.cells() && (stock.is_even() || !is_calm));
        let mut to = if is_laid_out { stock.clone() } else { stock.laid_out(cells, is_calm) };
        to.price = self.price.map_or(stock.price, Money::from);
        to.recalled = self.recalled.unwrap_or(stock.recalled);
        to
    }
}
