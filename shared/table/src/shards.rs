//! Shard counts: the number of partitions over which a partition that would be hot is spread.

use lambda::{Environment, FromEnvironment, Misconfigured};

use crate::warm_up::Connections;

macro_rules! shards {
    ($($(#[$doc:meta])* $name:ident = $variable:literal;)+) => {$(
        $(#[$doc])*
        ///
        /// From 1 to 64, so that one request can query all shards concurrently.
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub u8);

        impl FromEnvironment for $name {
            fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
                environment.number($variable, 1..=64).map(Self)
            }
        }

        impl FromEnvironment for Every<$name> {
            fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
                let shards = $name::from_environment(environment)?;
                environment.shared(Connections::default).at_least(shards.0.into());
                Ok(Self(shards))
            }
        }
    )+};
}

/// The shards of a function that queries all of them concurrently for every event. On Lambda, a connection for each of
/// them is open before the first event.
#[derive(Clone, Copy, Debug)]
pub struct Every<S>(pub S);

shards! {
    /// The number of partitions over which the orders of one status are spread.
    StatusShards = "STATUS_SHARDS";
    /// The number of partitions over which the order lines of one product are spread.
    ProductShards = "PRODUCT_SHARDS";
    /// The number of partitions over which the view counts of one product are spread.
    ViewShards = "VIEW_SHARDS";
}
