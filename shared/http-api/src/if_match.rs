//! `If-Match` (RFC 9110, 13.1.1): the versions that a change may replace.

use crate::{Kind, Problem, entity_tag};

/// The versions that a change may replace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IfMatch {
    /// `*`: any version.
    Any,
    /// One of these versions. Entity tags that the API did not issue match nothing, so they are left out.
    Versions(Vec<u64>),
}

impl IfMatch {
    /// Reads the header's value: `*`, or a list of entity tags. Elements of the list may be empty (RFC 9110, 5.6.1).
    pub(crate) fn parse(value: &str) -> Result<Self, Problem> {
        if value.trim() == "*" {
            return Ok(Self::Any);
        }
        let malformed =
            || Problem::new(Kind::Validation, "If-Match must be * or the ETag that was read, such as \"3\".");
        let tags = entity_tag::list(value).ok_or_else(malformed)?;
        if tags.is_empty() {
            return Err(malformed());
        }
        if tags.len() > MOST_TAGS {
            let detail = format!("If-Match must not have more than {MOST_TAGS} entity tags.");
            return Err(Problem::new(Kind::Validation, detail));
        }
        Ok(Self::Versions(tags.into_iter().filter_map(entity_tag::version_of).collect()))
    }

    /// Whether the change may replace this version.
    pub fn matches(&self, version: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Versions(versions) => versions.contains(&version),
        }
    }

    /// The versions that the change may replace; `None` if it may replace any.
    pub fn versions(&self) -> Option<&[u64]> {
        match self {
            Self::Any => None,
            Self::Versions(versions) => Some(versions),
        }
    }

    /// Whether there is nothing to write. `is_same` tells whether this version already says what the change asks for:
    /// then the same request may have been sent before.
    ///
    /// # Errors
    /// `version-conflict` if the change may not replace this version.
    pub fn is_done(&self, version: u64, is_same: bool) -> Result<bool, Problem> {
        let is_done = is_same && (self.matches(version) || self.may_have_led_to(version));
        if is_done || self.matches(version) { Ok(is_done) } else { Err(Problem::version_conflict(version)) }
    }

    /// Whether this version may be the result of the same change, sent before.
    pub fn may_have_led_to(&self, version: u64) -> bool {
        match self {
            Self::Any => false,
            Self::Versions(versions) => version.checked_sub(1).is_some_and(|before| versions.contains(&before)),
        }
    }
}

/// The most entity tags of a list. A condition of DynamoDB has a limited number of comparisons.
const MOST_TAGS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str) -> Option<IfMatch> {
        IfMatch::parse(value).ok()
    }

    #[test]
    fn an_entity_tag_names_a_version_and_a_star_any() {
        assert_eq!(parse("*"), Some(IfMatch::Any));
        assert_eq!(parse("\"3\""), Some(IfMatch::Versions(vec![3])));
        assert_eq!(parse("\"3\" , \"14\""), Some(IfMatch::Versions(vec![3, 14])));
    }

    #[test]
    fn a_change_is_done_again_only_if_its_result_is_there() {
        let three = IfMatch::Versions(vec![3]);
        for (version, is_same, done) in
            [(3, false, Some(false)), (3, true, Some(true)), (4, true, Some(true)), (4, false, None), (5, true, None)]
        {
            assert_eq!(three.is_done(version, is_same).ok(), done, "{version}, {is_same}");
        }
        assert_eq!(
            [IfMatch::Any.is_done(5, true).ok(), IfMatch::Any.is_done(5, false).ok()],
            [Some(true), Some(false)]
        );
    }

    #[test]
    fn a_list_may_have_empty_elements_and_a_tag_a_comma() {
        for value in ["\"3\",", ",\"3\"", "\t,\"3\" ,, ", "\"a,b\",\"3\"", "\"3-0123456789abcdef\""] {
            assert_eq!(parse(value), Some(IfMatch::Versions(vec![3])), "{value}");
        }
    }

    #[test]
    fn a_tag_that_a_cache_weakened_names_its_version() {
        assert_eq!(parse("W/\"3-0123456789abcdef\", W/\"4\""), Some(IfMatch::Versions(vec![3, 4])));
    }

    #[test]
    fn foreign_tags_match_nothing() {
        for value in ["\"3-\"", "\"3-xyz\"", "\"-0123456789abcdef\"", "\"abc\"", "\"03\"", "\"\"", "\"-1\""] {
            assert_eq!(parse(value), Some(IfMatch::Versions(vec![])), "{value}");
        }
    }

    #[test]
    fn any_other_text_is_malformed() {
        for value in ["", "3", "\"3", "3\"", "\"3\" \"4\"", "\"3\"4", ",", "w/\"3\"", "*, \"3\""] {
            assert_eq!(parse(value), None, "{value}");
        }
    }

    #[test]
    fn a_list_has_at_most_100_tags() {
        assert!(parse(&"\"3\",".repeat(MOST_TAGS)).is_some());
        assert_eq!(parse(&"\"3\",".repeat(MOST_TAGS + 1)), None);
    }
}
