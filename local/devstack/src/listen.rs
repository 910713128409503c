//! Loopback listeners, the only kind in this crate.

use std::io::ErrorKind;
use std::net::Ipv4Addr;

use anyhow::{Context, Result};
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::option_error::OptionError;

/// Listens on 127.0.0.1, on the port of this option; port 0 takes a free one.
pub(crate) async fn loopback(port: u16, option: &'static str) -> Result<TcpListener, OptionError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(|error| {
        let message = match error.kind() {
            ErrorKind::AddrInUse => format!("port {port} is in use: stop what listens there or choose another"),
            _ => format!("cannot listen on port {port} ({error}): choose another"),
        };
        OptionError::new(option, message)
    })
}

/// Listens on a free port of 127.0.0.1.
pub(crate) async fn free_port() -> Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("cannot listen on a free port of 127.0.0.1")
}

/// Listens at an address that a web page cannot guess: a free port and, on systems with more than one loopback address
/// (Linux and Windows, not macOS), one of 16 million addresses.
pub(crate) async fn unguessable() -> Result<TcpListener> {
    let [a, b, c, ..] = *Uuid::new_v4().as_bytes();
    // Neither the first nor the last address of the network.
    let address = Ipv4Addr::new(127, a, b, c.clamp(1, 254));
    match TcpListener::bind((address, 0)).await {
        Ok(listener) => Ok(listener),
        Err(_) => free_port().await,
    }
}

/// The address of a listener, as a base URL without a final slash.
pub(crate) fn url_of(listener: &TcpListener) -> Result<String> {
    let address = listener.local_addr().context("a listener has no address")?;
    Ok(format!("http://{address}"))
}
