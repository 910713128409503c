//! A function's environment.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use aws_types::SdkConfig;

use crate::aws::{Connections, Service};
use crate::variables::{Misconfigured, Variables};

/// A function's environment variables, and the connections of the clients made from them.
///
/// Taken from the process on Lambda, and from `template.yaml` on a laptop, where many functions share one process.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Variables,
    connections: Connections,
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

impl Environment {
    /// This process's variables.
    pub fn of_process() -> Self {
        Self::of(std::env::vars())
    }

    /// These variables.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { variables: variables.into_iter().collect(), connections: Connections::default() }
    }

    /// The same connections with more variables.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(more);
        self
    }

    /// The configuration of a service's client.
    ///
    /// # Errors
    /// Region or credentials are missing.
    pub fn aws(&self, service: Service) -> Result<SdkConfig, Misconfigured> {
        self.connections.config(service, &self.variables)
    }

    /// The value of a variable, if it is set.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.variables.optional(name)
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// It is not set.
    pub fn required(&self, name: &str) -> Result<&str, Misconfigured> {
        self.variables.required(name)
    }

    /// The value of a variable that is a number.
    ///
    /// # Errors
    /// It is not set, or is no number of this range.
    pub fn number<T>(&self, name: &str, range: RangeInclusive<T>) -> Result<T, Misconfigured>
    where
        T: FromStr + PartialOrd + Display,
    {
        let value = self.required(name)?;
        value.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            let (least, most) = range.into_inner();
            Misconfigured(format!("{name} must be a whole number from {least} to {most}, not {value:?}"))
        })
    }
}
