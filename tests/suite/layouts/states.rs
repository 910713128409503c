//! Rare states of items: with every optional attribute, and with every reason for which an accepted order is refused.

use key_schema::entity::{
    Allowance, Availability, ChosenMethod, CodeUse, Credit, Customer, Discount, Dispute, GiftCard, GiftCardEntry,
    Guest, Invoice, LineTax, LineUnits, Order, OrderItem, OrderLine, OrderStatus, Payment, PaymentDue, Product,
    ProductImage, QueuedOrder, RateTax, Reconciliation, Reduction, Refusal, Rejection, ReturnStatus, ShipmentStatus,
    Stock, StockCell, TaxRate, Transfer, Work,
};
use key_schema::layout::Item;
use key_schema::value::{Currency, Money, ProductId, RequestHash, Timestamp};
use serde_dynamo::from_item;
use serde_json::{from_value, json};
use shop::every_change;

use super::items::{Image, image};

/// A number that occurs in no other attribute.
const MARK: u64 = 7;

fn later() -> Timestamp {
    "2026-11-21T09:31:00.000Z".parse().expect("a time")
}

fn amount() -> Money {
    Money::nearest(1999, Currency::try_from("EUR".to_owned()).expect("a currency"))
}

fn tax() -> LineTax {
    LineTax { rate: TaxRate::try_from(1900).expect("a rate"), amount: amount(), added: true, by_engine: true }
}

