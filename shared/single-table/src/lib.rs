//! Single-table design for DynamoDB: the entities of a table, their keys, and every question that the table answers, as
//! constants. Both the keys of written items and the ranges of reads are made from the same templates, so the two cannot
//! drift apart. The types of a question's parameters are those of its templates' parts.
//!
//! Authors and their books. An author is read with all books by one Query, and the books of a year by another one:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use single_table::{Bound, Key, KeyPart, Pattern, Place, PlaceText, Stored, Template, collection, items};
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
//! pub struct Id(String); // Its constructor refuses a `#`.
//! #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
//! pub struct Author { id: Id, name: String }
//! #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
//! pub struct Book { id: Id, author: Id, year: u8 }
//!
//! // Places: a partition key and a sort key, in the table or in an index.
//! const COLLECTION: Template<Id> = Template::new("author#{id}");
//! const AUTHOR: Place<Id, Id> = Place::table(COLLECTION, COLLECTION);
//! const OF_AUTHOR: Place<Id, Id> = Place::table(COLLECTION, Template::new("book#{id}"));
//! const OF_YEAR: Place<u8, Id> = Place::gsi1(Template::new("year#{year}"), Template::new("book#{id}"));
//!
//! // Questions: the type of the parameters, and the type of the items in the answer.
//! const AUTHOR_WITH_BOOKS: Pattern<Id, InAuthor> = AUTHOR.collection(1, "an author with all books", Bound::All);
//! const BOOK_OF_AUTHOR: Pattern<(Id, Id), Book> = OF_AUTHOR.one(2, "a book of an author");
//! const BOOKS_OF_YEAR: Pattern<u8, Book> = OF_YEAR.list(3, "the books of a year, sorted by id");
//!
//! // Entities: each has its places and its keys.
//! items! { Author = "author" Book = "book" }
//! collection! { InAuthor { Author Book } }
//!
//! impl Stored for Author {
//!     const PLACES: &'static [PlaceText] = &[AUTHOR.text()];
//!     fn key(&self) -> Key { AUTHOR.key(&self.id, &self.id) }
//! }
//! impl Stored for Book {
//!     const PLACES: &'static [PlaceText] = &[OF_AUTHOR.text(), OF_YEAR.text()];
//!     fn key(&self) -> Key { OF_AUTHOR.key(&self.author, &self.id) }
//!     fn index_keys(&self) -> Vec<Key> { vec![OF_YEAR.key(&self.year, &self.id)] }
//! }
//! impl KeyPart for Id {
//!     fn write_to(&self, key: &mut String) { key.push_str(&self.0) }
//! }
//!
//! // A question finds the items that were written with these keys.
//! let book = Book { id: Id("emma".into()), author: Id("austen".into()), year: 15 };
//! let [in_table, in_index] = &book.keys()[..] else { panic!("two keys") };
//! let austen = AUTHOR_WITH_BOOKS.ask(&book.author);
//! assert!(austen.partition == in_table.partition && austen.range.contains(&in_table.sort));
//! assert!(BOOK_OF_AUTHOR.ask((&book.author, &book.id)).range.contains(&in_table.sort));
//! assert!(BOOKS_OF_YEAR.ask(&book.year).range.contains(&in_index.sort));
//! assert_eq!(BOOKS_OF_YEAR.ask(&book.year).partition, "year#15");
//! assert_eq!(single_table::access::leading_keys(ENTITIES[1].1[0].partition), "author#*");
//! ```
//!
//! - [`Template`], [`Place`], [`Pattern`]: keys, and the questions of them. [`Query`] is a question with its parameters, for
//!   a reader that sends it; [`Question`] the same as data.
//! - [`items!`], [`collection!`], [`Stored`]: the entities.
//! - [`page`], [`cursor`]: a page of a list, and a client's position in the list. [`in_shards`]: a list of many partitions.
//! - [`json`]: an item of an answer, read as its entity.
//! - [`access`]: a function's requests to the table, from which its role follows.
//! - [`charts`]: all declarations as Markdown. [`Declaration::fields`] and [`Declaration::ask`]: a pattern as a form.
//!
//! The crate has no AWS client, no async and no clock.

#![warn(missing_docs)]

pub mod access;
pub mod charts;
pub mod cursor;
mod entity;
mod form;
pub mod json;
pub mod page;
mod pattern;
mod place;
mod question;
mod range;
mod shards;
mod template;

pub use entity::{Entity, Kinds, Stored};
pub use form::{Field, NoPart};
pub use pattern::{Bound, Choose, Chosen, Consistency, Declaration, Direction, Pattern, Query};
pub use place::{Index, Key, Place, PlaceText};
pub use question::{Question, Reads};
pub use range::SortRange;
pub use shards::{in_shards, share_of_page};
pub use template::{Given, KeyPart, Parameter, Parts, Template, Values, parts, spells};
