//! The caller of a route, and the scopes of tokens.

use key_schema::value::{CustomerId, EmailAddress, GuestSecret};

use crate::event::Claims;
use crate::{Kind, Problem};

/// The scope of customers, as a token's claim `scope` contains it. The part before the slash names the API, because
/// Cognito requires that:
/// <https://docs.aws.amazon.com/cognito/latest/developerguide/cognito-user-pools-define-resource-servers.html>.
pub const SHOP_SCOPE: &str = "till/shop";

/// The scope of the shop's staff, who may also use the routes of customers.
pub const ADMIN_SCOPE: &str = "till/admin";

/// The scope that a route requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// No token is required.
    Public,
    /// [`SHOP_SCOPE`] or [`ADMIN_SCOPE`].
    Shop,
    /// [`ADMIN_SCOPE`].
    Admin,
}

impl Scope {
    /// The scopes of which a token must have one; empty for a public route.
    pub const fn any_of(self) -> &'static [&'static str] {
        match self {
            Self::Public => &[],
            Self::Shop => &[SHOP_SCOPE, ADMIN_SCOPE],
            Self::Admin => &[ADMIN_SCOPE],
        }
    }
}

/// The holder of the request's token, or of a guest's secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The token's `sub`, or the guest's id.
    pub id: CustomerId,
    /// Whether the token has [`ADMIN_SCOPE`].
    pub is_admin: bool,
    /// The token's address, if the issuer of the token has verified that it is the caller's.
    pub verified_email: Option<EmailAddress>,
}

impl Caller {
    /// The caller, if the token has a scope that the route accepts; `None` on a public route.
    ///
    /// API Gateway has already checked the signature and the scopes. The second check costs nothing, and keeps a route
    /// closed if its authorizer is missing from the template.
    pub(crate) fn of(claims: Option<&Claims>, scope: Scope) -> Result<Option<Self>, Problem> {
        if scope == Scope::Public {
            return Ok(None);
        }
        let unauthorized = || Problem::new(Kind::Unauthorized, "This route needs a valid bearer token.");
        let claims = claims.ok_or_else(unauthorized)?;
        let id = claims.get("sub").and_then(|sub| sub.parse().ok());
        // A guest has a secret and no token. A token with a guest's id would open that guest's orders.
        let id = id.filter(|id: &CustomerId| !id.is_guest()).ok_or_else(unauthorized)?;
        let scopes: Vec<&str> = claims.get("scope").map(|scopes| scopes.split(' ').collect()).unwrap_or_default();
        if !scope.any_of().iter().any(|wanted| scopes.contains(wanted)) {
            let wanted = scope.any_of().join(" or ");
            return Err(Problem::new(Kind::Forbidden, format!("This route needs a token with the scope {wanted}.")));
        }
        Ok(Some(Self { id, is_admin: scopes.contains(&ADMIN_SCOPE), verified_email: verified_email(claims) }))
    }

    pub(crate) fn guest(secret: &GuestSecret) -> Self {
        Self { id: secret.guest_id(), is_admin: false, verified_email: None }
    }

    /// Whether the caller is this customer or guest, or an admin. A customer may also see what belongs to the guests whom
    /// they have claimed: `Reader::may_access` asks the table for that.
    pub fn acts_for(&self, owner: &CustomerId) -> bool {
        self.is_admin || self.id == *owner
    }

    /// The customer or guest who asks; `None` for an admin, who may see everything.
    pub fn customer(&self) -> Option<&CustomerId> {
        (!self.is_admin).then_some(&self.id)
    }
}

/// The address, if the issuer of the token has verified it.
fn verified_email(claims: &Claims) -> Option<EmailAddress> {
    claims.get("email_verified").filter(|is_verified| *is_verified == "true")?;
    claims.get("email")?.parse().ok()
}
