//! The protocol in every order: writers that read a document, then the table, and write the document if it is unchanged.

#![allow(clippy::expect_used, reason = "tests")]

use std::collections::VecDeque;

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A document's content and sequence number.
type Document = (Value, i64);

/// A writer that works off a message.
#[derive(Clone, Debug)]
enum Writer {
    Begins,
    HasSeen(Option<Document>),
    WillWrite(Option<Document>, Value),
}

/// A product, its document, and the messages about its changes.
#[derive(Default)]
struct World {
    product: Option<Described>,
    document: Option<Document>,
    writes: i64,
    messages: usize,
    writers: VecDeque<Writer>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The shop creates or changes the product, or an operator removes it.
    Change(Option<u8>),
    /// A message is delivered, and another copy of it may come.
    Deliver { again: bool },
    /// A writer goes on.
    Work(prop::sample::Index),
    /// A writer dies. Its message comes again.
    Die(prop::sample::Index),
}

fn id() -> ProductId {
    "cup".parse().expect("an id")
}

fn product(price: u8) -> Described {
    // A product that is removed and created again has the same version as before.
    let product = serde_json::from_value(json!({
        "productId": id(), "name": "Cup", "description": "", "category": "a",
        "price": { "amount": price, "currency": "EUR" }, "initialStock": 0, "version": 1,
    }))
    .expect("a product");
    Described { product, description: Some(String::new()) }
}

impl World {
    fn take(&mut self, step: Step) {
        match step {
            Step::Change(to) => {
                self.product = to.map(product);
                self.messages += 1;
            }
            Step::Deliver { again } if self.messages > 0 => {
                self.messages -= usize::from(!again);
                self.writers.push_back(Writer::Begins);
            }
            Step::Work(which) if !self.writers.is_empty() => self.work(which.index(self.writers.len())),
            Step::Die(which) if !self.writers.is_empty() => {
                self.writers.remove(which.index(self.writers.len()));
                self.messages += 1;
            }
            Step::Deliver { .. } | Step::Work(_) | Step::Die(_) => {}
        }
    }

    fn work(&mut self, at: usize) {
        let next = match self.writers.remove(at).expect("a writer") {
            Writer::Begins => Some(Writer::HasSeen(self.document.clone())),
            Writer::HasSeen(seen) => Some(Writer::WillWrite(seen, wanted(&id(), self.product.clone()))),
            Writer::WillWrite(seen, content) if self.document == seen => {
                self.writes += 1;
                self.document = Some((content, self.writes));
                None
            }
            Writer::WillWrite(..) => Some(Writer::Begins),
        };
        self.writers.extend(next);
    }

    /// Works everything off.
    fn settle(&mut self) {
        while self.messages > 0 || !self.writers.is_empty() {
            if self.writers.is_empty() {
                self.take(Step::Deliver { again: false });
            } else {
                self.work(0);
            }
        }
    }
}

fn any_step() -> impl Strategy<Value = Step> {
    let which = any::<prop::sample::Index>;
    prop_oneof![
        2 => proptest::option::of(0..3_u8).prop_map(Step::Change),
        2 => any::<bool>().prop_map(|again| Step::Deliver { again }),
        8 => which().prop_map(Step::Work),
        1 => which().prop_map(Step::Die),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn whatever_order_messages_come_in_the_document_ends_as_the_table_is(
        steps in prop::collection::vec(any_step(), 1..60),
    ) {
        let mut world = World::default();
        for step in steps {
            world.take(step);
        }
        world.settle();
        match (world.document, world.product) {
            (Some((content, _)), product) => prop_assert_eq!(content, wanted(&id(), product)),
            (None, product) => prop_assert_eq!(product, None, "nothing was reported"),
        }
    }
}

#[test]
fn a_writer_that_saw_a_product_which_is_removed_since_does_not_bring_it_back() {
    let mut world = World::default();
    world.take(Step::Change(None));
    world.settle();
    world.take(Step::Change(Some(0)));
    world.take(Step::Deliver { again: false });
    world.work(0);
    world.work(0);
    world.take(Step::Change(None));
    world.take(Step::Deliver { again: false });
    // The second writer overtakes the first, which has read the table and not written yet.
    for _ in 0..3 {
        world.work(1);
    }
    world.settle();
    assert_eq!(world.document.map(|(content, _)| content), Some(tombstone(&id())));
}
