//! Changes of discount codes and gift cards by staff.

use http_api::{Answer, IfMatch, Problem, Versioned};
use key_schema::entity::{Discount, GiftCard};
use key_schema::layout::{Consistency, Key, Stored};
use table::{Budget, Condition, Error, Reader, Write, Writer, Written};

/// A code whose version counts the changes by staff. What orders take from it has no part in the version, so orders do not
/// disturb a change.
pub(crate) trait Code: Stored + Clone + PartialEq {
    /// What problems call the code.
    const NAMED: &'static str;

    /// The version, which is the `ETag`.
    fn version(&self) -> u64;

    /// The same code as this version.
    fn with_version(self, version: u64) -> Self;
}

impl Code for Discount {
    const NAMED: &'static str = "discount code";

    fn version(&self) -> u64 {
        self.version
    }

    fn with_version(self, version: u64) -> Self {
        Self { version, ..self }
    }
}

impl Code for GiftCard {
    const NAMED: &'static str = "gift card";

    fn version(&self) -> u64 {
        self.version
    }

    fn with_version(self, version: u64) -> Self {
        Self { version, ..self }
    }
}

/// Replaces the code by what `of` makes of it, if it is a version that `if_match` names. If the change is done and its
/// request is repeated, the answer is success.
///
/// # Errors
/// There is no such code, it is another version, or `of` fails.
pub(crate) async fn change<C: Code, V: From<C>>(
    (table, writer): &(Reader, Writer),
    key: Key,
    if_match: &IfMatch,
    of: impl Fn(&C) -> Answer<C>,
    budget: Budget,
) -> Answer<Versioned<V>> {
    let mut retries = budget.retries();
    loop {
        let found = table.batch::<C>(vec![key.clone()], Consistency::Strong, budget).await?;
        let code = found.into_iter().next().ok_or_else(|| Problem::not_found(C::NAMED))?;
        let (version, next) = (code.version(), of(&code)?);
        if if_match.is_done(version, next == code)? {
            return Ok(Versioned::new(version, code.into()));
        }
        let next = next.with_version(version + 1);
        let change = Write::change(&code, &next, Condition::version(version)?)?;
        if let Written::Done = writer.write(change, budget).await? {
            return Ok(Versioned::new(next.version(), next.into()));
        }
        if !retries.pause().await {
            let detail = format!("other requests were changing the {} for too long", C::NAMED);
            return Err(Error::contention(detail).into());
        }
    }
}
