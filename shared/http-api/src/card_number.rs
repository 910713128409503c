//! Payment card numbers in requests.
//!
//! Customers give their cards to the payment provider, never to the shop. A card number that reaches the shop all the
//! same, in a name, a reason or an id, must not be stored, published or logged. So [`Request`](crate::Request) looks for
//! one in each part of a request before it reads the part, and the problem names the place but not the number.
//!
//! A card number is a number of 13 to 19 digits that belongs to a card network and has a valid check digit (Luhn). It may
//! be divided by blanks, hyphens, dots and slashes of any kind, and its digits may be of another script: [`plain`]. Digits
//! that are connected to letters, underscores or other digits are no card number, but a part of an id. Neither is an
//! article number (EAN-13), a telephone number that begins with `+`, or the account in an IBAN that is divided by spaces.
//! The fields of [`NUMBERS_OF_OTHERS`] may hold any number.

use std::ops::RangeInclusive;

use serde_json::{Number, Value};

use crate::json::Expect;

#[cfg(test)]
mod tests;

/// The card networks: the first four digits of their numbers, and the lengths.
const NETWORKS: [(RangeInclusive<u16>, &[usize]); 13] = [
    // Diners Club.
    (3000..=3059, &[14, 15, 16, 17, 18, 19]),
    (3600..=3699, &[14, 15, 16, 17, 18, 19]),
    (3800..=3999, &[14, 15, 16, 17, 18, 19]),
    // American Express.
    (3400..=3499, &[15]),
    (3700..=3799, &[15]),
    // JCB.
    (3528..=3589, &[16, 17, 18, 19]),
    // Visa.
    (4000..=4999, &[13, 16, 19]),
    // Mastercard.
    (2221..=2720, &[16]),
    (5100..=5599, &[16]),
    // Discover.
    (6011..=6011, &[16, 17, 18, 19]),
    (6440..=6499, &[16, 17, 18, 19]),
    (6500..=6599, &[16, 17, 18, 19]),
    // UnionPay.
    (6200..=6299, &[16, 17, 18, 19]),
];

const LEAST_DIGITS: usize = 13;
const MOST_DIGITS: usize = 19;

/// The fields in which staff write the numbers of carriers and banks. Those have 12 to 22 digits, and one in ten of the
/// right length looks like a card number.
const NUMBERS_OF_OTHERS: [&str; 3] = ["reference", "trackingNumber", "trackingUrl"];

/// The path of the first card number in a JSON text, such as `lines[0].note`; `body` if the text has none above it.
/// `None` without a card number.
///
/// # Errors
/// The text may contain a card number, and is not JSON. The message repeats nothing of the text.
pub(crate) fn in_json(text: &[u8]) -> Result<Option<String>, String> {
    if !may_be_in(text) {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("body: {error}"))?;
    let path = path_in(&value);
    Ok(path.map(|path| match path.trim_start_matches('.') {
        "" => "body".to_owned(),
        path => path.to_owned(),
    }))
}

/// Whether a query string contains a card number, in a name or a value.
pub(crate) fn is_in_query(query: &str) -> bool {
    let has_digits = query.bytes().filter(u8::is_ascii_digit).nth(LEAST_DIGITS - 1).is_some();
    has_digits && form_urlencoded::parse(query.as_bytes()).any(|(name, value)| is_in(&name) || is_in(&value))
}

pub(crate) fn is_in(text: &str) -> bool {
    let is_of_phrase = |letter: char| letter.is_ascii_alphanumeric() || " -_+".contains(letter);
    may_be_in(text.as_bytes()) && plain(text).split(|letter| !is_of_phrase(letter)).any(is_in_phrase)
}

/// The text with ASCII digits, in which one blank or one hyphen divides groups of digits. A dot or a slash between digits is
/// a blank. Before a letter they stay as they are: they end the digits.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().map(|letter| digit(letter).unwrap_or(letter)).peekable();
    while let Some(letter) = letters.next() {
        let Some(mut divider) = Divider::of(letter) else {
            plain.push(letter);
            continue;
        };
        let follows_digit = plain.ends_with(|before: char| before.is_ascii_digit());
        let mut run = String::from(letter);
        while let Some((next, more)) = letters.peek().and_then(|next| Some((*next, Divider::of(*next)?))) {
            divider = divider.max(more);
            run.push(next);
            letters.next();
        }
        let is_between = follows_digit && letters.peek().is_some_and(char::is_ascii_digit);
        match divider {
            Divider::Hyphen => plain.push('-'),
            Divider::Blank => plain.push(' '),
            Divider::Mark if is_between => plain.push(' '),
            Divider::Mark => plain.push_str(&run),
        }
    }
    plain
}

/// What divides the groups of a number. Of several in a row, the greatest counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Divider {
    Hyphen,
    Blank,
    /// A dot or a slash, which is often no divider.
    Mark,
}

impl Divider {
    fn of(letter: char) -> Option<Self> {
        match letter {
            '-' | '\u{ad}' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => {
                Some(Self::Hyphen)
            }
            // Characters without width look like nothing.
            '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => Some(Self::Blank),
            '.' | '/' | '\\' | '|' | '\u{b7}' | '\u{2022}' | '\u{2044}' | '\u{2215}' | '\u{ff0e}' | '\u{ff0f}' => {
                Some(Self::Mark)
            }
            letter => letter.is_whitespace().then_some(Self::Blank),
        }
    }
}

