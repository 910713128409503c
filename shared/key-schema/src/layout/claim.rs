//! Claims: items that make e-mail addresses and usernames unique, and lead to their customer.
//!
//! | pattern | index | partition | sort |
//! |---|---|---|---|
//! | 13 [`CustomerByEmail`] | table | `email#{email}` | `email#{email}` |
//! | 13 [`CustomerByUsername`] | table | `username#{name}` | `username#{name}` |

use crate::entity::{EmailClaim, Entity as _, UsernameClaim};
use crate::value::{EmailAddress, Username};

use super::{
    AccessPattern, Bound, Consistency, Declaration, Direction, Key, Place, PlaceText, SortRange, Stored, Template,
};

const EMAIL: Template<(EmailAddress,)> = Template::new("email#{email}");
const USERNAME: Template<(Username,)> = Template::new("username#{name}");

const EMAIL_CLAIM: Place<(EmailAddress,), (EmailAddress,)> = Place::table(EMAIL, EMAIL);
const USERNAME_CLAIM: Place<(Username,), (Username,)> = Place::table(USERNAME, USERNAME);

impl Stored for EmailClaim {
    const PLACES: &'static [PlaceText] = &[EMAIL_CLAIM.text()];

    fn key(&self) -> Key {
        EMAIL_CLAIM.key((&self.email,), (&self.email,))
    }
}

impl Stored for UsernameClaim {
    const PLACES: &'static [PlaceText] = &[USERNAME_CLAIM.text()];

    fn key(&self) -> Key {
        USERNAME_CLAIM.key((&self.username,), (&self.username,))
    }
}

/// The claim of an e-mail address, which names its customer.
pub struct CustomerByEmail<'a> {
    pub email: &'a EmailAddress,
}

impl AccessPattern for CustomerByEmail<'_> {
    type Item = EmailClaim;

    const DECLARED: Declaration = Declaration {
        number: 13,
        question: "a customer by e-mail",
        place: EMAIL_CLAIM.text(),
        entities: &[EmailClaim::TYPE],
        consistency: Consistency::Strong,
        direction: Direction::Ascending,
        bound: Bound::One,
    };

    fn partition(&self) -> String {
        EMAIL.fill((self.email,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(EMAIL.fill((self.email,)))
    }
}

/// The claim of a username, which names its customer.
pub struct CustomerByUsername<'a> {
    pub username: &'a Username,
}

impl AccessPattern for CustomerByUsername<'_> {
    type Item = UsernameClaim;

    const DECLARED: Declaration = Declaration {
        question: "a customer by username",
        place: USERNAME_CLAIM.text(),
        entities: &[UsernameClaim::TYPE],
        ..CustomerByEmail::DECLARED
    };

    fn partition(&self) -> String {
        USERNAME.fill((self.username,))
    }

    fn range(&self) -> SortRange {
        SortRange::Exactly(USERNAME.fill((self.username,)))
    }
}
