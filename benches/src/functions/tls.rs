//! TLS in front of the embedded DynamoDB: a function shakes hands and encrypts as it does with AWS, and the answers
//! behind it are those of an engine.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// What functions trust on AWS.
const AMAZON_ROOTS: &str = include_str!("../../../shared/lambda/roots/amazon.pem");

/// An HTTPS endpoint before a plain one.
pub(super) struct Tls {
    url: String,
    roots: PathBuf,
    server: JoinHandle<()>,
}

impl Tls {
    /// Starts one before the plain endpoint at this address, and leaves the certificates that its clients are to trust in this folder.
    pub(super) async fn start(behind: &str, folder: &Path) -> Result<Self> {
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["127.0.0.1".to_owned()])?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let config =
            ServerConfig::builder_with_provider(Arc::new(tokio_rustls::rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()?
                .with_no_client_auth()
                .with_single_cert(vec![cert.der().clone()], key)?;
        // As many roots to read as on AWS, and one.
        let roots = folder.join("roots.pem");
        std::fs::write(&roots, format!("{AMAZON_ROOTS}{}", cert.pem()))
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

async fn pass_on(client: TcpStream, acceptor: &TlsAcceptor, behind: &str) -> Result<()> {
    client.set_nodelay(true)?;
    let mut client = acceptor.accept(client).await?;
    let mut server = TcpStream::connect(behind).await?;
    server.set_nodelay(true)?;
    tokio::io::copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
