//! A function's environment.

use aws_sdk_dynamodb::Client;

use crate::client;
use crate::variables::{Misconfigured, Variables};

/// A function's environment variables and the DynamoDB client made from them.
///
/// Taken from the process on Lambda, and from `template.yaml` on a laptop, where many functions share one process.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Variables,
    dynamodb: Client,
}

/// What a function needs, made from its environment.
pub trait FromEnvironment: Sized {
    /// Reads the environment.
    ///
    /// # Errors
    /// A variable is missing or makes no sense.
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured>;
}

macro_rules! together {
    ($(($($part:ident)+))+) => {$(
        impl<$($part: FromEnvironment),+> FromEnvironment for ($($part,)+) {
            fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
                Ok(($($part::from_environment(environment)?,)+))
            }
        }
    )+};
}

together! { (A B) (A B C) }

macro_rules! shards {
    ($($(#[$doc:meta])* $name:ident = $variable:literal;)+) => {$(
        $(#[$doc])*
        ///
        /// 1 to 64, so that all of them can be asked at once.
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub u8);

        impl FromEnvironment for $name {
            fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
                environment.shards($variable).map(Self)
            }
        }
    )+};
}

shards! {
    /// Over how many partitions the orders of one status are spread.
    StatusShards = "STATUS_SHARDS";
    /// Over how many partitions the views of one product are counted.
    ViewShards = "VIEW_SHARDS";
}

impl Environment {
    /// This process's variables.
    ///
    /// # Errors
    /// Region or credentials are missing: without them nothing works.
    pub fn of_process() -> Result<Self, Misconfigured> {
        Self::of(std::env::vars())
    }

    /// These variables. The client is made from them.
    ///
    /// # Errors
    /// Region or credentials are missing.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Result<Self, Misconfigured> {
        let variables = variables.into_iter().collect();
        Ok(Self { dynamodb: client::dynamodb(&variables)?, variables })
    }

    /// The same client with more variables.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(more);
        self
    }

    /// The DynamoDB client.
    pub fn dynamodb(&self) -> &Client {
        &self.dynamodb
    }

    /// The value of a variable that counts shards.
    fn shards(&self, name: &str) -> Result<u8, Misconfigured> {
        let value = self.required(name)?;
        value
            .parse()
            .ok()
            .filter(|shards| (1..=64).contains(shards))
            .ok_or_else(|| Misconfigured(format!("{name} must be a whole number from 1 to 64, not {value:?}")))
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// It is not set.
    pub fn required(&self, name: &str) -> Result<&str, Misconfigured> {
        self.variables.required(name)
    }
}
