//! Names and descriptions.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::Invalid;

/// The characters that no text may contain: control characters, and characters that change the direction of the text
/// after them.
macro_rules! forbidden {
    () => {
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    };
}

/// The invisible characters: white space, and the characters that Unicode calls default-ignorable
/// (<https://www.unicode.org/Public/17.0.0/ucd/DerivedCoreProperties.txt>), except forbidden ones.
macro_rules! blank {
    () => {
        ' ' | '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{1680}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{2000}'..='\u{200f}' | '\u{202f}' | '\u{205f}'..='\u{2065}'
            | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    };
}

/// The pattern of a name: [`is_forbidden`] and [`is_blank`] as a regular expression. Characters beyond U+FFFF are not
/// escaped, because regular-expression dialects differ in how they escape them.
const NAME: &str = "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028-\\u202E\\u2066-\\u2069]*\
    [^\\x00-\\x20\\x7F-\\xA0\\u2028-\\u202E\\u2066-\\u2069\
    \\xAD\\u034F\\u061C\\u115F\\u1160\\u1680\\u17B4\\u17B5\\u180B-\\u180F\\u2000-\\u200F\\u202F\\u205F-\\u2065\
    \\u206A-\\u206F\\u2800\\u3000\\u3164\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFF8\
    \u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]\
    [^\\x00-\\x1F\\x7F-\\x9F\\u2028-\\u202E\\u2066-\\u2069]*$";

/// The pattern of a description: no forbidden characters, except line feed and tab.
const DESCRIPTION: &str = "^[^\\x00-\\x08\\x0B-\\x1F\\x7F-\\x9F\\u2028-\\u202E\\u2066-\\u2069]*$";

/// A name: 1 to 200 characters on one line, at least one of them visible. Spaces around it are removed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Name(String);

/// A line of an address, or a short name: 1 to 100 characters, at least one of them visible. Spaces around it are removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Line(String);

/// The address of a web page: `https://` and a host, in ASCII, of at most 200 characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct WebPage(String);

/// A longer text: up to 5,000 characters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Description(String);

/// The text that stands for an image: up to 200 characters on one line. It is empty if the image is only decoration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct AltText(String);

impl TryFrom<String> for Name {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        if text.chars().count() <= 200 && !text.contains(is_forbidden) && !text.chars().all(is_blank) {
            Ok(Self(text.trim().to_owned()))
        } else {
            Err(Invalid::new("must be 1 to 200 visible characters on one line"))
        }
    }
}

impl TryFrom<String> for Line {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let line = Name::try_from(text).ok().filter(|name| name.0.chars().count() <= 100);
        line.map(|name| Self(name.0)).ok_or_else(|| Invalid::new("must be 1 to 100 visible characters on one line"))
    }
}

impl TryFrom<String> for WebPage {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let is_host = |text: &str| {
            let (host, port) = text.split_once(':').unwrap_or((text, "443"));
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
            let is_port = (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit());
            !host.is_empty() && host.bytes().all(allowed) && is_port
        };
        let rest = text.strip_prefix("https://").filter(|rest| rest.bytes().all(|byte| byte.is_ascii_graphic()));
        let host = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
        if text.len() <= 200 && host.is_some_and(is_host) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("must be the address of a web page: https:// and a host, in ASCII, without spaces"))
        }
    }
}

impl TryFrom<String> for Description {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        let is_allowed = |c: char| c == '\n' || c == '\t' || !is_forbidden(c);
        if text.chars().count() <= 5000 && text.chars().all(is_allowed) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("must be at most 5000 characters, without control characters and changes of direction"))
        }
    }
}

impl TryFrom<String> for AltText {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        if text.chars().count() <= 200 && !text.contains(is_forbidden) {
            Ok(Self(text))
        } else {
            Err(Invalid::new("must be at most 200 characters on one line"))
        }
    }
}

macro_rules! texts {
    ($($name:ident)+) => {$(
        impl From<$name> for String {
            fn from(text: $name) -> Self {
                text.0
            }
        }

        impl ToSchema for $name {}
    )+};
}

texts!(Name Line WebPage Description AltText);

/// The hash of a text: SHA-256 in base64url, 43 characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TextHash(String);

impl TextHash {
    /// The hash of a text.
    pub fn of(text: &str) -> Self {
        Self(URL_SAFE_NO_PAD.encode(Sha256::digest(text)))
    }
}