/// The rare states, derived from the samples.
#[allow(clippy::too_many_lines, reason = "one arm for each kind")]
pub fn rare(samples: &[Image]) -> Vec<Image> {
    let mut rare = Vec::new();
    for sample in samples {
        match (from_item(sample.item.clone()).expect("an item"), sample.state.as_str()) {
            (Item::Order(order), "Order(Pending)") => {
                assert_eq!(order.status, OrderStatus::Pending);
                let mut codes = order.codes.clone();
                codes.push(CodeUse { code: "FREE".parse().expect("a code"), amount: amount(), counted: false });
                rare.push(image("Order(Codes)", Order { codes, ..order.clone() }));
                let shipping = Some(amount());
                let shipping_method = Some(ChosenMethod {
                    method_id: "express".parse().expect("an id"),
                    name: "Express".to_owned().try_into().expect("a name"),
                });
                let with = Order { shipping, shipping_method, has_address: true, ..order.clone() };
                rare.push(image("Order(Shipping)", with));
                let product_id = product();
                let credits = vec![Credit { product_id: product_id.clone(), units: 1, gross: 1999, amount: 1799 }];
                let allowance = |key| Allowance { key, amount: 5, reason: Some("a scratch".to_owned()), at: later() };
                let quantity = 1.try_into().expect("a quantity");
                let returning = vec![LineUnits { product_id, quantity }];
                let imported_at = Some(later());
                let taxed = Order { tax: Some(amount()), shipping_tax: Some(tax()), ..order.clone() };
                rare.push(image("Order(Taxed)", taxed));
                rare.push(image(
                    "Order(Returned)",
                    Order {
                        allowances: vec![allowance(Some(RequestHash::of(b"key"))), allowance(None)],
                        credits,
                        returning,
                        return_statuses: vec![ReturnStatus::Received, ReturnStatus::Refused],
                        shipment_statuses: vec![ShipmentStatus::Shipped, ShipmentStatus::Delivered],
                        pay_later: true,
                        imported_at,
                        erased: true,
                        ..order
                    },
                ));
            }
            (Item::OrderItem(line), _) => {
                let imported_at = Some(later());
                rare.push(image("OrderItem(Imported)", OrderItem { imported_at, uncounted: true, ..line.clone() }));
                let discounted = OrderLine { discount: Some(amount()), ..line.line.clone() };
                rare.push(image("OrderItem(Discounted)", OrderItem { line: discounted, ..line.clone() }));
                let attributes = [("size".to_owned(), "M".to_owned())].into();
                let pictured = OrderLine { image: Some(pot()), attributes, ..line.line.clone() };
                rare.push(image("OrderItem(Pictured)", OrderItem { line: pictured, ..line.clone() }));
                let taxed = OrderLine { tax: Some(tax()), ..line.line };
                rare.push(image("OrderItem(Taxed)", OrderItem { line: taxed, ..line }));
            }
            (Item::GiftCard(card), "GiftCard(First)") => {
                let blocked = GiftCard { blocked: true, valid_until: Some(later()), version: MARK, ..card };
                rare.push(image("GiftCard(Blocked)", blocked));
            }
            (Item::GiftCardEntry(entry), "GiftCardEntry(Captured)") => {
                rare.push(image("GiftCardEntry(Credited)", GiftCardEntry { returned: 99, ..entry }));
            }
            (Item::Invoice(mut invoice), "Invoice(Captured)" | "CardInvoice(Captured)") => {
                let taxes = vec![RateTax { rate: tax().rate, net: amount(), tax: amount() }];
                rare.push(image(&sample.state.replace("Captured", "Taxed"), Invoice { taxes, ..invoice.clone() }));
                invoice.payments.iter_mut().for_each(credit);
                rare.push(image(&sample.state.replace("Captured", "Credited"), invoice));
            }
            (Item::PaymentDue(mark), _) => {
                rare.push(image("PaymentDue(Lapsed)", PaymentDue { work: Work::Lapsed, ..mark }));
            }
            (Item::Customer(customer), "Customer(First)") => {
                let guests = vec!["guest-claimed".parse().expect("an id")];
                rare.push(image("Customer(Claiming)", Customer { guests, ..customer }));
            }
            (Item::Guest(guest), "KeptGuest") => {
                let claimed_by = Some("claimant".parse().expect("an id"));
                rare.push(image("Guest(Claimed)", Guest { claimed_by, ..guest }));
            }
            (Item::Product(product), "Product(First)") => {
                let images = vec![pot()];
                let mut described = product.clone();
                let long = described.describe("stoneware ".repeat(200)).expect("a long description");
                let (mut changed, every) = (json!(product), every_change("main"));
                changed.as_object_mut().expect("fields").extend(every.as_object().expect("fields").clone());
                rare.push(image("Product(Full)", from_value::<Product>(changed).expect("a product")));
                let sold_out =
                    Product { availability: Availability::SoldOut, availability_changes: 3, ..product.clone() };
                rare.push(image("Product(SoldOut)", sold_out));
                rare.push(image("Product(WithImages)", Product { images, ..product }));
                rare.push(image("Product(Described)", described));
                rare.push(image("ProductDescription(Long)", long));
            }
            (Item::Stock(stock), "FirstCell(First)") => {
                let recalled = Stock { price_version: MARK, recalled: true, ..stock.clone() };
                rare.push(image("FirstCell(Recalled)", recalled));
                let marks = Stock { price_version: MARK, put_backs: MARK, transferred: -7, held_by_guests: 7, ..stock };
                rare.push(image("FirstCell(Marked)", marks));
            }
            (Item::StockCell(cell), "StockCell(First)") => {
                let marks = StockCell { price_version: MARK, put_backs: MARK, transferred: -7, ..cell };
                rare.push(image("StockCell(Marked)", marks));
            }
            (Item::Discount(code), "Discount(First)") => {
                let (from, to) = (Some(code.created_at), Some(later()));
                rare.push(image("Discount(Uncounted)", Discount { max_uses: None, from, to, ..code.clone() }));
                let revoked = Discount { revoked: true, version: MARK, held_by_guests: 7, ..code.clone() };
                rare.push(image("Discount(Revoked)", revoked));
                let category = Some("cups".parse().expect("a category"));
                rare.push(image("Discount(OfCategory)", Discount { category, ..code.clone() }));
                rare.push(image("Discount(Combinable)", Discount { combinable: true, ..code.clone() }));
                let fixed = Discount { reduction: Reduction::Amount(amount()), min_subtotal: Some(amount()), ..code };
                rare.push(image("Discount(Fixed)", fixed));
            }
            (Item::Reconciliation(compared), "Reconciliation(First)") => {
                let resume = Some("where it goes on".to_owned());
                rare.push(image("Reconciliation(Interrupted)", Reconciliation { resume, ..compared }));
            }
            (Item::QueuedOrder(queued), "QueuedOrder") => {
                let max_total = Some(amount());
                rare.push(image("QueuedOrder(Limited)", QueuedOrder { max_total, ..queued.clone() }));
                let dead_since = Some(later());
                rare.push(image("QueuedOrder(Dead)", QueuedOrder { dead_since, ..queued.clone() }));
                rare.extend(rejections().into_iter().map(|rejection| {
                    let state = format!("RefusedOrder({})", reason(&rejection));
                    let refusal = Some(Refusal { at: later(), rejection });
                    image(&state, QueuedOrder { refusal, ..queued.clone() })
                }));
            }
            _ => {}
        }
    }
    assert_eq!(rare.len(), 33 + rejections().len(), "a sample has another name than here");
    rare
}

