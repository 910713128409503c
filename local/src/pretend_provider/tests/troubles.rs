//! The pretend provider is as unkind as Stripe.

use std::time::Duration;

use super::*;

impl Shop {
    /// A payment of 1,000 that is captured as far as this amount.
    async fn captured(&self, amount: i64) -> String {
        let id = self.authorized().await;
        self.provider.act(Act::Capture { intent: id.clone(), amount: Some(amount) }).expect("it is authorized");
        id
    }

    async fn refund(&self, intent: &str, key: &str, amount: i64) -> (u16, HeaderMap, Value) {
        self.post_whole("refunds", key, &[("payment_intent", intent), ("amount", &amount.to_string())]).await
    }

    fn dashboard_refund(&self, intent: &str, amount: i64) -> String {
        let refund = self.provider.act(Act::Refund { intent: intent.to_owned(), amount: Some(amount) });
        refund.expect("it is captured")["id"].as_str().expect("an id").to_owned()
    }

    fn switch(&self, switches: Switches) {
        self.provider.act(Act::Switch(switches)).expect("any switches");
    }

    fn entry(&self, intent: &str) -> Entry {
        self.provider.ledger().intents[intent].clone()
    }

    /// The types and the objects of the events from the `from`th on.
    fn events(&self, from: usize) -> Vec<(String, Value)> {
        let kind =
            |event: &Value| (event["type"].as_str().expect("a type").to_owned(), event["data"]["object"].clone());
        self.provider.ledger().unsent().skip(from).map(kind).collect()
    }

    fn event_types(&self, from: usize) -> Vec<String> {
        self.events(from).into_iter().map(|(kind, _)| kind).collect()
    }
}

#[tokio::test]
async fn an_idempotency_key_keeps_all_errors_but_those_of_requests_that_were_not_carried_out() {
    let shop = Shop::open(None).await;
    let id = shop.captured(1000).await;
    for (row, (answer, status, kind, code, again)) in [
        (Answer::ServerError, 500, "api_error", json!(null), 500),
        (Answer::ServerErrorAfterwards, 500, "api_error", json!(null), 500),
        (Answer::RateLimit, 429, "invalid_request_error", json!("rate_limit"), 200),
        (Answer::LockTimeout, 429, "invalid_request_error", json!("lock_timeout"), 200),
        (Answer::IdempotencyKeyInUse, 409, "invalid_request_error", json!("idempotency_key_in_use"), 200),
    ]
    .into_iter()
    .enumerate()
    {
        let key = format!("k{row}");
        shop.provider.act(Act::Next { call: Some(Call::CreateRefund), answer }).expect("any call");
        assert_eq!(shop.get(&format!("payment_intents/{id}")).await["id"], *id, "another call is not concerned");
        let (first, _, error) = shop.refund(&id, &key, 10).await;
        assert_eq!(
            (first, &error["error"]["type"], &error["error"]["code"]),
            (status, &json!(kind), &code),
            "{answer:?}"
        );
        let (second, headers, _) = shop.refund(&id, &key, 10).await;
        assert_eq!((second, headers.contains_key("idempotent-replayed")), (again, again == 500), "{answer:?}");
    }
    assert_eq!(shop.entry(&id).refunded, 40, "one of the 500s had refunded");
    // An object that is missing is kept, too.
    let (status, _, error) = shop.refund("pi_none", "missing", 10).await;
    assert_eq!((status, &error["error"]["code"]), (404, &json!("resource_missing")));
    assert!(shop.refund("pi_none", "missing", 10).await.1.contains_key("idempotent-replayed"));
}

#[tokio::test]
async fn a_call_that_is_cut_or_slow_was_carried_out_once() {
    let shop = Shop::open(None).await;
    let id = shop.captured(1000).await;
    let next = |answer| shop.provider.act(Act::Next { call: None, answer }).expect("any call");
    next(Answer::Cut);
    let request = shop.client.post(format!("{}/v1/refunds", shop.provider.url())).header("idempotency-key", "cut");
    let request = request.bearer_auth(&shop.provider.shared.keys.api_key);
    let body = format!("payment_intent={id}&amount=10");
    assert!(request.body(body).send().await.is_err(), "there is no answer");
    let (status, headers, _) = shop.refund(&id, "cut", 10).await;
    assert_eq!((status, &headers["idempotent-replayed"]), (200, &"true".parse().expect("a value")));

    next(Answer::Slow);
    let in_use = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        shop.refund(&id, "slow", 10).await
    };
    let (slow, (status, _, error)) = tokio::join!(shop.refund(&id, "slow", 10), in_use);
    assert_eq!((slow.0, status, &error["error"]["code"]), (200, 409, &json!("idempotency_key_in_use")));
    assert_eq!(shop.refund(&id, "slow", 10).await.2, slow.2);
    assert_eq!(shop.entry(&id).refunded, 20);
}

