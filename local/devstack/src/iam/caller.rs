//! Who signed a call.

use axum::http::{HeaderMap, header};

/// The access key that signed a call.
pub(crate) fn caller(headers: &HeaderMap) -> Option<&str> {
    let signature = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    signature.split_once("Credential=")?.1.split('/').next()
}

/// An access key, read: that of one of a function's execution environments (`PutNote-3`), that of a function which runs
/// elsewhere (`PutNote`), or another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Caller<'key> {
    /// The function's logical id. For another key, that key.
    pub(crate) function: &'key str,
    /// The number of the execution environment.
    pub(crate) environment: Option<u64>,
}

impl<'key> Caller<'key> {
    pub(crate) fn of(access_key: &'key str) -> Self {
        // A logical id has letters and digits alone.
        let parts = access_key.rsplit_once('-').and_then(|(function, number)| Some((function, number.parse().ok()?)));
        match parts {
            Some((function, number)) => Self { function, environment: Some(number) },
            None => Self { function: access_key, environment: None },
        }
    }

    /// The access key of this execution environment.
    pub(crate) fn access_key(function: &str, environment: u64) -> String {
        format!("{function}-{environment}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_key_says_which_environment_of_which_function_signed() {
        let of = |function, environment| Caller { function, environment };
        assert_eq!(Caller::of(&Caller::access_key("PutNote", 31)), of("PutNote", Some(31)));
        for key in ["PutNote", "local", "", "cargo-local-audit", "a-b-"] {
            assert_eq!(Caller::of(key), of(key, None));
        }
    }
}