/// Credits a part of a payment, and refunds a part of that.
fn credit(payment: &mut Payment) {
    match payment {
        Payment::GiftCard { credited, .. } => *credited = 99,
        Payment::Card(card) => {
            card.credited = 100;
            if let Some(provider) = &mut card.provider {
                (provider.amount, provider.refund, provider.refunding) = (Some(1899), 1, 100);
                provider.refused = Some("charge_disputed".to_owned());
                provider.held.dispute = Some(Dispute::Lost);
                (provider.held.failed, provider.held.disputed) = (1, 2);
                provider.failed_at = Some(Timestamp::EPOCH);
            } else {
                (card.written_off, card.written_off_disputed) = (2, 1);
                card.refunds = vec![Transfer { reference: "refund-1".to_owned(), amount: 50 }];
            }
        }
    }
}

fn pot() -> ProductImage {
    let id = "019aa5a7-2c4f-7d3e-8b1a-5f0c9e7d2b64";
    from_value(json!({ "imageId": id, "alt": "A pot", "width": 640, "height": 480 })).expect("an image")
}

fn product() -> ProductId {
    "pppppppp".parse().expect("an id")
}

/// A rejection of each kind in [`reason`].
fn rejections() -> Vec<Rejection> {
    let product = product();
    vec![
        Rejection::UnknownCustomer,
        Rejection::UnknownProduct { line: 1, product: product.clone() },
        Rejection::MixedCurrencies { line: 1 },
        Rejection::TooExpensive,
        Rejection::Recalled { products: vec![product.clone()] },
        Rejection::OutOfStock { line: 1, product, available: 998 },
        Rejection::OpenUnits { open: 197, allowed: 200 },
        Rejection::PriceChanged { total: amount(), card: Some(amount()) },
        Rejection::DiscountInvalid { code: "dddddddd".parse().expect("a code") },
        Rejection::DiscountExhausted { code: "dddddddd".parse().expect("a code") },
        Rejection::GiftCardInvalid { code: "gggggggg".parse().expect("a code") },
        Rejection::GiftCardBalance { code: "gggggggg".parse().expect("a code") },
        Rejection::UnknownAddress { address: "home".parse().expect("an id") },
        Rejection::NotShipped { country: "DE".parse().expect("a country"), method: "express".parse().ok() },
        Rejection::CartChanged { cart: 7.try_into().expect("a version") },
        Rejection::KeyReused,
    ]
}

/// The name of a rejection's kind. A new kind does not compile until it is added here; add it to [`rejections`], too.
fn reason(rejection: &Rejection) -> &'static str {
    match rejection {
        Rejection::UnknownCustomer => "UnknownCustomer",
        Rejection::UnknownProduct { .. } => "UnknownProduct",
        Rejection::MixedCurrencies { .. } => "MixedCurrencies",
        Rejection::TooExpensive => "TooExpensive",
        Rejection::Recalled { .. } => "Recalled",
        Rejection::OutOfStock { .. } => "OutOfStock",
        Rejection::OpenUnits { .. } => "OpenUnits",
        Rejection::PriceChanged { .. } => "PriceChanged",
        Rejection::DiscountInvalid { .. } => "DiscountInvalid",
        Rejection::DiscountExhausted { .. } => "DiscountExhausted",
        Rejection::GiftCardInvalid { .. } => "GiftCardInvalid",
        Rejection::GiftCardBalance { .. } => "GiftCardBalance",
        Rejection::UnknownAddress { .. } => "UnknownAddress",
        Rejection::NotShipped { .. } => "NotShipped",
        Rejection::CartChanged { .. } => "CartChanged",
        Rejection::KeyReused => "KeyReused",
    }
}
