//! Card payments of the eventful day.

use crate::prelude::*;

pub(super) const VISA: &str = "pm_card_visa";

pub(super) async fn order(shop: &Shop, key: &str) -> Value {
    shop.customer("ada").order(key, things(1)).await.expect(201)
}

pub(super) fn path(order: &Value) -> String {
    format!("/orders/{}", order_id(order))
}

pub(super) async fn pay(shop: &Shop, order: &Value) {
    shop.pay(order, VISA).await;
    shop.tell(order).await.expect(204);
}

pub(super) async fn ship(shop: &Shop, order: &Value) {
    shop.admin().post(&format!("{}/status", path(order)), json!({ "status": "SHIPPED" })).await.expect(200);
}

pub(super) async fn cancel(shop: &Shop, order: &Value) {
    shop.customer("ada").post(&format!("{}/cancellation", path(order)), json!({})).await.expect(200);
}

/// Payments that are due reach the settling function through the bus and its queue.
pub async fn settled(shop: &Shop) {
    let [shipped, cancelled, late] =
        [order(shop, "shipped").await, order(shop, "called off").await, order(shop, "paid too late").await];
    for order in [&shipped, &cancelled] {
        pay(shop, order).await;
    }
    shop.tell(&shipped).await.expect(204);
    ship(shop, &shipped).await;
    cancel(shop, &cancelled).await;
    shop.start_payment(&late).await.expect(200);
    shop.age(&late).await;
    shop.expire().await;
    let on_demand = order(shop, "captured on demand").await;
    pay(shop, &on_demand).await;
    shop.admin().capture(&on_demand, None).await.expect(200);
    // Staff record a bank transfer, so the payment that the customer started is void.
    let by_bank = order(shop, "paid by bank").await;
    shop.start_payment(&by_bank).await.expect(200);
    shop.admin().capture(&by_bank, "bank-9").await.expect(200);
    lapsed(shop).await;
    of_a_guest(shop).await;
    shop.settle_payments().await;
    // Somebody captures a payment that has no mark, and no message tells.
    let unseen = order(shop, "captured, and nobody told").await;
    pay(shop, &unseen).await;
    shop.act_at_provider(&unseen, "capture").await;
    shop.sweep_payments().await;
    shop.await_payment(&unseen, "captured").await;
    shop.admin().get("/payments-due").await.expect(200);
    assert_eq!((shop.intent(&shipped).captured, shop.intent(&cancelled).captured), (shop.intent(&shipped).amount, 0));
}

/// A guest's orders are paid in each way, and what the guest held is released. The customer who claimed the guest pays.
async fn of_a_guest(shop: &Shop) {
    let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY";
    let guest = json!({ "email": "mallory@example.com", "name": "Mallory" });
    shop.introduce(secret, guest).await.expect(201);
    assert_eq!(crate::claimed_guests::claim(&shop.admin(), "ada", &shop::guest_id(secret)).await.status, 204);
    shop.gift_card("CARD-OF-A-GUEST", 1).await;
    let order = async |key: &str| {
        let mut body = things(1);
        body["discountCode"] = json!("TEN");
        if key == "by bank" {
            body["giftCards"] = json!(["CARD-OF-A-GUEST"]);
        }
        shop.guest_order(secret, key, body).await.expect(201)
    };
    shop.admin().capture(&order("by bank").await, "bank-12").await.expect(200);
    pay(shop, &order("told").await).await;
    let seen = order("seen by its customer").await;
    shop.pay(&seen, VISA).await;
    shop.start_payment(&seen).await;
    shop.pay(&order("seen by the sweep").await, VISA).await;
    shop.sweep_payments().await;
}

/// Three authorizations lapse. One order is cancelled by its customer, one expires, and one comes back after its delivery.
async fn lapsed(shop: &Shop) {
    let [cancelled, late, delivered] =
        [order(shop, "lapsed").await, order(shop, "lapsed for long").await, order(shop, "lapsed on its way").await];
    for order in [&cancelled, &late, &delivered] {
        pay(shop, order).await;
        shop.act_at_provider(order, "cancel").await;
    }
    ship(shop, &delivered).await;
    shop.admin().post(&format!("{}/status", path(&delivered)), json!({ "status": "DELIVERED" })).await.expect(200);
    for order in [&cancelled, &late, &delivered] {
        shop.tell(order).await.expect(204);
    }
    come_back(shop, &delivered).await;
    shop.await_payment(&delivered, "voided").await;
    cancel(shop, &cancelled).await;
    shop.age(&late).await;
    shop.age_payments_due().await;
    assert_eq!(shop.expire().await["expired"], 1);
    // Staff go without the money, also while the customer begins to pay again, or record a transfer.
    for (key, is_paid_again) in [("written off", false), ("written off, and paid again", true)] {
        let order = order(shop, key).await;
        pay(shop, &order).await;
        shop.act_at_provider(&order, "cancel").await;
        shop.tell(&order).await.expect(204);
        if is_paid_again {
            shop.start_payment(&order).await.expect(200);
        }
        write_off(shop, &order).await.expect(200);
    }
    write_off(shop, &order(shop, "unpaid, and not written off").await).await.problem(Kind::InvalidTransition);
    let by_bank = order(shop, "lapsed, and paid by bank").await;
    pay(shop, &by_bank).await;
    shop.act_at_provider(&by_bank, "cancel").await;
    shop.tell(&by_bank).await.expect(204);
    shop.admin().capture(&by_bank, "bank-10").await.expect(200);
    looked_at_late(shop).await;
    credited(shop).await;
}

