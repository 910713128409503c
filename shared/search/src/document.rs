//! The document of a product.

use catalogue::Described;
use key_schema::entity::{Availability, Product};
use key_schema::value::{Category, Money, ProductId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// A product as the index has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// The product.
    pub product_id: ProductId,
    /// Its name.
    pub name: String,
    /// Its description, or the beginning of a long one.
    pub description: String,
    /// Whether the description continues.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub description_continues: bool,
    /// Its category.
    pub category: Category,
    /// The price of one unit.
    pub price: Money,
    /// Whether it can be bought.
    #[serde(default)]
    pub availability: Availability,
    /// The version of the product that the index has seen.
    pub version: u64,
}

impl From<Product> for Listed {
    fn from(product: Product) -> Self {
        let description_continues = product.description_continues();
        let Product { product_id, name, description, category, price, availability, version, .. } = product;
        Self { product_id, name, description, description_continues, category, price, availability, version }
    }
}

/// Text as it is searched and sorted: in lower case and without accents, so that `creme` finds `Crème`. The same is done
/// with what customers type. Till does it, and no analyzer of the index, so that every engine finds the same.
pub fn folded(text: &str) -> String {
    text.nfd().filter(|character| !is_combining_mark(*character)).collect::<String>().to_lowercase()
}

/// The document of a product. It is found by the words of the whole description and of its attributes, and shows what lists
/// show.
pub(crate) fn document(Described { product, description }: Described) -> Value {
    let name = folded(&product.name);
    let description = description.as_ref().unwrap_or(&product.description);
    let mut all = vec![name.clone(), folded(description), folded(product.category.as_str())];
    all.extend(product.attributes.values().map(|text| folded(text)));
    let all = all.join("\n");
    let words = json!({ "name": name, "all": all, "order": name });
    // A struct of texts and numbers always has a JSON form.
    let mut document = serde_json::to_value(Listed::from(product)).unwrap_or_default();
    document["removed"] = json!(false);
    document["words"] = words;
    document
}

/// The document that says that there is no such product, or none that is listed. It stays until the index is built anew. If the document were
/// deleted, a late write that began before the product was removed could not be told from the first write of a new
/// product.
pub(crate) fn tombstone(id: &ProductId) -> Value {
    json!({ "productId": id, "removed": true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_accents_do_not_matter() {
        for (text, expected) in
            [("Crème BRÛLÉE", "creme brulee"), ("Ångström", "angstrom"), ("Ďábel", "dabel"), ("東京", "東京")]
        {
            assert_eq!(folded(text), expected);
        }
    }
}
