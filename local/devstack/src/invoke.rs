//! Functions, as the stack calls them.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

/// A function: an event in, its answer or an error message out.
pub type Invoke = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<Value, String>> + Send>> + Send + Sync>;
