//! `Prefer` (RFC 7240): how a client would like to be answered.

/// Whether the header's value, a list of preferences with their values and parameters, names this one.
pub(crate) fn names(value: &str, preference: &str) -> bool {
    let mut is_quoted = false;
    let preferences = value.split(|character| {
        is_quoted ^= character == '"';
        character == ',' && !is_quoted
    });
    let mut names = preferences.map(|one| one.split(['=', ';']).next().unwrap_or_default().trim());
    names.any(|name| name.eq_ignore_ascii_case(preference))
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_preference_is_found_wherever_it_stands_and_however_it_is_spelled() {
        for value in [
            "respond-async",
            "Respond-Async",
            "wait=10, respond-async",
            "respond-async; x=1,wait=1",
            "a=\"b\", respond-async",
        ] {
            assert!(names(value, "respond-async"), "{value}");
        }
    }

    #[test]
    fn a_part_of_another_preference_is_not_this_one() {
        for value in
            ["", "respond", "respond-asynchronously", "x=respond-async", "x=\"a, respond-async\"", "x; respond-async"]
        {
            assert!(!names(value, "respond-async"), "{value}");
        }
    }
}
