//! The protocol as JSON lines over two pipes.

use crate::Server;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};

/// Serves one client until its input ends or `stop` does.
///
/// # Errors
/// If the pipes fail. That a client leaves, however early, is no error.
pub async fn serve_stdio(
    server: Server,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let serve = async {
        match server.serve((input, output)).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    };
    tokio::select! {
        outcome = serve => outcome,
        () = stop => Ok(()),
    }
}
