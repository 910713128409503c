//! IAM's wildcards, `*` and `?`.

use wildmatch::WildMatch;

/// Whether the text matches this pattern: `*` is any text, `?` is any one character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    // Most patterns have no wildcard, and each call is compared with hundreds of them.
    if has_wildcard(pattern) { WildMatch::new(pattern).matches(text) } else { pattern == text }
}

/// The same, ignoring case.
pub(super) fn matches_any_case(pattern: &str, text: &str) -> bool {
    if has_wildcard(pattern) {
        WildMatch::new_case_insensitive(pattern).matches(text)
    } else {
        pattern.eq_ignore_ascii_case(text)
    }
}

fn has_wildcard(pattern: &str) -> bool {
    pattern.contains(['*', '?'])
}

/// Whether the ARN matches this pattern. A wildcard matches only within its own part between colons; the sixth part is
/// the rest. A single `*` matches every ARN.
pub(crate) fn matches_arn(pattern: &str, arn: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let (pattern, arn): (Vec<_>, Vec<_>) = (pattern.splitn(6, ':').collect(), arn.splitn(6, ':').collect());
    pattern.len() == arn.len() && pattern.iter().zip(&arn).all(|(pattern, part)| matches(pattern, part))
}
