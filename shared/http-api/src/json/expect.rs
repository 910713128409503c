//! The types of JSON values, and the errors about values of other types.

use std::fmt;

/// The type of value that a field must have.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Expect {
    /// Any type. The deserialized type decides.
    Anything,
    Object,
    Array,
    Text,
    Truth,
    /// A whole number within these bounds.
    Whole(i128, i128),
    Number,
}

impl Expect {
    /// The number as a whole number, if it is one. JSON has only one type of number, so 1.0 is the whole number 1.
    #[expect(clippy::cast_possible_truncation, reason = "a float of at most 2^53 is exact")]
    pub(crate) fn whole(number: f64) -> Option<i64> {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        (number.fract() == 0.0 && number.abs() <= EXACT).then_some(number as i64)
    }
}

impl fmt::Display for Expect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anything => f.write_str("must be something else"),
            Self::Object => f.write_str("must be an object"),
            Self::Array => f.write_str("must be an array"),
            Self::Text => f.write_str("must be a string"),
            Self::Truth => f.write_str("must be true or false"),
            Self::Number => f.write_str("must be a number"),
            Self::Whole(least, most) if *least < -(1 << 53) && *most > 1 << 53 => f.write_str("must be a whole number"),
            Self::Whole(least, most) => write!(f, "must be a whole number from {least} to {most}"),
        }
    }
}
