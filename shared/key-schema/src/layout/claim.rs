//! Claims: items that make e-mail addresses and usernames unique, and lead to their customer.

use crate::entity::{EmailClaim, UsernameClaim};
use crate::value::{EmailAddress, Username};

use super::{Key, Pattern, Place, PlaceText, Stored, Template};

const EMAIL: Template<EmailAddress> = Template::new("email#{email}");
const USERNAME: Template<Username> = Template::new("username#{name}");

const EMAIL_CLAIM: Place<EmailAddress, EmailAddress> = Place::table(EMAIL, EMAIL);
const USERNAME_CLAIM: Place<Username, Username> = Place::table(USERNAME, USERNAME);

/// The claim of an e-mail address, which names its customer.
pub const CUSTOMER_BY_EMAIL: Pattern<EmailAddress, EmailClaim> = EMAIL_CLAIM.one(13, "a customer by e-mail");
/// The claim of a username, which names its customer.
pub const CUSTOMER_BY_USERNAME: Pattern<Username, UsernameClaim> = USERNAME_CLAIM.one(13, "a customer by username");

impl Stored for EmailClaim {
    const PLACES: &'static [PlaceText] = &[EMAIL_CLAIM.text()];

    fn key(&self) -> Key {
        EMAIL_CLAIM.key(&self.email, &self.email)
    }
}

impl Stored for UsernameClaim {
    const PLACES: &'static [PlaceText] = &[USERNAME_CLAIM.text()];

    fn key(&self) -> Key {
        USERNAME_CLAIM.key(&self.username, &self.username)
    }
}