/// The zeros of other scripts, each followed by its other digits: full-width, Arabic, Persian, Devanagari, Bengali, Thai, and
/// five mathematical ones.
const ZEROS: [u32; 11] = [0xff10, 0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6];

fn digit(letter: char) -> Option<char> {
    if letter.is_ascii() {
        return letter.is_ascii_digit().then_some(letter);
    }
    let value = ZEROS.iter().find_map(|zero| u32::from(letter).checked_sub(*zero).filter(|value| *value < 10))?;
    char::from_digit(value, 10)
}

/// Whether this JSON text may contain a card number: it has 13 digits with nothing but separators in between, or an
/// escape that may stand for a digit. Almost all bodies have neither, and are not parsed twice.
fn may_be_in(text: &[u8]) -> bool {
    // What is no text is no JSON either, and is refused later.
    let Ok(text) = std::str::from_utf8(text) else { return true };
    let (mut digits, mut before) = (0, ' ');
    for letter in text.chars() {
        match letter {
            _ if digit(letter).is_some() => digits += 1,
            'u' if before == '\\' => return true,
            // An escape of a blank.
            'n' | 'r' | 't' if before == '\\' => {}
            _ if Divider::of(letter).is_some() => {}
            _ => digits = 0,
        }
        if digits == LEAST_DIGITS {
            return true;
        }
        before = letter;
    }
    false
}

/// The path of the first card number in a value, with a point or a bracket before each of its parts. Of a card number in
/// the name of a field, the path of the object.
fn path_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => is_in(text).then(String::new),
        Value::Number(number) => digits_of(number).is_some_and(|digits| is_in(&digits)).then(String::new),
        Value::Array(elements) => {
            let mut elements = elements.iter().enumerate();
            elements.find_map(|(at, element)| Some(format!("[{at}]{}", path_in(element)?)))
        }
        Value::Object(members) if members.keys().any(|name| is_in(name)) => Some(String::new()),
        Value::Object(members) => {
            let is_ours = |(name, member): &(&String, &Value)| !(member.is_string() && is_of_others(name));
            members.iter().filter(is_ours).find_map(|(name, member)| Some(format!(".{name}{}", path_in(member)?)))
        }
        Value::Null | Value::Bool(_) => None,
    }
}

/// Whether the field of this name may hold any number.
fn is_of_others(name: &str) -> bool {
    NUMBERS_OF_OTHERS.contains(&name)
}

/// The digits of a whole number, however it is written.
fn digits_of(number: &Number) -> Option<String> {
    let amount = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    let amount = amount.or_else(|| Expect::whole(number.as_f64()?).map(i64::unsigned_abs));
    amount.map(|amount| amount.to_string())
}

/// Whether words that are divided by single spaces contain a card number. It begins and ends with a word.
fn is_in_phrase(phrase: &str) -> bool {
    let words: Vec<&str> = phrase.split(' ').map(|word| word.trim_matches('-')).collect();
    let mut is_account = false;
    words.iter().enumerate().any(|(at, word)| {
        if !is_group(word) {
            is_account = begins_iban(word);
            return false;
        }
        !is_account && begins_with_card_number(&words[at..])
    })
}

/// Whether the first of these words, or several of them together, are a card number.
fn begins_with_card_number(words: &[&str]) -> bool {
    let (mut digits, mut length) = ([0; MOST_DIGITS], 0);
    for word in words.iter().take_while(|word| is_group(word)) {
        for digit in word.bytes().filter(u8::is_ascii_digit) {
            let Some(place) = digits.get_mut(length) else { return false };
            (*place, length) = (digit - b'0', length + 1);
        }
        if is_card_number(&digits[..length]) {
            return true;
        }
    }
    false
}

/// Whether a word has only digits, with single hyphens in between.
fn is_group(word: &str) -> bool {
    word.split('-').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a word is the first group of an IBAN: country and check digits.
fn begins_iban(word: &str) -> bool {
    let letters_then_digits =
        |(at, byte): (usize, u8)| if at < 2 { byte.is_ascii_uppercase() } else { byte.is_ascii_digit() };
    word.len() == 4 && word.bytes().enumerate().all(letters_then_digits)
}

fn is_card_number(digits: &[u8]) -> bool {
    if !(LEAST_DIGITS..=MOST_DIGITS).contains(&digits.len()) {
        return false;
    }
    let first = digits[..4].iter().fold(0, |number, digit| number * 10 + u16::from(*digit));
    let is_of_network =
        NETWORKS.iter().any(|(range, lengths)| range.contains(&first) && lengths.contains(&digits.len()));
    is_of_network && has_check_digit(digits) && !is_article_number(digits)
}

/// Whether the last digit is right: the sum of all digits, of which every second one from the right is doubled, ends in 0
/// (ISO/IEC 7812-1, annex B).
fn has_check_digit(digits: &[u8]) -> bool {
    let from_the_right = digits.iter().rev().enumerate();
    let sum: u32 = from_the_right
        .map(|(at, digit)| match (at % 2, u32::from(*digit)) {
            (0, digit) => digit,
            (_, digit) if digit > 4 => digit * 2 - 9,
            (_, digit) => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Whether the number is an EAN-13. Those of German products begin with 4, like the card numbers of 13 digits that Visa
/// no longer issues, and one in ten has their check digit, too.
fn is_article_number(digits: &[u8]) -> bool {
    let sum: u32 =
        digits.iter().enumerate().map(|(at, digit)| u32::from(*digit) * if at % 2 == 0 { 1 } else { 3 }).sum();
    digits.len() == 13 && sum.is_multiple_of(10)
}
