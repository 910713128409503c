//! Rules: which calls fail, and how often.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use fastrand::Rng;
use serde_json::Value;

use super::fault::Fault;

type Predicate = Arc<dyn Fn(&Value) -> bool + Send + Sync>;

/// A condition on calls.
#[derive(Clone)]
pub struct Match {
    action: Option<Cow<'static, str>>,
    predicate: Option<Predicate>,
}

impl Match {
    /// Every call.
    pub fn any() -> Self {
        Self { action: None, predicate: None }
    }

    /// Calls of one action: `TransactWriteItems`.
    pub fn action(action: &'static str) -> Self {
        Self { action: Some(Cow::Borrowed(action)), predicate: None }
    }

    /// Calls of one action, by a name that was recorded at run time.
    pub fn recorded(action: String) -> Self {
        Self { action: Some(Cow::Owned(action)), predicate: None }
    }

    /// Adds a condition on the request.
    #[must_use]
    pub fn when(self, predicate: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        Self { predicate: Some(Arc::new(predicate)), ..self }
    }

    fn matches(&self, action: &str, request: &Value) -> bool {
        self.action.as_ref().is_none_or(|wanted| wanted == action)
            && self.predicate.as_ref().is_none_or(|predicate| predicate(request))
    }
}

impl fmt::Debug for Match {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Match").field("action", &self.action).finish_non_exhaustive()
    }
}

/// A fault with the calls that it applies to.
pub(super) struct Rule {
    matching: Match,
    fault: Fault,
    occurrence: Occurrence,
}

/// The number of calls, or the share of calls, that a rule applies to.
enum Occurrence {
    Times { skip: usize, times: usize },
    Share(f64, Rng),
}

impl Rule {
    /// For `times` calls, after `skip` others.
    pub(super) fn counted(matching: Match, fault: Fault, skip: usize, times: usize) -> Self {
        Self { matching, fault, occurrence: Occurrence::Times { skip, times } }
    }

    /// For each call with this probability.
    pub(super) fn random(matching: Match, fault: Fault, share: f64, seed: u64) -> Self {
        Self { matching, fault, occurrence: Occurrence::Share(share, Rng::with_seed(seed)) }
    }

    /// The number of calls that a counted rule still applies to.
    pub(super) fn pending(&self) -> usize {
        match self.occurrence {
            Occurrence::Times { times, .. } => times,
            Occurrence::Share(..) => 0,
        }
    }

    /// The fault, if the rule applies to this call. That uses up one application of a counted rule.
    fn strike(&mut self, action: &str, request: &Value) -> Option<Fault> {
        if !self.matching.matches(action, request) {
            return None;
        }
        let strikes = match &mut self.occurrence {
            Occurrence::Times { times: 0, .. } => false,
            Occurrence::Times { skip: skip @ 1.., .. } => {
                *skip -= 1;
                false
            }
            Occurrence::Times { times, .. } => {
                *times -= 1;
                true
            }
            Occurrence::Share(share, rng) => rng.f64() < *share,
        };
        strikes.then(|| self.fault.clone())
    }
}

/// The fault for this call, by the oldest rule that applies to it.
pub(super) fn next(rules: &mut [Rule], action: &str, request: &Value) -> Option<Fault> {
    rules.iter_mut().find_map(|rule| rule.strike(action, request))
}
