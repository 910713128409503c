//! A function's environment.

use std::any::Any;
use std::fmt::{self, Display};
use std::future::Future;
use std::ops::{Deref, RangeInclusive};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use aws_types::SdkConfig;

use crate::aws::{Connections, Service};
use crate::variables::{Misconfigured, Variables};

/// How long a start may wait for its warm-up.
const WARM_UP: Duration = Duration::from_secs(1);

/// A function's environment variables, and the connections of the clients made from them.
///
/// Taken from the process on Lambda, and from `template.yaml` on a laptop, where many functions share one process.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: Variables,
    connections: Connections,
    clients: Clients,
    warm_ups: WarmUps,
}

/// The clients that were made so far, one of a type.
type Clients = Arc<Mutex<Vec<Box<dyn Any + Send + Sync>>>>;

/// A client of a service, made when it is first used: some functions seldom need all of theirs.
#[derive(Debug)]
pub struct Client<C>(Arc<LazyLock<C, Make<C>>>);

type Make<C> = Box<dyn FnOnce() -> C + Send>;

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

/// What is done before the first event.
#[derive(Clone, Default)]
struct WarmUps(Arc<Mutex<Vec<(Service, Work)>>>);

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl fmt::Debug for WarmUps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WarmUps")
    }
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
        Self {
            variables: variables.into_iter().collect(),
            connections: Connections::default(),
            clients: Clients::default(),
            warm_ups: WarmUps::default(),
        }
    }

    /// The same connections with more variables, from which other clients are made.
    #[must_use]
    pub fn with(mut self, more: impl IntoIterator<Item = (String, String)>) -> Self {
        self.variables.extend(more);
        self.clients = Clients::default();
        self
    }

    /// The client of a service, shared by all parts of the function that ask for it.
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

    /// Does this before the first event, when the function runs on Lambda, and once for a service: while a function
    /// starts, it has a whole CPU, and nobody waits for its answer yet.
    pub fn warm_up(&self, service: Service, work: impl Future<Output = ()> + Send + 'static) {
        let mut all = self.warm_ups.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.iter().all(|(warmed, _)| *warmed != service) {
            all.push((service, Box::pin(work)));
        }
    }

    /// Does what was asked of [`warm_up`](Self::warm_up), within the time that a start should take at most.
    pub(crate) async fn warmed_up(&self) {
        let work = std::mem::take(&mut *self.warm_ups.0.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async {
            for (_, one) in work {
                one.await;
            }
        };
        // What is not warm by then is warmed by the first event.
        _ = tokio::time::timeout(WARM_UP, all).await;
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
