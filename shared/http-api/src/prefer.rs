//! `Prefer` (RFC 7240): the client's preferences for the answer.

use crate::{Description, FromRequest, Problem, Request};

/// Whether the client prefers an answer before its request is carried out: `Prefer: respond-async`.
#[derive(Clone, Copy, Debug)]
pub struct PrefersAsync(pub bool);

impl PrefersAsync {
    pub const NAME: &'static str = "respond-async";
}

impl FromRequest for PrefersAsync {
    fn from_request(request: &Request) -> Result<Self, Problem> {
        Ok(Self(request.prefers(Self::NAME)))
    }

    fn describe(description: Description) -> Description {
        description.prefers_async()
    }
}

/// Whether the header's value contains the preference. It is a list of preferences, with values and parameters.
pub(crate) fn names(value: &[u8], preference: &str) -> bool {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let mut preferences = value.split(|byte| {
        let is_literal = std::mem::take(&mut is_escaped);
        match byte {
            _ if is_literal => {}
            b'\\' => is_escaped = is_quoted,
            b'"' => is_quoted = !is_quoted,
            _ => return *byte == b',' && !is_quoted,
        }
        false
    });
    preferences.any(|one| {
        let name = one.split(|byte| b"=;".contains(byte)).next().unwrap_or_default();
        name.trim_ascii().eq_ignore_ascii_case(preference.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    fn asks(value: &str) -> bool {
        names(value.as_bytes(), "respond-async")
    }

    #[test]
    fn a_preference_is_found_at_every_position_and_in_either_case() {
        assert!(asks("respond-async"));
        assert!(asks("Respond-Async"));
        assert!(asks("wait=10, respond-async"));
        assert!(asks("respond-async; x=1,wait=1"));
        assert!(asks(r#"a="b", respond-async"#));
        assert!(asks(r#"a="\\", respond-async"#));
        assert!(asks("a=\"\u{fc}\", respond-async"));
    }

    #[test]
    fn a_part_of_another_preference_is_not_this_one() {
        assert!(!asks(""));
        assert!(!asks("respond"));
        assert!(!asks("respond-asynchronously"));
        assert!(!asks("x=respond-async"));
        assert!(!asks(r#"x="a, respond-async""#));
        assert!(!asks(r#"x="a\", respond-async, b""#));
        assert!(!asks("x; respond-async"));
    }
}
