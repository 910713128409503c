//! Mending counters.
//!
//! What lacks is added, and only while every counter is what it was when it was compared. Counting adds, too, so in
//! whichever order the two come, both are in the sum; the condition is there so that whatever is mended twice, by a
//! repetition or by two runs, is mended once.

use counting::Counts;
use key_schema::layout::Stored;
use serde::de::DeserializeOwned;
use table::{Budget, Condition, Error, Item, Write, read_item};

use crate::reconcile_counts::Reconciler;
use crate::reconcile_counts::run::KEPT_BACK;
use crate::reconcile_counts::walk::Walk;

impl Reconciler {
    /// Adds what lacks. `false`: the counters have moved, or nobody answered, and the next run looks again.
    pub(crate) async fn mend(&self, walk: &Walk, lack: &Counts) -> Result<bool, Error> {
        let (was, is_there) = (walk.counted.clone().unwrap_or_default(), walk.counted.is_some());
        if let Some(lack) = lack.customers().next() {
            return self.add(is_there, was.customers().next(), lack, &was).await;
        }
        if let Some(lack) = lack.products().next() {
            return self.add(is_there, was.products().next(), lack, &was).await;
        }
        if let Some(lack) = lack.days().next() {
            return self.add(is_there, was.days().next(), lack, &was).await;
        }
        Ok(true)
    }

    async fn add<T>(&self, is_there: bool, was: Option<&T>, lack: &T, counted: &Counts) -> Result<bool, Error>
    where
        T: Stored + DeserializeOwned + Clone + Into<Counts>,
    {
        let is_same = if is_there { Condition::same_numbers(was, lack)? } else { Condition::absent() };
        let mut mended = counted.clone();
        mended.add(&lack.clone().into());
        match self.writer.write(Write::add_if(lack, is_same)?, Budget::of(KEPT_BACK)).await {
            Ok(Ok(())) => Ok(true),
            // A repetition whose first attempt was not answered finds its own work.
            Ok(Err(found)) => Ok(found.map(read::<T>).transpose()?.is_some_and(|found| found == mended)),
            Err(Error::Unanswered(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn read<T: DeserializeOwned + Into<Counts>>(item: Item) -> Result<Counts, Error> {
    Ok(read_item::<T>(item)?.into())
}
