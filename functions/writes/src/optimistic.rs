//! Optimistic locking: read, decide, and write on condition that nothing has changed. On a conflict, all of it again.

use http_api::{Answer, Problem};
use key_schema::entity::{Discount, GiftCard, Product};
use key_schema::layout::{Consistency, Key, Stored};
use lambda::Retries;
use table::{Budget, Condition, Error, Reader, Write, Writer};

/// An entity whose version counts its changes, and is its `ETag`. What orders take from a discount code or a gift card has
/// no part in the version, so orders do not disturb a change.
pub(crate) trait VersionedEntity: Stored + Clone {
    /// What problems call the entity.
    const NAMED: &'static str;

    fn version(&mut self) -> &mut u64;
}

macro_rules! versioned {
    ($($entity:ty, $named:literal;)+) => {$(
        impl VersionedEntity for $entity {
            const NAMED: &'static str = $named;

            fn version(&mut self) -> &mut u64 {
                &mut self.version
            }
        }
    )+};
}

versioned! { Discount, "discount code"; GiftCard, "gift card"; Product, "product"; }

/// The entity with this key, strongly consistent.
pub(crate) async fn read<T: VersionedEntity>(table: &Reader, key: Key, budget: Budget) -> Answer<T> {
    let found = table.batch::<T>(vec![key], Consistency::Strong, budget).await?;
    found.into_iter().next().ok_or_else(|| Problem::not_found(T::NAMED))
}

/// Replaces the entity with this key by what `decide` makes of it, and returns the new one with its version. If that is
/// `None`, returns the entity as it is.
///
/// # Errors
/// There is no such entity, `decide` fails, or other requests were changing the entity for too long.
pub(crate) async fn replace<T: VersionedEntity>(
    (table, writer): (&Reader, &Writer),
    key: Key,
    decide: impl Fn(&T) -> Answer<Option<T>>,
    budget: Budget,
) -> Answer<T> {
    let mut retries = budget.retries();
    loop {
        let before = read(table, key.clone(), budget).await?;
        let Some(after) = decide(&before)? else { return Ok(before) };
        if let Some(after) = write(writer, before, after, budget).await? {
            return Ok(after);
        }
        pause(&mut retries, T::NAMED).await?;
    }
}

/// Writes `after` with the version that follows `before`, and returns it. `None` if another request has changed the entity
/// since it was read.
pub(crate) async fn write<T: VersionedEntity>(
    writer: &Writer,
    mut before: T,
    mut after: T,
    budget: Budget,
) -> Result<Option<T>, Error> {
    let version = *before.version();
    *after.version() = version + 1;
    let change = Write::change(&before, &after, Condition::version(version)?)?;
    Ok(writer.write(change, budget).await?.is_done().then_some(after))
}

/// Pauses after a conflict, before the next attempt reads again. `changed` says what other requests have changed.
pub(crate) async fn pause(retries: &mut Retries, changed: &str) -> Result<(), Error> {
    let contention = || Error::contention(format!("other requests were changing the {changed} for too long"));
    if retries.pause().await { Ok(()) } else { Err(contention()) }
}
