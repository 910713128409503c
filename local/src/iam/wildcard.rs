//! `*` and `?` of IAM.

/// Whether the text is of this pattern: `*` is any text, `?` is any one character.
pub(super) fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where the last star was, and how much of the text it is taken to stand for.
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

/// Whether the ARN is of this pattern. A wildcard reaches no further than its own part between colons, of which the
/// sixth is the rest; a single `*` is every ARN.
pub(super) fn matches_arn(pattern: &str, arn: &str) -> bool {
    if pattern == "*" {
        return true;
    }
    let (pattern, arn): (Vec<_>, Vec<_>) = (pattern.splitn(6, ':').collect(), arn.splitn(6, ':').collect());
    pattern.len() == arn.len() && pattern.iter().zip(&arn).all(|(pattern, part)| matches(pattern, part))
}
