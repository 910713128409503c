//! Orders: placed, refused, and waiting.

use devstack::fault_proxy::{Fault, Match};
use key_schema::entity::OrderStatus::Pending;
use key_schema::entity::{PaymentState, PaymentStatus};
use sample_items::Kind;
use sample_items::Revision::First;
use serde_json::json;
use shop::Reply;
use shop::queue::order_later;

use super::Placed;
use crate::counting;
use crate::metered_shop::{MeteredShop, basket_of};

/// Places as many orders as are listed, at least two, and counts the first two.
pub async fn orders(shop: &mut MeteredShop) -> Vec<Placed> {
    let customer = shop.customer();
    let first = Placed(customer.order("k0", shop.order(0, 1)).await.expect(201));
    shop.check("place-order", "placed").await;
    customer.order("k0", shop.order(0, 1)).await.expect(201);
    shop.check("place-order", "placed before").await;
    let mut kinds = vec![
        ("customer", Kind::Customer(First)),
        ("emailClaim", Kind::EmailClaim),
        ("usernameClaim", Kind::UsernameClaim),
        ("cart", Kind::Cart(First)),
        ("product", Kind::Product(First)),
        ("stock", Kind::Stock(First)),
        ("order", Kind::Order(Pending)),
        ("orderItem", Kind::OrderItem),
        ("invoice", Kind::Invoice(PaymentState::Pending)),
        ("discount", Kind::Discount(First)),
        ("giftCard", Kind::GiftCard(First)),
    ];
    if shop.sizes().gift_cards > 0 {
        kinds.push(("giftCardEntry", Kind::GiftCardEntry(PaymentStatus::Captured)));
    }
    shop.check_sizes(&kinds).await;
    counting::count_first(shop, &first).await;

    shop.shop.fault_proxy().inject(Match::action("TransactWriteItems"), Fault::CutAfter, 1);
    let second = Placed(customer.order("k1", shop.order(1, 1)).await.expect(201));
    shop.check("place-order", "placed, and the answer lost on the way").await;
    counting::count_second(shop).await;
    let mut orders = vec![first, second];
    for number in 2..shop.sizes().listed.into() {
        let order = shop.order(12 + number, 1);
        orders.push(Placed(customer.order(&format!("listed-{number}"), order).await.expect(201)));
    }
    shop.pass().await;
    orders
}

pub async fn refusals(shop: &mut MeteredShop) {
    shop.shop.nobody().post("/guests/quotes", basket_of(shop.order_without_code(0, 1))).await.expect(200);
    shop.check("quote-guest-basket", "quoted").await;
    shop.shop.nobody().post("/guests/quotes/discounted", basket_of(shop.order(0, 1))).await.expect(200);
    shop.check("quote-guest-discount", "quoted").await;
    shop.customer().order("k3", shop.order_without_code(3, 5000)).await.problem(http_api::Kind::OutOfStock);
    shop.check("place-order", "out of stock").await;
    order_while(shop, "k4", 3, "available", 0).await.problem(http_api::Kind::OutOfStock);
    shop.check("place-order", "sold out since it was read").await;
    set_stock(shop, 0, "available", 990).await;
    order_while(shop, "k5", 4, "price.amount", 2001).await.expect(201);
    shop.check("place-order", "price changed since it was read").await;
    set_stock(shop, 0, "price.amount", 1999).await;
}

pub async fn waiting(shop: &mut MeteredShop) {
    let customer = shop.customer();
    let accepted = order_later(&customer, "k6", shop.order(5, 1)).await.expect(202);
    shop.check("place-order", "accepted for later").await;
    order_later(&customer, "k6", shop.order(5, 1)).await.expect(202);
    shop.check("place-order", "accepted before").await;
    shop.check_sizes(&[("queuedOrder", Kind::QueuedOrder)]).await;
    customer.get(&format!("/orders/{}", accepted["orderId"].as_str().expect("an id"))).await.expect(200);
    shop.check("get-order", "waits").await;
    let messages = shop.shop.take_messages().await;
    for case in ["placed", "placed before"] {
        shop.shop.drain(&messages[..1]).await;
        shop.check("drain-writes", case).await;
    }
    order_later(&customer, "k7", shop.order_without_code(6, 5000)).await.expect(202);
    shop.pass().await;
    let messages = shop.shop.take_messages().await;
    shop.shop.drain(&messages).await;
    shop.check("drain-writes", "out of stock").await;
}

async fn order_while(shop: &MeteredShop, key: &'static str, number: u32, attribute: &str, value: u64) -> Reply {
    let (customer, order) = (shop.customer(), shop.order_without_code(number, 1));
    let (commit, change) = (Match::action("TransactWriteItems"), async || set_stock(shop, 0, attribute, value).await);
    shop.shop.held(commit, customer.order(key, order), change).await.0
}

async fn set_stock(shop: &MeteredShop, number: u32, attribute: &str, value: u64) {
    let update = json!({
        "TableName": shop.shop.table(),
        "Key": { "PK": { "S": format!("p#{}", shop.id("p", number)) }, "SK": { "S": "stock" } },
        "UpdateExpression": format!("SET {attribute} = :value"),
        "ExpressionAttributeValues": { ":value": { "N": value.to_string() } },
    });
    shop.shop.dynamodb("UpdateItem", &update).await;
}
