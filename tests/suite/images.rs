//! The images of products.

use devstack::Endpoints;
use futures_util::future::join_all;
use key_schema::value::ImageId;
use local::functions::start_all;
use reqwest::Client;
use shop::events::event;
use shop::images::{PICTURE, new_image};

use crate::history::copied;
use crate::prelude::*;

const HOUR: u32 = 60 * 60;

async fn shop() -> Shop {
    let shop = Shop::open().await;
    shop.product("thing", 1000, 10).await;
    shop.product("other", 1000, 10).await;
    shop
}

async fn seen(shop: &Shop, product: &str) -> Vec<Value> {
    let product = shop.nobody().get(&format!("/products/{product}")).await.expect(200);
    product["images"].as_array().cloned().unwrap_or_default()
}

async fn ids(shop: &Shop, product: &str) -> Vec<String> {
    seen(shop, product).await.iter().map(|image| image["imageId"].as_str().expect("an id").to_owned()).collect()
}

/// An id that was made so many seconds ago.
fn of_age(seconds: u32) -> ImageId {
    ImageId::random(Timestamp::now().minus_seconds(seconds))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_uploaded_confirmed_seen_and_removed() {
    let shop = shop().await;
    assert_eq!(seen(&shop, "thing").await, Vec::<Value>::new());
    let image = shop.uploaded("thing").await;
    assert_eq!(ids(&shop, "thing").await, Vec::<String>::new(), "it is not confirmed");

    let confirmed = shop.confirm_image("thing", &image).await;
    assert_eq!(confirmed.version(), Some(2), "it is another page");
    let images = confirmed.expect(200)["images"].clone();
    assert_eq!(json!(seen(&shop, "thing").await), images);
    let listed = shop.nobody().get("/products?category=things").await.expect(200);
    assert_eq!(listed["items"][1]["images"], images, "{listed}");
    let url = images[0]["url"].as_str().expect("a URL");
    let answer = Client::new().get(url).send().await.expect("an answer");
    assert_eq!(
        (answer.status().as_u16(), &answer.headers()["content-type"]),
        (200, &"image/webp".parse().expect("a type"))
    );
    assert_eq!(answer.bytes().await.expect("a body").as_ref(), PICTURE);

    let again = shop.confirm_image("thing", &image).await;
    assert_eq!((again.version(), &again.expect(200)["images"]), (Some(2), &images));
    for _ in 0..2 {
        assert_eq!(shop.remove_image("thing", &image).await.status, 204);
        assert_eq!(ids(&shop, "thing").await, Vec::<String>::new());
    }
    shop.remove_image("nothing", &image).await.problem(Kind::NotFound);
    shop.admin().post("/products/nothing/images", new_image(PICTURE)).await.problem(Kind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn staff_choose_the_order_of_images_and_say_what_they_show() {
    let shop = shop().await;
    let mut images = Vec::new();
    for _ in 0..4 {
        images.push(shop.uploaded("thing").await);
    }
    let say = async |at: usize, changes: Value| shop.say_of_image("thing", &images[at], changes).await;
    for (at, position, expected) in [
        (0, None, vec![0]),
        (1, Some(0), vec![1, 0]),
        (2, Some(1), vec![1, 2, 0]),
        (3, Some(9), vec![1, 2, 0, 3]),
        (0, None, vec![1, 2, 0, 3]),
        (3, Some(0), vec![3, 1, 2, 0]),
        (3, Some(2), vec![1, 2, 3, 0]),
        (1, Some(9), vec![2, 3, 0, 1]),
    ] {
        let changes = position.map_or(json!({}), |position| json!({ "position": position }));
        let answer = say(at, changes.clone()).await;
        assert_eq!(say(at, changes).await.version(), answer.version(), "the same again changes nothing");
        let expected: Vec<_> = expected.into_iter().map(|at: usize| images[at].clone()).collect();
        assert_eq!(ids(&shop, "thing").await, expected);
    }
    say(2, json!({ "alt": "A pot", "width": 640, "height": 480 })).await.expect(200);
    say(2, json!({ "width": 1280 })).await.expect(200);
    say(3, json!({ "alt": "" })).await.expect(200);
    let seen = seen(&shop, "thing").await;
    let said = |at: usize| ["alt", "width", "height"].map(|name| seen[at][name].clone());
    assert_eq!([said(0), said(1)], [[json!("A pot"), json!(1280), json!(480)], [json!(""), Value::Null, Value::Null]]);
    let others = [json!({ "alt": "x".repeat(201) }), json!({ "alt": "a\nb" }), json!({ "width": 0 })];
    for refused in others.into_iter().chain([json!({ "height": 65_536 }), json!({ "position": 10 })]) {
        say(2, refused).await.problem(Kind::Validation);
    }
    let other = Shop::open().await;
    copied(&shop, &other).await;
    assert_eq!(other.nobody().get("/products/thing").await.expect(200)["images"].as_array().map(Vec::len), Some(4));
}

/// The token of the API is of no use at the bucket, and a signed URL for one image is of no use for another.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_uploads_another_image_than_the_signed_one() {
    let shop = shop().await;
    let signed = shop.signed_upload("thing").await;
    let elsewhere = |from: &str, to: &str| {
        let mut other = signed.clone();
        other["url"] = json!(signed["url"].as_str().expect("a URL").replace(from, to));
        other
    };
    let id = signed["imageId"].as_str().expect("an id");
    let twin = ImageId::random(Timestamp::now());
    for other in [elsewhere("/thing/", "/other/"), elsewhere(id, twin.as_str())] {
        assert_eq!(shop.upload(&other, PICTURE).await, 403, "{other}");
    }
    for content in [b"picture?".as_slice(), b"a longer picture"] {
        assert_ne!(shop.upload(&signed, content).await, 200);
    }
    assert_eq!(shop.images().list("").await.expect("a list"), Vec::<String>::new());
    assert_eq!(shop.upload(&signed, PICTURE).await, 200);
    assert_eq!(shop.upload(&signed, PICTURE).await, 412, "it is there, and never replaced");
    shop.confirm_image("other", id).await.problem(Kind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_confirmed_after_its_upload_and_within_an_hour() {
    let shop = shop().await;
    let signed = shop.signed_upload("thing").await;
    shop.confirm_image("thing", signed["imageId"].as_str().expect("an id")).await.problem(Kind::NotFound);
    for (age, is_in_time) in [(HOUR - 60, true), (HOUR + 60, false), (30 * 24 * HOUR, false)] {
        let image = of_age(age);
        shop.put_image("thing", &image).await;
        let reply = shop.confirm_image("thing", image.as_str()).await;
        assert_eq!(reply.status, if is_in_time { 200 } else { 404 }, "{age}");
    }
    shop.put_image("thing", &"mine".parse().expect("an id")).await;
    shop.confirm_image("thing", "mine").await.problem(Kind::NotFound);
}

#[tokio::test(flavor = "multi_thread")]
async fn images_that_are_confirmed_at_once_are_all_there_up_to_ten() {
    let shop = shop().await;
    let images = join_all((0..12).map(|_| shop.uploaded("thing"))).await;
    let replies = join_all(images.iter().map(|image| shop.confirm_image("thing", image))).await;
    let mut confirmed: Vec<_> =
        images.iter().zip(&replies).filter(|(_, reply)| reply.status == 200).map(|(image, _)| image.clone()).collect();
    let refused: Vec<_> = replies.into_iter().filter(|reply| reply.status != 200).collect();
    assert_eq!(refused.len(), 2);
    for reply in refused {
        reply.problem(Kind::TooManyImages);
    }
    let mut there = ids(&shop, "thing").await;
    there.sort();
    confirmed.sort();
    assert_eq!(there, confirmed);
    shop.admin().post("/products/thing/images", new_image(PICTURE)).await.problem(Kind::TooManyImages);
    shop.remove_image("thing", &there[3]).await.expect(204);
    shop.uploaded("thing").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_product_keeps_its_images_when_it_changes() {
    let shop = shop().await;
    let image = shop.uploaded("thing").await;
    shop.confirm_image("thing", &image).await.expect(200);
    let admin = shop.admin();
    for (path, method, change) in [
        ("/products/thing", Method::PATCH, json!({ "name": "Another name", "price": eur(1) })),
        ("/products/thing/stock", Method::POST, json!({ "delta": 5 })),
        ("/products/thing", Method::PATCH, json!({ "cells": 3 })),
    ] {
        admin.with(method, path, &[("if-match", "*")], change.clone()).await.expect(200);
        assert_eq!(ids(&shop, "thing").await, [image.as_str()], "{change}");
    }
}

/// Those that are old, and that no product names: whether its upload was not confirmed, or its removal not finished.
#[tokio::test(flavor = "multi_thread")]
async fn the_objects_that_no_product_names_are_deleted_and_no_others() {
    let shop = shop().await;
    let (named, unnamed, of_other, of_nothing, young) =
        (of_age(48 * HOUR), of_age(48 * HOUR), of_age(25 * HOUR), of_age(99 * HOUR), of_age(23 * HOUR));
    for (product, image) in
        [("thing", &named), ("thing", &unnamed), ("other", &of_other), ("nothing", &of_nothing), ("thing", &young)]
    {
        shop.put_image(product, image).await;
    }
    // Not an image of this shop.
    let kept = ["images/readme.txt", "images/thing/mine", "notes/thing"];
    for key in kept {
        shop.images().put(key, "text/plain", b"kept").await.expect("it is written");
    }
    shop.set_images("thing", &[&named]).await;
    let report = shop.tidy_images().await;
    assert_eq!(report, json!({ "images": 4, "deleted": 3, "done": true }));
    let mut left = kept.map(str::to_owned).to_vec();
    left.extend([&named, &young].map(|image| format!("images/thing/{image}")));
    left.sort();
    assert_eq!(shop.images().list("").await.expect("a list"), left);
    let report = shop.tidy_images().await;
    assert_eq!(report, json!({ "images": 1, "deleted": 0, "done": true }));
}

/// A young image may be confirmed again by a request that comes late, so its object stays for a while.
#[tokio::test(flavor = "multi_thread")]
async fn the_object_of_a_removed_image_is_deleted_once_nobody_can_confirm_it() {
    let shop = shop().await;
    let (young, old) = (of_age(HOUR / 2), of_age(3 * HOUR));
    for image in [&young, &old] {
        shop.put_image("thing", image).await;
    }
    shop.set_images("thing", &[&young, &old]).await;
    for image in [&young, &old] {
        shop.remove_image("thing", image.as_str()).await.expect(204);
    }
    assert_eq!(shop.images().list("").await.expect("a list"), [format!("images/thing/{young}")]);
    // As if the removal had stopped before the object was deleted.
    shop.put_image("thing", &old).await;
    shop.remove_image("thing", old.as_str()).await.expect(204);
    shop.confirm_image("thing", young.as_str()).await.expect(200);
    assert_eq!(shop.images().list("").await.expect("a list"), [format!("images/thing/{young}")]);
}

/// Without both permissions S3 answers 403 for an object that is there and for one that is not. Till reports that as its
/// own failure, so that an alarm goes off, and not as a missing upload.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_may_not_look_for_images_is_not_a_missing_upload() {
    for action in ["s3:GetObject", "s3:ListBucket"] {
        let shop = Shop::open_with(|template| {
            let function = template.functions.iter_mut().find(|function| function.logical_id == "ConfirmImage");
            let policies = &mut function.expect("the function").role.policies;
            for policy in policies {
                policy.statements.retain(|one| one.actions != [action]);
            }
        })
        .await;
        shop.product("thing", 1000, 10).await;
        let image = if action == "s3:GetObject" { shop.uploaded("thing").await } else { of_age(60).to_string() };
        shop.confirm_image("thing", &image).await.problem(Kind::Internal);
        let denials = shop.denials();
        assert!(matches!(denials.as_slice(), [denial] if denial.contains(action)), "{denials:?}");
    }
}

/// A product never names an object that is not there, and an object without a product is deleted later.
#[tokio::test(flavor = "multi_thread")]
async fn while_s3_fails_an_image_is_removed_and_none_is_confirmed_or_tidied_away() {
    let shop = shop().await;
    let (old, young) = (of_age(48 * HOUR), of_age(60));
    for image in [&old, &young] {
        shop.put_image("thing", image).await;
    }
    shop.set_images("thing", &[&old]).await;
    // Nothing listens there.
    let endpoints = Endpoints { s3: Some("http://127.0.0.1:9".to_owned()), ..shop.endpoints() };
    let functions = start_all(&endpoints, shop.template()).expect("the functions start").handlers;
    let call = async |name: &str, image: &ImageId| {
        let (_, invoke) = functions.iter().find(|(known, _)| known == name).expect("a function");
        let mut event = event(name);
        event["pathParameters"] = json!({ "productId": "thing", "imageId": image });
        invoke(event).await.expect("an answer")["statusCode"].clone()
    };
    assert_eq!(call("confirm-image", &young).await, 503);
    assert_eq!(ids(&shop, "thing").await, [old.as_str()]);
    assert_eq!(call("remove-image", &old).await, 204);
    assert_eq!(ids(&shop, "thing").await, Vec::<String>::new());
    shop.consumer("tidy-images", &endpoints)(json!({})).await.expect_err("S3 fails");
    assert_eq!(shop.tidy_images().await, json!({ "images": 1, "deleted": 1, "done": true }));
    shop.confirm_image("thing", young.as_str()).await.expect(200);
}
