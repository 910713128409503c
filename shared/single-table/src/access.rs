//! What a function asks of the table, as data: from it follows what its role allows.

use crate::{Index, Pattern, PlaceText, Stored};

/// One kind of request, on the partitions of one kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The kind of request.
    pub action: Action,
    /// The table or the index.
    pub index: Index,
    /// The template of the partition key.
    pub partition: &'static str,
    /// The entity, or the question of the access pattern of a Query.
    pub subject: &'static str,
    /// Whether the request is made only as a part of a transaction.
    pub is_transactional: bool,
    /// Whether the request reads nothing of the items but their keys.
    pub is_of_keys: bool,
}

/// The subject of an access to items of every kind.
pub const EVERY: &str = "every entity";

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
    pub const fn query<Parameters, Item>(pattern: Pattern<Parameters, Item>) -> Self {
        Self::new(Action::Query, pattern.declared.place, pattern.declared.question)
    }

    /// Reads items of this kind by their keys.
    pub const fn batch_get<E: Stored>() -> Self {
        Self::to::<E>(Action::BatchGetItem)
    }

    /// Reads whether items of this kind exist, by their keys, and nothing else of them.
    pub const fn exists<E: Stored>() -> Self {
        Self { is_of_keys: true, ..Self::to::<E>(Action::BatchGetItem) }
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
        let place = PlaceText { index: Index::Table, partition: "{any}", sort: "" };
        Self::new(action, place, EVERY).in_transactions()
    }

    /// The same, and never outside of a transaction.
    #[must_use]
    pub const fn in_transactions(self) -> Self {
        Self { is_transactional: true, ..self }
    }

    /// The same for a part of the collections: those whose partition keys have this template.
    #[must_use]
    pub const fn of_partitions(self, partition: &'static str) -> Self {
        Self { partition, ..self }
    }

    const fn to<E: Stored>(action: Action) -> Self {
        let place = E::PLACES[0];
        assert!(matches!(place.index, Index::Table), "the first place of an entity is in the table");
        Self::new(action, place, E::TYPE)
    }

    const fn new(action: Action, place: PlaceText, subject: &'static str) -> Self {
        let PlaceText { index, partition, .. } = place;
        Self { action, index, partition, subject, is_transactional: false, is_of_keys: false }
    }
}

/// The pattern of the partition keys with this template, as the condition `dynamodb:LeadingKeys` of a policy spells it:
/// `p#*`.
pub fn leading_keys(partition: &str) -> String {
    match partition.split_once('{') {
        Some((prefix, _)) => format!("{prefix}*"),
        None => partition.to_owned(),
    }
}