#[tokio::test]
async fn refunds_and_releases_are_objects_in_lists() {
    let shop = Shop::open(None).await;
    let id = shop.captured(600).await;
    let form = [("payment_intent", &*id), ("amount", "1"), ("metadata[orderId]", "o-1"), ("reason", "duplicate")];
    let (_, named) = shop.post("refunds", "", &form).await;
    assert_eq!((&named["metadata"], &named["reason"]), (&json!({ "orderId": "o-1" }), &json!("duplicate")));
    for _ in 0..10 {
        shop.refund(&id, "", 2).await;
    }
    // Those of another intent are not in the lists.
    shop.captured(1000).await;
    assert_eq!(shop.get(&format!("refunds/{}", named["id"].as_str().expect("an id"))).await, named);
    assert_eq!(shop.get("refunds/re_none").await["error"]["code"], "resource_missing");

    let list = async |query: &str| shop.get(&format!("refunds?payment_intent={id}{query}")).await;
    let all = list("&limit=100").await;
    let all = all["data"].as_array().expect("a list");
    let release = all.last().expect("the release");
    assert_eq!(
        (all.len(), &all[10], &release["reason"], &release["amount"]),
        (12, &named, &json!("partial_capture"), &json!(400))
    );
    let first = list("").await;
    assert_eq!((&first["object"], &first["has_more"], &first["data"][9]), (&json!("list"), &json!(true), &all[9]));
    let rest = list(&format!("&starting_after={}", all[9]["id"].as_str().expect("an id"))).await;
    assert_eq!((&rest["has_more"], &rest["data"]), (&json!(false), &json!(all[10..])));
    assert_eq!(list("&limit=101").await["error"]["code"], "parameter_invalid_integer");

    for (expand, has_charge, has_refunds) in [
        ("", false, false),
        ("expand[]=latest_charge", true, false),
        ("expand[]=latest_charge&expand[]=latest_charge.refunds", true, true),
        ("expand[]=latest_charge.refunds", true, true),
    ] {
        let charge = &shop.get(&format!("payment_intents/{id}?{expand}")).await["latest_charge"];
        assert_eq!((charge.is_object(), charge.get("refunds").is_some()), (has_charge, has_refunds), "{expand}");
        assert!(!has_charge || charge["amount_refunded"] == 421, "{charge}");
        assert!(!has_refunds || charge["refunds"]["data"] == first["data"] && charge["refunds"]["has_more"] == true);
    }
}

#[tokio::test]
async fn an_authorization_that_ends_is_released_by_a_refund_that_moves_no_money() {
    let shop = Shop::open(None).await;
    for act in ["cancel", "expire"] {
        let id = shop.authorized().await;
        match act {
            "cancel" => shop.provider.act(Act::Cancel { intent: id.clone() }).expect("it is authorized"),
            _ => shop.provider.act(Act::Expire { intent: id.clone() }).expect("it is authorized"),
        };
        let refunds = shop.get(&format!("refunds?payment_intent={id}")).await;
        let refund = &refunds["data"][0];
        assert_eq!(
            (&refund["reason"], &refund["amount"]),
            (&json!("expired_uncaptured_charge"), &json!(1000)),
            "{act}"
        );
        assert_eq!((shop.entry(&id).refunded, shop.entry(&id).held()), (0, 0));
        assert_eq!(shop.act(&id, "capture", "", &[]).await.1["error"]["code"], "payment_intent_unexpected_state");
        let refund = refund["id"].as_str().expect("an id").to_owned();
        assert!(shop.provider.act(Act::FailRefund { refund }).is_err());
    }
}

