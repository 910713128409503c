//! Pages of lists.

use serde::Serialize;

/// The page of a list that a client asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The most items that the page may have, from 1 to 100.
    pub limit: u8,
    /// The `next` of the page before; absent for the first page.
    pub cursor: Option<String>,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Page<T> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// The [cursor](crate::cursor) of the next page; `null` after the last one.
    pub next: Option<String>,
}

impl<T> Page<T> {
    /// The page with `show` applied to each item.
    pub fn map<U>(self, show: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(show).collect(), next: self.next }
    }
}
