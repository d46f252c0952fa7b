//! The protocol over HTTP, for clients on this machine that know the token.

use crate::Server;
use http_body_util::{BodyExt as _, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Where the protocol is spoken.
const PATH: &str = "/mcp";

/// A token that nobody can guess.
pub fn new_token() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}

/// Serves clients that come to `listener` and show the token, until `stop` ends. Nobody else learns anything, not even what is served; a browser that was
/// led here from a page elsewhere is turned away.
///
/// # Errors
/// If nobody can come any more.
pub async fn serve_http(
    server: Server,
    listener: TcpListener,
    token: String,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let ended = config.cancellation_token.clone();
    let service =
        StreamableHttpService::new(move || Ok(server.clone()), Arc::new(LocalSessionManager::default()), config);
    let token: Arc<str> = token.into();
    let accept = async {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                // Too many files are open, or the client went again: the next one may come.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            let (service, token) = (service.clone(), Arc::clone(&token));
            tokio::spawn(async move {
                let answer = service_fn(move |request: Request<Incoming>| {
                    let (service, token) = (service.clone(), Arc::clone(&token));
                    async move {
                        let refusal = refused(&request, &token);
                        Ok::<_, Infallible>(match refusal {
                            Some(refusal) => refusal,
                            None => service.handle(request).await,
                        })
                    }
                });
                // A connection that breaks is its client's matter.
                _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
            });
        }
    };
    tokio::select! {
        () = accept => {}
        () = stop => ended.cancel(),
    }
    Ok(())
}

/// What is answered to who has no token, or asks for something else.
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

/// Whether a header shows the token. It takes as long whatever is wrong.
fn is_token(shown: &[u8], token: &str) -> bool {
    let expected = format!("Bearer {token}");
    let differ = shown.iter().zip(expected.as_bytes()).fold(0, |differ, (one, other)| differ | (one ^ other));
    shown.len() == expected.len() && differ == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_opens() {
        assert!(is_token(b"Bearer abc", "abc"));
        for wrong in [&b"Bearer abd"[..], b"Bearer ab", b"Bearer abcd", b"bearer abc", b"abc", b""] {
            assert!(!is_token(wrong, "abc"), "{wrong:?}");
        }
    }
}