/// Each row has the switches, the end of a refund of 100, and then its status, what the charge shows as refunded, and what
/// the shop holds of 1,000.
#[tokio::test]
async fn a_refund_may_fail_or_wait_for_the_balance() {
    let shop = Shop::open(None).await;
    let fail: fn(String) -> Act = |refund| Act::FailRefund { refund };
    let cancel: fn(String) -> Act = |refund| Act::CancelRefund { refund };
    let fill: fn(String) -> Act = |_| Act::Switch(Switches::default());
    for (balance_is_empty, amount_refunded_falls, end, status, reason, refunded, held) in [
        (false, false, fail, RefundStatus::Failed, Some("expired_or_canceled_card"), 100, 1000),
        (false, true, fail, RefundStatus::Failed, Some("expired_or_canceled_card"), 0, 1000),
        (true, false, cancel, RefundStatus::Canceled, Some("merchant_request"), 100, 1000),
        (true, false, fill, RefundStatus::Succeeded, None, 100, 900),
    ] {
        let id = shop.captured(1000).await;
        shop.switch(Switches { balance_is_empty, amount_refunded_falls, ..Switches::default() });
        let refund = shop.dashboard_refund(&id, 100);
        let first = if balance_is_empty { RefundStatus::Pending } else { RefundStatus::Succeeded };
        let entry = shop.entry(&id);
        assert_eq!((entry.refunds[0].status, entry.refunded, entry.held()), (first, 100, 900));
        let before = shop.events(0).len();
        shop.provider.act(end(refund)).expect("the refund has not ended");
        let entry = shop.entry(&id);
        let ended = &entry.refunds[0];
        assert_eq!((ended.status, ended.failure_reason.as_deref()), (status, reason));
        assert_eq!((entry.refunded, entry.held()), (refunded, held));
        assert_eq!(shop.events(before), [("charge.refund.updated".to_owned(), json!(ended))]);
        assert!(shop.provider.act(cancel(ended.id.clone())).is_err(), "it has ended");
    }
}

#[tokio::test]
async fn a_refund_fails_some_time_after_it_succeeded() {
    let shop = Shop::open(None).await;
    let id = shop.captured(1000).await;
    shop.provider.act(Act::Next { call: Some(Call::CreateRefund), answer: Answer::RefundFails }).expect("any call");
    assert_eq!(shop.refund(&id, "", 100).await.2["status"], "succeeded");
    until("the refund fails", async || shop.entry(&id).refunds[0].status == RefundStatus::Failed).await;
}

/// Each row has an end of a dispute of 300, the events of the way to it, the money that the shop has during the dispute and
/// after it, and whether it may refund the rest.
#[tokio::test]
async fn a_dispute_takes_money_and_an_inquiry_does_not() {
    let shop = Shop::open(None).await;
    let (created, closed) = ("charge.dispute.created", "charge.dispute.closed");
    let (withdrawn, reinstated) = ("charge.dispute.funds_withdrawn", "charge.dispute.funds_reinstated");
    for (status, events, during, after, refunds) in [
        (DisputeStatus::Won, vec![created, withdrawn, reinstated, closed], 700, 1000, 400),
        (DisputeStatus::Lost, vec![created, withdrawn, closed], 700, 700, 400),
        (DisputeStatus::WarningClosed, vec![created, closed], 1000, 1000, 200),
        (DisputeStatus::NeedsResponse, vec![created, "charge.dispute.updated", withdrawn], 1000, 700, 400),
    ] {
        let id = shop.captured(1000).await;
        let before = shop.events(0).len();
        let inquiry = matches!(status, DisputeStatus::WarningClosed | DisputeStatus::NeedsResponse);
        let act = Act::Dispute { intent: id.clone(), amount: Some(300), inquiry };
        let dispute = shop.provider.act(act).expect("it is captured")["id"].as_str().expect("an id").to_owned();
        assert_eq!(shop.entry(&id).held(), during);
        shop.provider.act(Act::UpdateDispute { dispute: dispute.clone(), status }).expect("it is open");
        assert!(shop.provider.act(Act::UpdateDispute { dispute, status }).is_err(), "it is closed");
        assert_eq!(
            (shop.entry(&id).held(), shop.event_types(before)),
            (after, events.iter().map(|it| (*it).to_owned()).collect())
        );

        let list = shop.get(&format!("disputes?payment_intent={id}")).await;
        assert_eq!((&list["data"][0]["status"], &list["data"][0]["amount"]), (&json!(status), &json!(300)));
        assert_eq!(
            (&list["has_more"], &list["data"][0]["is_charge_refundable"]),
            (&json!(false), &json!(refunds == 200))
        );
        let intent = shop.get(&format!("payment_intents/{id}?expand[]=latest_charge")).await;
        assert_eq!(intent["latest_charge"]["disputed"], true);
        let (refused, _, error) = shop.refund(&id, "", 100).await;
        assert_eq!(refused, refunds, "{error}");
        assert!(refunds == 200 || error["error"]["code"] == "charge_disputed", "{error}");
    }
}

