//! What a function asks of the table, as data: from it follows what its role allows.

use crate::layout::{AccessPattern, Index, Layout, Stored};

/// One kind of request, on the partitions of one kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The kind of request.
    pub action: Action,
    /// The table or the index.
    pub index: Index,
    /// The template of the partition key.
    pub partition: &'static str,
    /// Whether the request is made only as a part of a transaction.
    pub is_transactional: bool,
}

/// A kind of request, as IAM names it. A transaction is granted as the requests in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// `BatchGetItem`.
    BatchGetItem,
    /// The check of a condition in a transaction.
    ConditionCheckItem,
    /// `DeleteItem`.
    DeleteItem,
    /// The read of one item in a transaction.
    GetItem,
    /// `PutItem`.
    PutItem,
    /// `Query`.
    Query,
    /// `UpdateItem`.
    UpdateItem,
}

impl Action {
    /// The action's name in a policy.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BatchGetItem => "dynamodb:BatchGetItem",
            Self::ConditionCheckItem => "dynamodb:ConditionCheckItem",
            Self::DeleteItem => "dynamodb:DeleteItem",
            Self::GetItem => "dynamodb:GetItem",
            Self::PutItem => "dynamodb:PutItem",
            Self::Query => "dynamodb:Query",
            Self::UpdateItem => "dynamodb:UpdateItem",
        }
    }

    /// The transaction that the action may be a part of.
    pub const fn transaction(self) -> &'static str {
        match self {
            Self::BatchGetItem | Self::GetItem | Self::Query => "TransactGetItems",
            Self::ConditionCheckItem | Self::DeleteItem | Self::PutItem | Self::UpdateItem => "TransactWriteItems",
        }
    }
}

impl Access {
    /// Answers this access pattern by a Query.
    pub const fn query<P: AccessPattern>() -> Self {
        let place = P::DECLARED.place;
        Self { action: Action::Query, index: place.index, partition: place.partition, is_transactional: false }
    }

    /// Reads items of this kind by their keys.
    pub const fn batch_get<E: Stored>() -> Self {
        Self::to::<E>(Action::BatchGetItem)
    }

    /// Reads items of this kind in a transaction, and never otherwise.
    pub const fn transact_get<E: Stored>() -> Self {
        Self::to::<E>(Action::GetItem).in_transactions()
    }

    /// Writes items of this kind as a whole.
    pub const fn put<E: Stored>() -> Self {
        Self::to::<E>(Action::PutItem)
    }

    /// Changes items of this kind.
    pub const fn update<E: Stored>() -> Self {
        Self::to::<E>(Action::UpdateItem)
    }

    /// Deletes items of this kind.
    pub const fn delete<E: Stored>() -> Self {
        Self::to::<E>(Action::DeleteItem)
    }

    /// Checks a condition on items of this kind, in a transaction that writes others.
    pub const fn check<E: Stored>() -> Self {
        Self::to::<E>(Action::ConditionCheckItem).in_transactions()
    }

    /// Makes requests of this kind for items of every kind, in transactions.
    pub const fn everywhere(action: Action) -> Self {
        Self { action, index: Index::Table, partition: "{any}", is_transactional: true }
    }

    /// The same, and never outside of a transaction.
    #[must_use]
    pub const fn in_transactions(self) -> Self {
        Self { is_transactional: true, ..self }
    }

    const fn to<E: Stored>(action: Action) -> Self {
        let place = E::PLACES[0];
        assert!(matches!(place.index, Index::Table), "the first place of an entity is in the table");
        Self { action, index: place.index, partition: place.partition, is_transactional: false }
    }

    /// The pattern of the partition keys in a layout, as a policy spells it: `p#*`.
    pub fn leading_keys(&self, layout: Layout) -> String {
        let partition = layout.partition(self.index, self.partition.to_owned());
        match partition.split_once('{') {
            Some((prefix, _)) => format!("{prefix}*"),
            None => partition,
        }
    }
}
