//! Asking a question of one of the two tables of a migration.

use key_schema::entity::Side;
use key_schema::layout::{Question, Reads};

use crate::item::Item;
use crate::pair::Pairs;
use crate::raw::Raw;
use crate::read::Batch;
use crate::{Budget, Error};

const MOST_KEYS: usize = 100;

/// A part of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answered {
    /// The items, with canonical keys. Those of a list have the list's order.
    pub items: Vec<Item>,
    /// The canonical position of the last item, if there may be more after it.
    pub position: Option<String>,
}

impl Pairs {
    /// A table's answer to a question: of a Query one page, at most `limit` items if there is a limit; of a batch
    /// everything. Reads are as consistent as the pattern declares.
    pub async fn ask(
        &self,
        side: Side,
        question: &Question,
        limit: Option<u8>,
        budget: Budget,
    ) -> Result<Answered, Error> {
        let (home, declared) = (self.home(side), &question.declared);
        match &question.reads {
            // DynamoDB refuses a range that no key can be in.
            Reads::Range { range, .. } if range.is_empty() => Ok(Answered::default()),
            Reads::Range { partition, range } => {
                let (partition, range) = (partition.clone(), range.clone());
                let (items, position) = self.reader.query_in(home, declared, partition, range, limit).await?;
                Ok(Answered { items: items.iter().map(Raw::item).collect::<Result<_, _>>()?, position })
            }
            Reads::Batch(keys) => {
                let mut items = Vec::new();
                for keys in keys.chunks(MOST_KEYS) {
                    let table = &self.reader.table;
                    let meter = self.reader.meter.as_ref();
                    let batch = Batch { keys: keys.to_vec(), consistency: declared.consistency, keys_only: false };
                    for item in table.batch_in(home, batch, budget, meter).await? {
                        items.push(item.item()?);
                    }
                }
                Ok(Answered { items, position: None })
            }
        }
    }
}
