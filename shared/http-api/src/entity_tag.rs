//! Entity tags (RFC 9110, 8.8.3).
//!
//! The tag of an answer to a GET is `"VERSION-HASH"`: the version of the resource and a hash of the body. The version
//! alone is not enough, because a body may also show what changes without a new version, such as stock. The tag in the
//! answer to a change is `"VERSION"`. A resource without a version has the tag `"-HASH"`.

use std::hash::{DefaultHasher, Hasher as _};

/// The characters between the elements of a list.
const SEPARATORS: [char; 3] = [',', ' ', '\t'];

/// The tag of a version, in the answer to a change.
pub(crate) fn of_version(version: u64) -> String {
    format!("\"{version}\"")
}

/// The tag of an answer with this body.
///
/// Another release of Rust may hash differently. Then a client that has the body gets it once more.
pub(crate) fn of_body(version: Option<u64>, body: &str) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(body.as_bytes());
    let hash = hasher.finish();
    match version {
        Some(version) => format!("\"{version}-{hash:016x}\""),
        None => format!("\"-{hash:016x}\""),
    }
}

/// The version that an entity tag names, if this API issued the tag. A weak tag names it, too: a cache that compresses an
/// answer weakens its tag.
pub(crate) fn version_of(tag: &str) -> Option<u64> {
    let opaque = opaque(tag).strip_prefix('"')?.strip_suffix('"')?;
    let version = match opaque.split_once('-') {
        Some((version, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => version,
        Some(_) => return None,
        None => opaque,
    };
    version.parse().ok().filter(|parsed: &u64| parsed.to_string() == version)
}

/// The tag without the mark of a weak one. Two tags with the same opaque part are equal by weak comparison.
pub(crate) fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// The tags of a list, of which elements may be empty (RFC 9110, 5.6.1); `None` if the list is malformed.
pub(crate) fn list(value: &str) -> Option<Vec<&str>> {
    let mut tags = Vec::new();
    let mut rest = value.trim_matches(SEPARATORS);
    while !rest.is_empty() {
        let (tag, after) = first(rest)?;
        tags.push(tag);
        rest = after.trim_start_matches(SEPARATORS);
    }
    Some(tags)
}

/// Splits the list after its first entity tag, which may contain a comma. The rest is empty or begins with a separator.
fn first(list: &str) -> Option<(&str, &str)> {
    let inner = opaque(list).strip_prefix('"')?;
    let length = inner.find('"')?;
    let is_tag = |byte: u8| byte == b'!' || (b'#'..=b'~').contains(&byte) || byte >= 0x80;
    let (tag, rest) = list.split_at(list.len() - inner.len() + length + 1);
    let is_last = rest.trim_start_matches([' ', '\t']).is_empty();
    let is_separated = rest.trim_start_matches([' ', '\t']).starts_with(',');
    (inner[..length].bytes().all(is_tag) && (is_last || is_separated)).then_some((tag, rest))
}

/// Whether the value of `If-None-Match` names this tag (RFC 9110, 13.1.2). A malformed value names none: the client gets
/// the whole answer.
pub(crate) fn is_in(tag: &str, value: &str) -> bool {
    value.trim() == "*" || list(value).is_some_and(|tags| tags.into_iter().any(|known| opaque(known) == opaque(tag)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_tells_bodies_apart_and_names_the_version() {
        let (one, other) = (of_body(Some(3), "{\"available\":1}"), of_body(Some(3), "{\"available\":2}"));
        assert_ne!(one, other);
        assert_eq!(one, of_body(Some(3), "{\"available\":1}"));
        for tag in [&one, &other, &of_version(3), &format!("W/{one}")] {
            assert_eq!(version_of(tag), Some(3), "{tag}");
        }
        assert_eq!(version_of(&of_body(None, "{}")), None);
    }

    #[test]
    fn a_condition_compares_weakly() {
        let tag = of_body(Some(3), "{}");
        for value in ["*", " * ", &tag, &format!("W/{tag}"), &format!("\"a,b\" , ,{tag}"), &format!("{tag},")] {
            assert!(is_in(&tag, value), "{value}");
        }
    }

    #[test]
    fn another_tag_and_a_malformed_list_name_nothing() {
        let tag = of_body(Some(3), "{}");
        let other = of_body(Some(4), "{}");
        let bare = tag.trim_matches('"').to_owned();
        for value in ["", "\"3\"", &other, &bare, &format!("*, {tag}"), &format!("{tag} {tag}"), &format!("w/{tag}")] {
            assert!(!is_in(&tag, value), "{value}");
        }
    }
}
