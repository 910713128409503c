//! Over how many partitions what would be one hot partition is spread.

use lambda::{Environment, FromEnvironment, Misconfigured};

macro_rules! shards {
    ($($(#[$doc:meta])* $name:ident = $variable:literal;)+) => {$(
        $(#[$doc])*
        ///
        /// 1 to 64, so that all of them can be asked at once.
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub u8);

        impl FromEnvironment for $name {
            fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
                environment.number($variable, 1..=64).map(Self)
            }
        }
    )+};
}

shards! {
    /// Over how many partitions the orders of one status are spread.
    StatusShards = "STATUS_SHARDS";
    /// Over how many partitions the lines of one product are spread.
    ProductShards = "PRODUCT_SHARDS";
    /// Over how many partitions the views of one product are counted.
    ViewShards = "VIEW_SHARDS";
}