/// Staff give amounts back: of gift cards, of a transfer, and all of what lapsed. An unpaid order has nothing to give
/// back.
async fn credited(shop: &Shop) {
    let mut by_gift_card = things(1);
    by_gift_card["giftCards"] = json!(["GIFT-FOR-ADA"]);
    let by_gift_card = shop.customer("ada").order("goodwill to a gift card", by_gift_card).await.expect(201);
    let [by_bank, lapsed, unpaid] =
        [order(shop, "goodwill").await, order(shop, "goodwill, and lapsed").await, order(shop, "no goodwill").await];
    shop.admin().capture(&by_bank, "bank-11").await.expect(200);
    pay(shop, &lapsed).await;
    shop.act_at_provider(&lapsed, "cancel").await;
    shop.tell(&lapsed).await.expect(204);
    for (order, amount, status) in [
        (&by_gift_card, eur(100), 200),
        (&by_bank, eur(100), 200),
        (&lapsed, lapsed["total"].clone(), 200),
        (&unpaid, eur(100), 409),
    ] {
        let path = format!("{}/credits", path(order));
        let body = json!({ "amount": amount, "reason": "a scratch" }).to_string();
        shop.admin().send(Method::POST, &path, &[("idempotency-key", "credit")], Some(body)).await.expect(status);
    }
}

/// Nobody told of these unpaid orders, and their time is over: one is captured and refunded in part, and somebody has
/// changed the amount of the other.
async fn looked_at_late(shop: &Shop) {
    let [captured, changed] = [order(shop, "captured unseen").await, order(shop, "changed unseen").await];
    for order in [&captured, &changed] {
        let payment = shop.start_payment(order).await.expect(200);
        shop.confirm(&payment, VISA).await;
        shop.age(order).await;
    }
    shop.act_at_provider(&captured, "capture").await;
    shop.refund_at_provider(&captured, 1).await;
    shop.change_amount_at_provider(&changed, 1);
    shop.expire().await;
    assert_eq!(shop.start_payment(&changed).await.status, 500);
}

async fn write_off(shop: &Shop, order: &Value) -> Reply {
    shop.admin().post(&format!("/invoices/{}/write-offs", invoice_id(order)), json!({})).await
}

/// All of a delivered order comes back.
async fn come_back(shop: &Shop, order: &Value) {
    let (path, key) = (format!("{}/returns", path(order)), [("idempotency-key", "all")]);
    let asked = shop.customer("ada").send(Method::POST, &path, &key, Some(things(1).to_string())).await.expect(201);
    let receipt = format!("/returns/{}/receipt", asked["returnId"].as_str().expect("an id"));
    shop.admin().post(&receipt, json!({ "accepted": true, "restock": true })).await.expect(200);
}

/// No event reaches the settling function, and the provider's reports are faster.
pub async fn overtaken(shop: &Shop) {
    let refunded = order(shop, "called off, and refunded in part").await;
    pay(shop, &refunded).await;
    shop.admin().capture(&refunded, None).await.expect(200);
    shop.settle_payments().await;
    shop.settle().await;
    shop.bus().fail(|_| Some("InternalFailure"));
    // The provider has refunded a part before it is asked for the refund.
    cancel(shop, &refunded).await;
    shop.refund_at_provider(&refunded, 1).await;
    // The provider captures by itself, and tells it in both ways.
    for (key, is_reported) in [("captured, and reported", true), ("captured, and seen", false)] {
        let order = order(shop, key).await;
        pay(shop, &order).await;
        ship(shop, &order).await;
        shop.act_at_provider(&order, "capture").await;
        if is_reported {
            shop.tell(&order).await.expect(204);
        } else {
            shop.start_payment(&order).await.expect(200);
        }
    }
    // A payment that the order does not know, of an order that is cancelled.
    let order = order(shop, "cancelled first").await;
    cancel(shop, &order).await;
    let unknown = json!({ "id": "evt", "object": "event", "type": "payment_intent.test", "data": { "object": {
        "id": "pi_unknown", "object": "payment_intent", "metadata": { "orderId": order["orderId"] },
    } } });
    let tell = async |body: &Value| {
        shop.tell_text(shop.webhook_secret(), Timestamp::now().as_second(), body.to_string()).await
    };
    tell(&unknown).await.problem(Kind::Validation);
    let called_off = self::order(shop, "cancelled unpaid").await;
    cancel(shop, &called_off).await;
    shop.start_payment(&called_off).await.expect(409);
    // A card that is declined, and an intent whose amount somebody changes.
    let declined = self::order(shop, "declined").await;
    let payment = shop.start_payment(&declined).await.expect(200);
    shop.confirm(&payment, "pm_card_chargeDeclined").await;
    shop.tell(&declined).await.expect(204);
    shop.change_amount_at_provider(&declined, 1);
    shop.tell(&declined).await.problem(Kind::Validation);
    // The authorization of a shipped order ends before its capture, and the customer pays again.
    let again = self::order(shop, "paid again").await;
    pay(shop, &again).await;
    ship(shop, &again).await;
    shop.act_at_provider(&again, "cancel").await;
    shop.tell(&again).await.expect(204);
    shop.pay(&again, VISA).await;
    shop.start_payment(&again).await.expect(200);
    shop.settle().await;
    shop.bus().heal();
    shop.age_payments_due().await;
    shop.sweep_payments().await;
}
