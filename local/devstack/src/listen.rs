//! Loopback listeners, the only kind in this crate.

use std::io::ErrorKind;
use std::net::Ipv4Addr;

use anyhow::{Context, Result, anyhow};
use tokio::net::TcpListener;
use uuid::Uuid;

/// Listens on 127.0.0.1; port 0 takes a free one. An error names `flag` as the option to change.
pub(crate) async fn loopback(port: u16, flag: &str) -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            anyhow!("port {port} is in use: stop what listens there or choose another with {flag}")
        }
        _ => anyhow!("cannot listen on port {port} ({error}): choose another with {flag}"),
    })
}

/// Listens at an address that a web page cannot guess: a free port and, on systems with more than one loopback address
/// (Linux and Windows, not macOS), one of 16 million addresses.
pub(crate) async fn unguessable() -> Result<TcpListener> {
    let [a, b, c, ..] = *Uuid::new_v4().as_bytes();
    // Neither the first nor the last address of the network.
    let address = Ipv4Addr::new(127, a, b, c.clamp(1, 254));
    match TcpListener::bind((address, 0)).await {
        Ok(listener) => Ok(listener),
        Err(_) => loopback(0, "--dynamodb-port").await,
    }
}

/// The address of a listener, as a base URL without a final slash.
pub(crate) fn url_of(listener: &TcpListener) -> Result<String> {
    let address = listener.local_addr().context("a listener has no address")?;
    Ok(format!("http://{address}"))
}
