//! A function's environment: its variables, its clients, and its warm-up.

use std::any::Any;
use std::fmt::{self, Display};
use std::future::Future;
use std::ops::{Deref, RangeInclusive};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use aws_types::SdkConfig;

use crate::aws::{self, Connections, Service};
use crate::https::Https;
use crate::variables::{Misconfigured, Variables};

/// The longest that a start waits for its warm-ups.
const WARM_UP_TIMEOUT: Duration = Duration::from_secs(3);

/// A function's environment variables, and the AWS clients made from them.
///
/// On Lambda, the variables are the process's. On a laptop, where all functions share one process, they come from
/// `template.yaml`.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Variables,
    connections: Connections,
    clients: Clients,
    warm_ups: WarmUps,
}

/// The clients and other shared values made so far, at most one of each type.
type Clients = Arc<Mutex<Vec<Box<dyn Any + Send + Sync>>>>;

/// A client of a service, built when it is first used: some functions rarely need all of their clients.
#[derive(Debug)]
pub struct Client<C>(Arc<LazyLock<C, Build<C>>>);

type Build<C> = Box<dyn FnOnce() -> C + Send>;

impl<C> Clone for Client<C> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C> Deref for Client<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.0
    }
}

/// Work to do before the first event, at most once for each service.
#[derive(Clone, Default)]
struct WarmUps(Arc<Mutex<Vec<(Service, WarmUp)>>>);

type WarmUp = Pin<Box<dyn Future<Output = ()> + Send>>;

impl fmt::Debug for WarmUps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WarmUps")
    }
}

/// A dependency of a function, made from its environment.
pub trait FromEnvironment: Sized {
    /// Reads the environment.
    ///
    /// # Errors
    /// A variable is missing or invalid.
    fn from_environment(environment: &Environment) -> Result<Self, Misconfigured>;
}

macro_rules! tuples {
    ($(($($part:ident)+))+) => {$(
        impl<$($part: FromEnvironment),+> FromEnvironment for ($($part,)+) {
            fn from_environment(environment: &Environment) -> Result<Self, Misconfigured> {
                Ok(($($part::from_environment(environment)?,)+))
            }
        }
    )+};
}

tuples! { (A B) (A B C) (A B C D) }

/// Implements [`FromEnvironment`] for a struct whose fields are all made from the environment.
#[macro_export]
macro_rules! from_environment {
    ($type:ident { $($field:ident),+ }) => {
        impl $crate::FromEnvironment for $type {
            fn from_environment(environment: &$crate::Environment) -> Result<Self, $crate::Misconfigured> {
                Ok(Self { $($field: $crate::FromEnvironment::from_environment(environment)?),+ })
            }
        }
    };
}

impl Environment {
    /// The environment of this process.
    pub fn of_process() -> Self {
        Self::of(std::env::vars())
    }

    /// An environment of these variables.
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self {
            variables: variables.into_iter().collect(),
            connections: Connections::default(),
            clients: Clients::default(),
            warm_ups: WarmUps::default(),
        }
    }

    /// An environment with more variables, which shares this one's connections but not its clients.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(more);
        self.clients = Clients::default();
        self
    }

    /// The client of a service, shared by all parts of the function that use it.
    ///
    /// # Errors
    /// Region or credentials are missing.
    pub fn client<C>(&self, service: Service, make: fn(&SdkConfig) -> C) -> Result<Client<C>, Misconfigured>
    where
        C: Send + Sync + 'static,
    {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.iter().find_map(|client| client.downcast_ref::<Client<C>>()) {
            return Ok(client.clone());
        }
        let config = self.connections.config(service, &self.variables)?;
        let client = Client(Arc::new(LazyLock::new(Box::new(move || make(&config)))));
        clients.push(Box::new(client.clone()));
        Ok(client)
    }

    /// A value that all parts of the function share: the first one that was made of its type.
    pub fn shared<T: Clone + Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> T {
        let mut all = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = all.iter().find_map(|value| value.downcast_ref::<T>()) {
            return value.clone();
        }
        let value = make();
        all.push(Box::new(value.clone()));
        value
    }

    /// A client of a service that is not AWS's, at this base URL. A complete answer takes at most `timeout`.
    ///
    /// # Errors
    /// The system's certificates cannot be read.
    pub fn https(&self, base: &str, timeout: Duration) -> Result<Https, Misconfigured> {
        Ok(Https::new(aws::elsewhere(base, timeout)?, base, timeout))
    }

    /// Registers work to do before the first event on Lambda, once for each service: during initialization a function
    /// has a whole CPU, and no client waits for an answer yet.
    pub fn warm_up(&self, service: Service, work: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.warm_ups.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().all(|(warmed, _)| *warmed != service) {
            all.push((service, Box::pin(work)));
        }
    }

    /// Does the work registered with [`warm_up`](Self::warm_up), within [`WARM_UP_TIMEOUT`].
    pub(crate) async fn run_warm_ups(&self) {
        let work = std::mem::take(&mut *self.warm_ups.0.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async {
            for (_, warm_up) in work {
                warm_up.await;
            }
        };
        // After a timeout the first event does the rest, for example opens the connection.
        _ = tokio::time::timeout(WARM_UP_TIMEOUT, all).await;
    }

    /// The value of a variable, if it is set.
    pub fn optional(&self, name: &str) -> Option<&str> {
        self.variables.optional(name)
    }

    /// The value of a variable that may be empty: the template sets it, and an empty value turns something off.
    ///
    /// # Errors
    /// It is not set.
    pub fn declared(&self, name: &str) -> Result<Option<&str>, Misconfigured> {
        self.variables.declared(name)
    }

    /// The value of a variable.
    ///
    /// # Errors
    /// It is not set.
    pub fn required(&self, name: &str) -> Result<&str, Misconfigured> {
        self.variables.required(name)
    }

    /// Whether a variable is `true`.
    ///
    /// # Errors
    /// It is not set, or neither `true` nor `false`.
    pub fn boolean(&self, name: &str) -> Result<bool, Misconfigured> {
        match self.required(name)? {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(Misconfigured::Invalid(format!("{name} must be true or false, not {other:?}"))),
        }
    }

    /// The value of a variable that has a form of its own.
    ///
    /// # Errors
    /// It is not set, or has another form.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, Misconfigured> {
        self.required(name)?.parse().map_err(|why| Misconfigured::Invalid(format!("{name}: {why}")))
    }

    /// The value of a variable that is a number.
    ///
    /// # Errors
    /// It is not set, or not a number in this range.
    pub fn number<T>(&self, name: &str, range: RangeInclusive<T>) -> Result<T, Misconfigured>
    where
        T: FromStr + PartialOrd + Display,
    {
        let value = self.required(name)?;
        value.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
            let (least, most) = range.into_inner();
            Misconfigured::Invalid(format!("{name} must be a whole number from {least} to {most}, not {value:?}"))
        })
    }
}
