//! A function's execution environments, as on Lambda: each has credentials of its own, and handles one invocation at a
//! time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use serde_json::Value;

use crate::gateway::Invoke;
use crate::iam::Caller;
use crate::sandbox::StartConsumer;
use crate::stories::Invocation;

/// The number of environments of each function that this process has started. It spans all stacks, so no two environments
/// share an access key.
static STARTED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Starts environments of the function with this logical id: each in `start`, whose AWS clients sign with this access key.
pub fn environments(function: &str, start: impl Fn(&str) -> Result<Invoke> + Send + Sync + 'static) -> StartConsumer {
    let function = function.to_owned();
    Arc::new(move || {
        let number = next(&function);
        let invoke = start(&Caller::access_key(&function, number))?;
        let access_key: Arc<str> = Caller::access_key(&function, number).into();
        Ok(Arc::new(move |event: Value| {
            let (access_key, work) = (Arc::clone(&access_key), invoke(event));
            Box::pin(async move {
                Invocation::enter(&access_key);
                work.await
            })
        }))
    })
}

fn next(function: &str) -> u64 {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let number = started.entry(function.to_owned()).or_default();
    *number += 1;
    *number
}

/// A function that handles any number of invocations at a time: each in a free environment, or else in one more. An
/// environment whose invocation does not end, because it is aborted or panics, is not used again.
///
/// # Errors
/// The first environment does not start.
pub fn pooled(start: StartConsumer) -> Result<Invoke> {
    let free = Arc::new(Mutex::new(vec![start()?]));
    Ok(Arc::new(move |event: Value| {
        let (free, start) = (Arc::clone(&free), Arc::clone(&start));
        Box::pin(async move {
            // The one that was used last: the others stay as they are until there is more to do.
            let last = free.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let environment = last.map_or_else(|| start(), Ok).map_err(|error| format!("{error:#}"))?;
            let outcome = environment(event).await;
            free.lock().unwrap_or_else(PoisonError::into_inner).push(environment);
            outcome
        })
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;
    use tokio::sync::Barrier;

    use super::*;

    /// A function that answers its access key, and how many invocations its environment has had.
    fn counting(wait: impl Fn() -> Arc<Barrier> + Send + Sync + 'static) -> Invoke {
        let start = environments("CountNotes", move |access_key: &str| {
            let (access_key, invoked, barrier) = (access_key.to_owned(), Arc::new(AtomicUsize::new(0)), wait());
            let invoke: Invoke = Arc::new(move |event: Value| {
                let (access_key, barrier) = (access_key.clone(), Arc::clone(&barrier));
                let number = invoked.fetch_add(1, Ordering::Relaxed);
                Box::pin(async move {
                    assert_ne!(event, "panic", "it was told to");
                    barrier.wait().await;
                    Ok(json!([access_key, number]))
                })
            });
            Ok(invoke)
        });
        pooled(start).expect("it starts")
    }

    #[tokio::test]
    async fn an_environment_handles_one_invocation_at_a_time_and_is_used_again_unless_it_was_broken() {
        let two = Arc::new(Barrier::new(2));
        let invoke = counting(move || Arc::clone(&two));
        let both = async || {
            let (one, other) = tokio::join!(invoke(json!({})), invoke(json!({})));
            [one, other].map(|answer| answer.expect("an answer"))
        };
        let first = both().await;
        assert_ne!(first[0][0], first[1][0], "two environments");
        let mut again = both().await;
        again.sort_by_key(|answer| answer[0] != first[0][0]);
        assert_eq!(again.clone().map(|answer| answer[0].clone()), first.map(|answer| answer[0].clone()));
        assert_eq!(again.clone().map(|answer| answer[1].clone()), [json!(1), json!(1)]);

        let broken = [tokio::spawn(invoke(json!("panic"))).await, tokio::spawn(invoke(json!("panic"))).await];
        assert!(broken.iter().all(Result::is_err));
        let fresh = both().await;
        assert!(fresh.iter().all(|answer| answer[1] == 0 && again.iter().all(|old| old[0] != answer[0])), "{fresh:?}");
    }
}
