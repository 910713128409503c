//! TLS in front of the embedded DynamoDB: a function shakes hands and encrypts as it does with AWS, and the answers
//! behind it are those of an engine.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, PKCS_RSA_SHA256};
use rsa::RsaPrivateKey;
use rsa::pkcs8::EncodePrivateKey;
use rsa::rand_core::OsRng;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// What functions trust on AWS.
const AMAZON_ROOTS: &str = include_str!("../../../shared/lambda/roots/amazon.pem");

/// An HTTPS endpoint before a plain one.
pub(super) struct Tls {
    url: String,
    roots: PathBuf,
    server: JoinHandle<()>,
}

impl Tls {
    /// Starts one before the plain endpoint at this address, and leaves the certificates that its clients are to trust
    /// in this folder.
    pub(super) async fn start(behind: &str, folder: &Path) -> Result<Self> {
        let Chain { sent, root, key } = Chain::new().context("no certificates")?;
        let config =
            ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(sent, key)?;
        // As many roots to read as on AWS, and one.
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
                // A connection that breaks is its client's to notice.
                tokio::spawn(async move { _ = pass_on(client, &acceptor, &behind).await });
            }
        });
        Ok(Self { url, roots, server })
    }

    /// The endpoint.
    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// The file of the certificates to trust.
    pub(super) fn roots(&self) -> &Path {
        &self.roots
    }
}

impl Drop for Tls {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Certificates such as AWS sends, so that a handshake costs what it does there: all of RSA with 2,048 bits, the
/// endpoint's own, the one it is signed by, the root that clients know, as signed by an older one, and that.
struct Chain {
    sent: Vec<CertificateDer<'static>>,
    /// The root that clients know, in PEM.
    root: String,
    key: PrivateKeyDer<'static>,
}

impl Chain {
    /// All with one key, which makes no difference to whoever verifies them.
    fn new() -> Result<Self> {
        let key = RsaPrivateKey::new(&mut OsRng, 2048)?.to_pkcs8_der()?;
        let key = PrivatePkcs8KeyDer::from(key.as_bytes().to_vec());
        let pair = KeyPair::from_pkcs8_der_and_sign_algo(&key, &PKCS_RSA_SHA256)?;
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