fn is_forbidden(c: char) -> bool {
    matches!(c, forbidden!())
}

fn is_blank(c: char) -> bool {
    matches!(c, blank!())
}

impl PartialSchema for Name {
    fn schema() -> RefOr<Schema> {
        let description =
            "1 to 200 characters on one line, at least one of them visible. Spaces around it are removed.";
        text(description, NAME, 1, 200)
    }
}

impl PartialSchema for Line {
    fn schema() -> RefOr<Schema> {
        let description =
            "1 to 100 characters on one line, at least one of them visible. Spaces around it are removed.";
        text(description, NAME, 1, 100)
    }
}

impl PartialSchema for WebPage {
    fn schema() -> RefOr<Schema> {
        text("The address of a web page.", "^https://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][!-~]*)?$", 9, 200)
    }
}

impl PartialSchema for AltText {
    fn schema() -> RefOr<Schema> {
        let pattern = "^[^\\x00-\\x1F\\x7F-\\x9F\\u2028-\\u202E\\u2066-\\u2069]*$";
        text("Up to 200 characters on one line.", pattern, 0, 200)
    }
}

impl PartialSchema for Description {
    fn schema() -> RefOr<Schema> {
        text("Up to 5,000 characters.", DESCRIPTION, 0, 5000)
    }
}

fn text(description: &str, pattern: &str, least: usize, most: usize) -> RefOr<Schema> {
    let schema = ObjectBuilder::new().schema_type(Type::String).description(Some(description));
    schema.min_length(Some(least)).max_length(Some(most)).pattern(Some(pattern)).into()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn name(text: &str) -> Result<String, Invalid> {
        Name::try_from(text.to_owned()).map(String::from)
    }

    #[test]
    fn spaces_around_a_name_are_removed() {
        for text in ["Ada", " Ada ", "\u{3000}Ada"] {
            assert_eq!(name(text), Ok("Ada".to_owned()));
        }
        // Joiners are valid: Persian names and many emoji contain them.
        for text in ["\u{645}\u{6cc}\u{200c}\u{62e}", "\u{1f469}\u{200d}\u{1f680}", "\u{5d0}\u{200f}"] {
            assert_eq!(name(text), Ok(text.to_owned()));
        }
    }

    #[test]
    fn an_invisible_name_or_one_that_changes_the_text_around_it_is_refused() {
        let long = "x".repeat(201);
        for text in
            ["", "  ", "a\nb", "a\u{2028}b", "a\u{202e}b", "a\u{2066}b", "\u{200b}", "\u{e0020}", "a\u{0}", &long]
        {
            assert!(name(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_web_page_has_a_host() {
        for text in ["https://dhl.example", "https://a-b.example:8443/x?id=1#y", "https://a?b"] {
            assert_eq!(WebPage::try_from(text.to_owned()).map(String::from), Ok(text.to_owned()));
        }
        for text in
            ["https://", "https:///x", "http://a", "https://a b", "https://\u{e4}", "https://a:b", "https://u@a"]
        {
            assert!(WebPage::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn white_space_is_blank_or_forbidden() {
        let white = (char::MIN..=char::MAX).filter(|c| c.is_whitespace() || c.is_control());
        assert!(white.into_iter().all(|c| is_blank(c) || is_forbidden(c)));
    }

    #[test]
    fn the_length_of_a_text_is_its_number_of_characters() {
        let long = |count: usize| "\u{e4}".repeat(count);
        assert!(name(&long(200)).is_ok() && name(&long(201)).is_err());
        let description = |text: &str| Description::try_from(text.to_owned()).map(String::from);
        for text in ["", "two\nlines\tand a tab", "  as it stands ", &long(5000)] {
            assert_eq!(description(text), Ok(text.to_owned()));
        }
        for text in ["a\rb", "a\u{0}", "a\u{202e}b", "a\u{2028}b", &long(5001)] {
            assert!(description(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_schema_has_the_bounds_and_the_pattern() {
        let of = |schema: RefOr<Schema>| match schema {
            RefOr::T(Schema::Object(object)) => (object.min_length, object.max_length, object.pattern),
            _ => panic!("not a schema of a text"),
        };
        assert_eq!(of(Name::schema()), (Some(1), Some(200), Some(NAME.to_owned())));
        assert_eq!(of(Description::schema()), (Some(0), Some(5000), Some(DESCRIPTION.to_owned())));
    }
}
