//! TLS in front of the embedded DynamoDB, so that a function has the same costs of handshakes and encryption as with
//! AWS.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, PKCS_RSA_SHA256};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The root certificates that functions trust on AWS.
const AMAZON_ROOTS: &str = include_str!("../../../../shared/lambda/roots/amazon.pem");

/// An HTTPS endpoint in front of an HTTP endpoint.
pub(super) struct Tls {
    url: String,
    roots: PathBuf,
    server: JoinHandle<()>,
}

impl Tls {
    /// Starts one in front of the HTTP endpoint at this address, and writes the certificates that clients should trust
    /// to this folder.
    pub(super) async fn start(behind: &str, folder: &Path) -> Result<Self> {
        let Chain { sent, root, key } = Chain::new().context("no certificates")?;
        let config =
            ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(sent, key)?;
        // As many root certificates as on AWS, and one more.
        let roots = folder.join("roots.pem");
        std::fs::write(&roots, format!("{AMAZON_ROOTS}{root}"))
            .with_context(|| format!("cannot write {}", roots.display()))?;

        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("https://{}", listener.local_addr()?);
        let behind = behind.to_owned();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let server = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (acceptor, behind) = (acceptor.clone(), behind.clone());
                // The client handles a broken connection.
                tokio::spawn(async move { _ = pass_on(client, &acceptor, &behind).await });
            }
        });
        Ok(Self { url, roots, server })
    }

    /// The endpoint's URL.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The file with the certificates to trust.
    pub(super) fn roots(&self) -> &Path {
        &self.roots
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// A certificate chain like AWS's, so that a handshake has the same cost: all RSA with 2,048 bits; the endpoint's own
/// certificate, its issuer, the root that clients know, cross-signed by an older root, and the older root.
struct Chain {
    sent: Vec<CertificateDer<'static>>,
    /// The root that clients know, in PEM.
    root: String,
    key: PrivateKeyDer<'static>,
}

impl Chain {
    /// Creates the chain. All certificates have the same key, which does not change the cost of verification.
    fn new() -> Result<Self> {
        let made = ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"];
        let made = Command::new("openssl").args(made).output().context("openssl cannot be run")?;
        let pair = KeyPair::from_pkcs8_pem_and_sign_algo(&String::from_utf8(made.stdout)?, &PKCS_RSA_SHA256)?;
        let key = PrivatePkcs8KeyDer::from(pair.serialize_der());
        let [older, root, intermediate] = ["Older", "Root", "Intermediate"].map(authority);
        let own = CertificateParams::new(vec![Ipv4Addr::LOCALHOST.to_string()])?;
        let signed = |params: &CertificateParams, by: &CertificateParams| {
            params.signed_by(&pair, &Issuer::from_params(by, &pair))
        };
        let sent = [
            signed(&own, &intermediate)?,
            signed(&intermediate, &root)?,
            signed(&root, &older)?,
            signed(&older, &older)?,
        ];
        let root = root.self_signed(&pair)?.pem();
        Ok(Self { sent: sent.map(Into::into).into(), root, key: key.into() })
    }
}

fn authority(name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params
}

async fn pass_on(client: TcpStream, acceptor: &TlsAcceptor, behind: &str) -> Result<()> {
    client.set_nodelay(true)?;
    let mut client = acceptor.accept(client).await?;
    let mut server = TcpStream::connect(behind).await?;
    server.set_nodelay(true)?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
