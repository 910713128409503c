//! A server whose connections can be cut.

use std::error::Error;
use std::io::Error as Cut;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Serves all connections. If `pass` returns an error, the connection is closed without another byte. Aborting the task
/// that runs this closes every connection.
pub async fn serve_or_cut<P, F, E>(listener: TcpListener, pass: P)
where
    P: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<Response<Full<Bytes>>, E>> + Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
{
    // Aborting this task drops the set, and with it every connection.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                if let Ok((stream, _)) = accepted {
                    connections.spawn(serve(stream, pass.clone()));
                }
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn serve<P, F, E>(stream: TcpStream, pass: P)
where
    P: Fn(Request<Incoming>) -> F,
    F: Future<Output = Result<Response<Full<Bytes>>, E>> + Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
{
    let service = service_fn(|request| {
        // In its own task: a service finishes a request even if its client has hung up.
        let passed = tokio::spawn(pass(request));
        async move { passed.await.map_err(Cut::other)?.map_err(Cut::other) }
    });
    // If the service returns an error, hyper closes the connection without another byte: that is a cut.
    _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}
