//! The signatures of tokens, by `ring`, which the AWS SDK's TLS brings anyway.
//!
//! The providers that `jsonwebtoken` comes with are the RustCrypto crates, of which `rsa` has an advisory without a fix
//! (RUSTSEC-2023-0071), and AWS-LC, which takes a C compiler a minute.

use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{ErrorKind, Result};
use jsonwebtoken::signature::{Error, Signer, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey};
use ring::hmac;
use ring::signature::{ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |algorithm, key: &EncodingKey| Ok(Box::new(Secret::new(*algorithm, key.as_bytes())?)),
    verifier_factory: |algorithm, key: &DecodingKey| match algorithm {
        Algorithm::RS256 | Algorithm::ES256 => Ok(Box::new(PublicKey { algorithm: *algorithm, key: key.clone() })),
        other => Ok(Box::new(Secret::new(*other, key.try_get_as_bytes()?)?)),
    },
    key_utils: KeyUtils::new_unimplemented(),
};

/// Makes `ring` the provider of `jsonwebtoken` in this process, unless it has one.
pub(crate) fn install() {
    _ = PROVIDER.install_default();
}

/// A shared secret, which signs and verifies.
struct Secret {
    algorithm: Algorithm,
    key: hmac::Key,
}

impl Secret {
    fn new(algorithm: Algorithm, secret: &[u8]) -> Result<Self> {
        let digest = match algorithm {
            Algorithm::HS256 => hmac::HMAC_SHA256,
            Algorithm::HS384 => hmac::HMAC_SHA384,
            Algorithm::HS512 => hmac::HMAC_SHA512,
            _ => return Err(ErrorKind::InvalidAlgorithm.into()),
        };
        Ok(Self { algorithm, key: hmac::Key::new(digest, secret) })
    }
}

impl Signer<Vec<u8>> for Secret {
    fn try_sign(&self, message: &[u8]) -> std::result::Result<Vec<u8>, Error> {
        Ok(hmac::sign(&self.key, message).as_ref().to_vec())
    }
}

impl Verifier<Vec<u8>> for Secret {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        hmac::verify(&self.key, message, signature).map_err(|_| Error::new())
    }
}

impl JwtSigner for Secret {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl JwtVerifier for Secret {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

/// An issuer's public key, of RS256 or ES256.
struct PublicKey {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for PublicKey {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> std::result::Result<(), Error> {
        let verified = match (self.algorithm, self.key.kind()) {
            (Algorithm::RS256, DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
            }
            (Algorithm::ES256, DecodingKeyKind::SecretOrDer(point)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            _ => return Err(Error::new()),
        };
        verified.map_err(|_| Error::new())
    }
}

impl JwtVerifier for PublicKey {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
