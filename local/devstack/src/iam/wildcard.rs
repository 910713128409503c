//! IAM's wildcards, `*` and `?`.

/// Whether the text matches this pattern: `*` is any text, `?` is any one character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // The position of the last star, and how much of the text it is assumed to match.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(expected) if *expected == '?' || *expected == text[read] => (at, read) = (at + 1, read + 1),
            _ => match star {
                None => return false,
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    (at, read) = (place + 1, taken + 1);
                }
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

/// Whether the ARN matches this pattern. A wildcard matches only within its own part between colons; the sixth part is
/// the rest. A single `*` matches every ARN.
pub(super) fn matches_arn(pattern: &str, arn: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let (pattern, arn): (Vec<_>, Vec<_>) = (pattern.splitn(6, ':').collect(), arn.splitn(6, ':').collect());
    pattern.len() == arn.len() && pattern.iter().zip(&arn).all(|(pattern, part)| matches(pattern, part))
}
