//! MCP over HTTP, for clients on this machine that know the token.

use crate::Server;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use subtle::ConstantTimeEq as _;
use tokio::net::{TcpListener, TcpStream};

/// Path of the MCP endpoint.
const PATH: &str = "/mcp";
/// Maximum time for a client to send its request headers.
const HEADERS: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 30 });

type Service = StreamableHttpService<Server, LocalSessionManager>;

/// Returns a new random token.
pub fn new_token() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// Serves clients that connect to `listener` and send the token, until `stop` completes. Any other client learns
/// nothing, not even what is served. A browser request from a page of another origin is refused.
///
/// # Errors
/// If connections can no longer be accepted.
pub async fn serve_http(
    server: Server,
    listener: TcpListener,
    token: String,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let mut config = StreamableHttpServerConfig::default().enforce_origin_validation();
    // This machine has more addresses than the default loopback names.
    config.allowed_hosts.push(listener.local_addr()?.ip().to_string());
    let ended = config.cancellation_token.clone();
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    let token: Arc<str> = token.into();
    let accept = async {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // Too many files are open, or the client has disconnected: the next connection may succeed.
                Err(error) => {
                    tracing::warn!(%error, "connection not accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            tokio::spawn(connection(service.clone(), Arc::clone(&token), stream));
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop => ended.cancel(),
    }
    Ok(())
}

/// Serves one connection until it ends. The future is boxed so that `rmcp` and `hyper` are compiled into this crate,
/// not into each crate that serves.
fn connection(service: Service, token: Arc<str>, stream: TcpStream) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let answer = service_fn(move |request: Request<Incoming>| {
        let (service, token) = (service.clone(), Arc::clone(&token));
        async move {
            let refusal = refused(&request, &token);
            Ok::<_, Infallible>(match refusal {
                Some(refusal) => {
                    tracing::debug!(status = refusal.status().as_u16(), "request refused");
                    refusal
                }
                None => service.handle(request).await,
            })
        }
    });
    Box::pin(async move {
        let served = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADERS)
            .serve_connection(TokioIo::new(stream), answer)
            .await;
        // The client disconnected or did not send HTTP; other connections are not affected.
        if let Err(error) = served {
            tracing::debug!(is_timeout = error.is_timeout(), is_parse = error.is_parse(), "connection broken off");
        }
    })
}

/// Returns the refusal of a request without the token or for another path, or `None` if it is allowed.
fn refused(request: &Request<Incoming>, token: &str) -> Option<Response<BoxBody<Bytes, Infallible>>> {
    let shown = request.headers().get(AUTHORIZATION).map(|value| value.as_bytes());
    if !shown.is_some_and(|shown| is_token(shown, token)) {
        let mut answer = plain(StatusCode::UNAUTHORIZED, "show the token: Authorization: Bearer TOKEN\n");
        answer.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Bearer"));
        return Some(answer);
    }
    (request.uri().path() != PATH).then(|| plain(StatusCode::NOT_FOUND, "the protocol is spoken at /mcp\n"))
}

fn plain(status: StatusCode, text: &'static str) -> Response<BoxBody<Bytes, Infallible>> {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}

/// Returns whether a header holds the token. The comparison takes constant time.
fn is_token(shown: &[u8], token: &str) -> bool {
    shown.ct_eq(format!("Bearer {token}").as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Whose};
    use hermes_conformance::ModelStore;
    use hermes_session::{Scope, Timestamp};
    use jiff::tz::TimeZone;
    use std::net::SocketAddr;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// Serves an empty store at a local address until the test ends.
    async fn served(address: &str) -> SocketAddr {
        let server = Server::new(Options {
            store: Arc::new(ModelStore::new()),
            whose: Whose::Within(Scope::All),
            writes: false,
            clock: Arc::new(|| Timestamp::EPOCH),
            zone: TimeZone::UTC,
            timeout: Duration::from_secs(1),
            version: "0",
        });
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve_http(server, listener, "secret".into(), std::future::pending()));
        address
    }

    /// Returns the first line of the response to an `initialize` request with this `Host` header.
    async fn greeted(address: SocketAddr, host: &str) -> String {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 64];
        let count = stream.read(&mut answer).await.unwrap();
        String::from_utf8_lossy(&answer[..count]).lines().next().unwrap_or_default().to_owned()
    }

    #[tokio::test]
    async fn every_address_of_this_machine_can_be_served_and_no_other_name() {
        for bound in ["127.0.0.1:0", "127.0.0.2:0"] {
            let address = served(bound).await;
            assert_eq!(greeted(address, &address.to_string()).await, "HTTP/1.1 200 OK", "{bound}");
            assert_eq!(greeted(address, "elsewhere.example").await, "HTTP/1.1 403 Forbidden", "{bound}");
        }
    }

    #[tokio::test]
    async fn a_client_that_never_says_what_it_wants_is_hung_up_on() {
        let mut stream = TcpStream::connect(served("127.0.0.1:0").await).await.unwrap();
        stream.write_all(b"POST /mcp HTTP/1.1\r\nHost:").await.unwrap();
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(60 * HEADERS, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "it waits for ever");
    }

    #[test]
    fn only_the_whole_token_opens() {
        assert!(is_token(b"Bearer abc", "abc"));
        for wrong in [&b"Bearer abd"[..], b"Bearer ab", b"Bearer abcd", b"bearer abc", b"abc", b""] {
            assert!(!is_token(wrong, "abc"), "{wrong:?}");
        }
    }
}