/// Each row has a currency, an amount in its minor units as Stripe takes them, and the refusal's code.
#[tokio::test]
async fn an_amount_fits_its_currency() {
    let shop = Shop::open(None).await;
    for (currency, amount, status, code) in [
        ("jpy", 50, 200, json!(null)),
        ("eur", 99_999_999, 200, json!(null)),
        ("eur", 100_000_000, 400, json!("amount_too_large")),
        ("eur", 0, 400, json!("parameter_invalid_integer")),
        ("isk", 10_000, 200, json!(null)),
        ("isk", 10_050, 400, json!("invalid_charge_amount_no_decimal_compatible")),
        ("ugx", 10_050, 400, json!("invalid_charge_amount_no_decimal_compatible")),
        ("kwd", 5_120, 200, json!(null)),
        ("huf", 17_499, 400, json!("amount_too_small")),
        ("kwd", 5_123, 400, json!("parameter_invalid_integer")),
        ("irr", 5_000, 400, json!(null)),
        ("EUR", 5_000, 400, json!(null)),
    ] {
        let form = [("amount", &*amount.to_string()), ("currency", currency), ("capture_method", "manual")];
        let (answered, answer) = shop.post("payment_intents", "", &form).await;
        assert_eq!((answered, &answer["error"]["code"]), (status, &code), "{amount} {currency}: {answer}");
        assert!(currency != "irr" || answer["error"]["message"].to_string().contains("currency: irr"), "{answer}");
    }
}

#[tokio::test]
async fn the_dashboard_acts_without_a_key_and_sends_the_same_events() {
    let shop = Shop::open(None).await;
    let id = shop.start("", "1000").await;
    let post = async |act: &str, body: String| {
        let request = shop.client.post(format!("{}/_pretend/{act}", shop.provider.url())).body(body);
        request.send().await.expect("an answer")
    };
    let form = format!("intent={id}&payment_method=4242424242424242");
    assert_eq!(post("confirm", form).await.json::<Value>().await.expect("JSON")["status"], "requires_capture");
    for (act, body, status) in [
        ("capture", format!("intent={id}&amount="), 200),
        ("refund", json!({ "intent": id, "amount": 100 }).to_string(), 200),
        ("refund", json!({ "intent": id, "sum": 100 }).to_string(), 400),
        ("cancel", format!("intent={id}"), 400),
        ("capture", "intent=pi_none".to_owned(), 404),
        ("switch", json!({ "webhooks": "twice", "next": [["create_refund", "cut"]] }).to_string(), 200),
        ("no_such_act", String::new(), 400),
    ] {
        assert_eq!(post(act, body).await.status(), status, "{act}");
    }
    assert_eq!(shop.provider.ledger().switches.next, [(Some(Call::CreateRefund), Answer::Cut)]);
    let (kind, charge) = shop.events(0).pop().expect("an event");
    assert_eq!((&*kind, &charge["amount_refunded"]), ("charge.refunded", &json!(100)));
    assert_eq!(shop.event_types(0)[..2], ["payment_intent.amount_capturable_updated", "payment_intent.succeeded"]);

    let page = shop.provider.dashboard().content().into_string();
    let refund = &shop.entry(&id).refunds[0].id;
    assert!([refund, "/_local/payments/fail_refund", "10.00 eur"].iter().all(|it| page.contains(*it)), "{page}");
    let url = format!("{}/_pretend/refund", shop.provider.url());
    let foreign = shop.client.post(url).header("sec-fetch-site", "cross-site").body(format!("intent={id}"));
    assert_eq!(foreign.send().await.expect("an answer").status(), StatusCode::UNAUTHORIZED);
}

/// Each row has a switch, and the webhooks of a cancelled authorization that arrive.
#[tokio::test]
async fn webhooks_are_held_back_doubled_or_reversed() {
    let [canceled, refunded] = ["payment_intent.canceled", "charge.refunded"];
    for (webhooks, expected) in [
        (Webhooks::Off, vec![]),
        (Webhooks::Twice, vec![refunded, refunded, canceled, canceled]),
        (Webhooks::Reversed, vec![refunded, canceled]),
    ] {
        let mut shop = Shop::open(None).await;
        let (url, taken) = api(0).await;
        shop.provider.send_webhooks_to(&url);
        let id = shop.authorized().await;
        all_taken(&shop.provider).await;
        taken.lock().await.clear();
        shop.switch(Switches { webhooks, ..Switches::default() });
        shop.provider.act(Act::Cancel { intent: id }).expect("it is authorized");
        match webhooks {
            Webhooks::Off => tokio::time::sleep(Duration::from_millis(200)).await,
            _ => all_taken(&shop.provider).await,
        }
        let mut arrived = taken.lock().await.clone();
        if webhooks == Webhooks::Twice {
            arrived.sort();
        }
        assert_eq!(arrived, expected, "{webhooks:?}");
        shop.switch(Switches::default());
        all_taken(&shop.provider).await;
    }
}
