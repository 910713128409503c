//! A member of staff, who changes products and their stock.

use fastrand::Rng;

use super::world::{Ask, PRODUCTS, World};
use crate::prelude::*;

pub struct Staff {
    admin: Client,
    random: Rng,
    made: u64,
}

impl Staff {
    pub fn new(world: &World) -> Self {
        Self { admin: world.shop().admin(), random: world.random(3), made: 0 }
    }

    /// Works until the shop is closed.
    pub async fn work(mut self, world: &World) -> Self {
        while !world.is_closed() {
            let open = world.gate.read().await;
            // A request that is not answered as it should be is a complaint already.
            _ = self.once(world).await;
            drop(open);
            tokio::time::sleep(Duration::from_millis(self.random.u64(100..500))).await;
        }
        self
    }

    async fn once(&mut self, world: &World) -> Option<()> {
        self.made += 1;
        let product = format!("p{}", self.random.usize(..PRODUCTS));
        let path = format!("/products/{product}");
        match self.random.u8(..10) {
            0..=5 => self.adjust(world, product).await,
            6 | 7 => {
                let name = format!("The {product}, {}", self.made);
                let changed = self.change(world, &path, json!({ "name": name })).await?;
                let read = self.ask(world, Method::GET, &path, &[], None, 200).await?;
                if read.body["name"] != name.as_str() || changed.body["name"] != name.as_str() {
                    world.complain(format!("{product} is not named {name:?}: {}", read.body));
                }
                Some(())
            }
            8 => {
                // Prices only fall: an order that waits is refused if it became dearer.
                let price = 1000_u64.saturating_sub(self.made).max(100);
                self.change(world, "/products/p0", json!({ "price": eur(price) })).await.map(|_| ())
            }
            _ => {
                let cells = self.random.u8(1..=4);
                self.change(world, "/products/p1", json!({ "cells": cells })).await.map(|_| ())
            }
        }
    }

    async fn ask(
        &self,
        world: &World,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
        expected: u16,
    ) -> Option<Reply> {
        let mut random = self.random.clone();
        world.insist(Ask { client: &self.admin, method, path, headers, body, expected: &[expected] }, &mut random).await
    }

    async fn change(&self, world: &World, path: &str, body: Value) -> Option<Reply> {
        self.ask(world, Method::PATCH, path, &[("if-match", "*")], Some(body), 200).await
    }

    /// An adjustment is done once, however often it is sent.
    async fn adjust(&mut self, world: &World, product: String) -> Option<()> {
        let delta = if self.random.bool() { self.random.i64(1..50) } else { -1 };
        let (path, key) = (format!("/products/{product}/stock"), format!("adjustment-{}", self.made));
        let headers = [("idempotency-key", key.as_str())];
        self.ask(world, Method::POST, &path, &headers, Some(json!({ "delta": delta })), 200).await?;
        *world.adjusted.lock().expect("no panic").entry(product).or_default() += delta;
        Some(())
    }
}
