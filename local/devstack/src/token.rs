//! Access tokens for a laptop, signed with a shared secret.
//!
//! A user pool signs with RSA and publishes its keys. Here issuer and verifier are one process, so a shared secret is
//! enough.

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::Serialize;
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{private_file, signatures};

const LIFETIME_SECONDS: u64 = 12 * 60 * 60;

/// The length of the secret.
const SECRET_BYTES: usize = 32;

/// The file within a data directory that holds the secret.
const SECRET_FILE: &str = "token-secret";

/// Who issues the tokens that the API accepts.
#[derive(Debug, Clone)]
pub enum Issuer {
    /// The stack, by `POST /_local/token`. The name is the claim `iss`.
    Stack { name: String, audience: String },
    /// The OpenID Connect issuer at this URL, for this audience. `POST /_local/token` is closed, but the stack still
    /// accepts what its own program signs by [`Stack::token`](crate::Stack::token).
    OpenId { url: String, audience: String },
}

/// Issues and verifies tokens.
pub struct Tokens {
    issuer: String,
    audience: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
    rules: Validation,
}

#[derive(Serialize)]
struct Claims<'a> {
    sub: &'a str,
    scope: &'a str,
    iss: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
    token_use: &'a str,
    #[serde(flatten)]
    email: Option<VerifiedEmail<'a>>,
}

/// The claims of an address that the issuer has verified, as OpenID Connect has them.
#[derive(Serialize)]
struct VerifiedEmail<'a> {
    email: &'a str,
    email_verified: bool,
}

impl Tokens {
    /// Tokens of this issuer for this audience, with a new secret. They are not valid after this process ends.
    pub fn ephemeral(issuer: &str, audience: &str) -> Self {
        Self::with_secret(&fresh_secret(), issuer, audience)
    }

    /// Tokens with a secret kept in this directory, so that they survive a restart.
    pub fn kept_in(directory: &Path, issuer: &str, audience: &str) -> Result<Self> {
        let file = directory.join(SECRET_FILE);
        let unusable = || {
            format!(
                "cannot keep the token secret in {}: delete it or choose another directory with --data",
                file.display()
            )
        };
        match std::fs::read(&file) {
            Ok(secret) if secret.len() == SECRET_BYTES => Ok(Self::with_secret(&secret, issuer, audience)),
            Ok(secret) => {
                Err(anyhow!("it has {} bytes instead of {SECRET_BYTES}", secret.len())).with_context(unusable)
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let secret = fresh_secret();
                private_file::create_new(&file).and_then(|mut file| file.write_all(&secret)).with_context(unusable)?;
                Ok(Self::with_secret(&secret, issuer, audience))
            }
            Err(error) => Err(error).with_context(unusable),
        }
    }

    fn with_secret(secret: &[u8], issuer: &str, audience: &str) -> Self {
        signatures::install();
        Self {
            issuer: issuer.to_owned(),
            audience: audience.to_owned(),
            encoding: EncodingKey::from_secret(secret),
            decoding: DecodingKey::from_secret(secret),
            rules: rules(&[Algorithm::HS256], issuer),
        }
    }

    /// A token for this caller, valid for twelve hours. With an address, it says that the address is verified.
    pub fn issue(&self, sub: &str, scope: &str, email: Option<&str>) -> Result<String> {
        let now = now()?;
        let claims = Claims {
            sub,
            scope,
            iss: &self.issuer,
            aud: &self.audience,
            iat: now,
            exp: now + LIFETIME_SECONDS,
            token_use: "access",
            email: email.map(|email| VerifiedEmail { email, email_verified: true }),
        };
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &self.encoding).context("cannot sign a token")
    }

    /// A token with any claims, signed like the stack's own.
    pub fn sign(&self, claims: &Value) -> Result<String> {
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.encoding).context("cannot sign a token")
    }

    /// The claims of a token that this stack issued and that is valid now.
    pub fn verify(&self, token: &str) -> Option<Map<String, Value>> {
        verify(token, &self.decoding, &self.rules, &self.audience)
    }
}

/// The rules for tokens of this issuer, by those of API Gateway's JWT authorizer:
/// <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html>.
pub(crate) fn rules(algorithms: &[Algorithm], issuer: &str) -> Validation {
    let mut rules = Validation::new(Algorithm::HS256);
    rules.algorithms = algorithms.to_vec();
    rules.set_issuer(&[issuer]);
    rules.set_required_spec_claims(&["exp", "iss", "sub"]);
    rules.validate_nbf = true;
    // Cognito's access tokens have no `aud`: `is_for` checks their `client_id` instead.
    rules.validate_aud = false;
    rules.leeway = 0;
    rules
}

/// The claims of a token that this key signed for this audience, and that is valid now.
pub(crate) fn verify(token: &str, key: &DecodingKey, rules: &Validation, audience: &str) -> Option<Map<String, Value>> {
    let token = jsonwebtoken::decode(token, key, rules).ok()?;
    let claims: Map<String, Value> = token.claims;
    (is_for(audience, &claims) && is_issued_by(now().ok()?, &claims)).then_some(claims)
}

/// Whether `aud` names this audience, or `client_id` in a token without `aud`.
fn is_for(audience: &str, claims: &Map<String, Value>) -> bool {
    match claims.get("aud").or_else(|| claims.get("client_id")) {
        Some(Value::Array(audiences)) => audiences.iter().any(|each| each == audience),
        Some(named) => named == audience,
        None => false,
    }
}

/// Whether `iat`, if it is there, is not in the future.
fn is_issued_by(now: u64, claims: &Map<String, Value>) -> bool {
    claims.get("iat").is_none_or(|issued| issued.as_u64().is_some_and(|issued| issued <= now))
}

fn now() -> Result<u64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH).context("the clock is before 1970")?.as_secs())
}

/// 244 random bits.
fn fresh_secret() -> [u8; SECRET_BYTES] {
    let mut secret = [0; SECRET_BYTES];
    secret[..16].copy_from_slice(Uuid::new_v4().as_bytes());
    secret[16..].copy_from_slice(Uuid::new_v4().as_bytes());
    secret
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens() -> Tokens {
        Tokens::ephemeral("devstack", "notes")
    }

    #[test]
    fn a_token_says_who_the_caller_is_and_what_it_may_do() {
        let tokens = tokens();
        let claims = tokens.verify(&tokens.issue("ada", "read", None).unwrap()).unwrap();
        assert_eq!(claims["sub"], "ada");
        assert_eq!(claims["scope"], "read");
        assert_eq!(claims["token_use"], "access");
    }

    #[test]
    fn a_token_says_which_address_is_verified_if_it_was_asked_to() {
        let tokens = tokens();
        let claims = tokens.verify(&tokens.issue("ada", "read", Some("ada@example.com")).unwrap()).unwrap();
        assert_eq!((&claims["email"], &claims["email_verified"]), (&"ada@example.com".into(), &true.into()));
        let claims = tokens.verify(&tokens.issue("ada", "read", None).unwrap()).unwrap();
        assert!(!claims.contains_key("email") && !claims.contains_key("email_verified"));
    }

    #[test]
    fn a_kept_secret_makes_tokens_outlive_a_restart() {
        let directory = std::env::temp_dir().join(format!("devstack-token-{}", Uuid::new_v4()));
        std::fs::create_dir(&directory).unwrap();
        let token = Tokens::kept_in(&directory, "devstack", "notes").unwrap().issue("ada", "read", None).unwrap();
        assert!(Tokens::kept_in(&directory, "devstack", "notes").unwrap().verify(&token).is_some());
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
