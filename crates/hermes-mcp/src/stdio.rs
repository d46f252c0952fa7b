//! MCP as JSON lines over two pipes.
//!
//! `rmcp` drops lines that are not JSON without an answer. JSON-RPC asks for error -32700, so lines are checked first.

use crate::Server;
use rmcp::model::{ErrorData, RequestId};
use rmcp::service::{RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::{AsyncRwTransport, DEFAULT_MAX_LINE_LENGTH};
use rmcp::{RoleServer, ServiceExt as _};
use serde_json::Value;
use std::io;
use std::pin::{Pin, pin};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream, duplex};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Longest line that is accepted, with its line break. `rmcp` drops longer ones.
const MAX_LINE_BYTES: usize = if cfg!(test) { 1_000 } else { DEFAULT_MAX_LINE_LENGTH };
/// Bytes of checked lines that are read ahead.
const AHEAD: usize = 64 * 1024;

/// Serves one client until its input ends or `stop` completes.
///
/// # Errors
/// If the pipes fail. A client that disconnects, however early, is not an error.
pub async fn serve_stdio(
    server: Server,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    tokio::select! {
        outcome = serve(server, Box::new(input), Box::new(output)) => outcome,
        () = stop => Ok(()),
    }
}

/// Serves one client until its input ends. The future is boxed so that `rmcp` is compiled into this crate, not into
/// each crate that serves.
fn serve(
    server: Server,
    input: Box<dyn AsyncRead + Send + Unpin>,
    output: Box<dyn AsyncWrite + Send + Unpin>,
) -> Pin<Box<dyn Future<Output = io::Result<()>>>> {
    Box::pin(async move {
        let (checked, checked_input) = duplex(AHEAD);
        let (bad, bad_lines) = mpsc::channel(1);
        let inner = AsyncRwTransport::new_server(checked_input, output);
        let transport = CheckedTransport { inner, bad_lines, answer: None };
        let mut serve = pin!(async {
            match server.serve(transport).await {
                Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
                Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
                Err(error) => Err(io::Error::other(error)),
            }
        });
        tokio::select! {
            outcome = &mut serve => outcome,
            () = check_lines(input, checked, bad) => serve.await,
        }
    })
}

/// Passes lines that are JSON on, and sends an error for each other line. Returns when the input ends or serving has
/// ended. Blank lines are skipped.
async fn check_lines(input: impl AsyncRead + Unpin, mut checked: DuplexStream, bad: mpsc::Sender<BadLine>) {
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    loop {
        let is_whole = match read_line(&mut input, &mut line).await {
            Ok(LineRead::End) => return,
            Ok(read) => read == LineRead::Whole,
            Err(error) => {
                tracing::warn!(%error, "input can't be read; serving ends as at its end");
                return;
            }
        };
        let problem = if is_whole { problem(&line) } else { Some(format!("longer than {MAX_LINE_BYTES} bytes")) };
        let no_request = if problem.is_none() { id_of_no_request(&line) } else { None };
        let is_served = match problem {
            Some(problem) => {
                tracing::debug!(bytes = line.len(), "line is not JSON");
                let error = ErrorData::parse_error(format!("a line is not a JSON message: {problem}"), None);
                bad.send(BadLine { error, id: None }).await.is_ok()
            }
            None if line.trim_ascii().is_empty() => true,
            None if no_request.is_some() => {
                tracing::debug!(bytes = line.len(), "line is not a request");
                let error = ErrorData::invalid_request("Invalid request", None);
                bad.send(BadLine { error, id: no_request }).await.is_ok()
            }
            None => {
                line.push(b'\n');
                checked.write_all(&line).await.is_ok()
            }
        };
        if !is_served {
            return;
        }
    }
}

/// Returns the reason why a line is not JSON, or `None` if it is JSON or blank.
fn problem(line: &[u8]) -> Option<String> {
    if line.trim_ascii().is_empty() {
        return None;
    }
    match std::str::from_utf8(line) {
        // A byte order mark is allowed, as in `rmcp`.
        Ok(text) => serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')).err().map(|e| e.to_string()),
        Err(error) => Some(error.to_string()),
    }
}

/// Returns the id of a line that is JSON but no message. `rmcp` answers such a line without its id.
fn id_of_no_request(line: &[u8]) -> Option<RequestId> {
    let text = std::str::from_utf8(line).ok()?.trim_start_matches('\u{feff}');
    if serde_json::from_str::<RxJsonRpcMessage<RoleServer>>(text).is_ok() {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    serde_json::from_value(value.get("id")?.clone()).ok()
}

/// A line that is answered with an error.
struct BadLine {
    error: ErrorData,
    /// Its id, if one could be read.
    id: Option<RequestId>,
}

#[derive(Debug, PartialEq)]
enum LineRead {
    /// The line, or the rest of the input if it does not end with a line break.
    Whole,
    /// The line was too long. It was read to its end and dropped.
    TooLong,
    /// The input ended.
    End,
}

/// Reads a line without its line break. Keeps at most [`MAX_LINE_BYTES`] of it.
async fn read_line(input: &mut BufReader<impl AsyncRead + Unpin>, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    let mut length = 0;
    loop {
        let available = input.fill_buf().await?;
        if available.is_empty() && length == 0 {
            return Ok(LineRead::End);
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        length += part.len();
        if length < MAX_LINE_BYTES {
            line.extend_from_slice(part);
        }
        let (is_end, used) = (end.is_some() || available.is_empty(), part.len() + usize::from(end.is_some()));
        input.consume(used);
        if is_end {
            return Ok(if length < MAX_LINE_BYTES { LineRead::Whole } else { LineRead::TooLong });
        }
    }
}

/// The transport of `rmcp`, which also answers bad lines.
struct CheckedTransport<W: AsyncWrite + Send + Unpin + 'static> {
    inner: AsyncRwTransport<RoleServer, DuplexStream, W>,
    bad_lines: mpsc::Receiver<BadLine>,
    /// Sends the answer to the last bad line. A task of its own, because `rmcp` drops the future of `receive` whenever
    /// another event comes first, which must not cut an answer.
    answer: Option<JoinHandle<io::Result<()>>>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for CheckedTransport<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(answer) = &mut self.answer {
                let is_sent = matches!(answer.await, Ok(Ok(())));
                self.answer = None;
                is_sent.then_some(())?;
            }
            let BadLine { error, id } = tokio::select! {
                Some(bad) = self.bad_lines.recv() => bad,
                message = self.inner.receive() => match message {
                    Some(message) => return Some(message),
                    // The input ended. Bad lines before its end are still answered.
                    None => self.bad_lines.recv().await?,
                },
            };
            // MCP leaves an id that could not be read out of the answer, where JSON-RPC has null.
            let answer = TxJsonRpcMessage::<RoleServer>::error(error, id);
            self.answer = Some(tokio::spawn(self.inner.send(answer)));
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Whose};
    use hermes_conformance::ModelStore;
    use hermes_session::{Scope, Timestamp};
    use jiff::tz::TimeZone;
    use serde_json::json;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::io::AsyncReadExt as _;

    /// Sends bytes, closes the input and returns the answers.
    async fn answers(sent: &[u8]) -> Vec<Value> {
        let server = Server::new(Options {
            store: Arc::new(ModelStore::new()),
            whose: Whose::Within(Scope::All),
            writes: false,
            clock: Arc::new(|| Timestamp::EPOCH),
            zone: TimeZone::UTC,
            timeout: Duration::from_secs(1),
            version: "0",
        });
        let (mut client, input) = duplex(1 << 20);
        let (output, mut answered) = duplex(1 << 20);
        client.write_all(sent).await.unwrap();
        drop(client);
        let served = serve_stdio(server, input, output, std::future::pending());
        tokio::time::timeout(Duration::from_secs(60), served).await.expect("it ends with its input").unwrap();
        let mut text = String::new();
        answered.read_to_string(&mut text).await.unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn parse_error(problem: &str) -> Value {
        let message = format!("a line is not a JSON message: {problem}");
        json!({"jsonrpc": "2.0", "error": {"code": -32700, "message": message}})
    }

    #[tokio::test]
    async fn a_line_that_is_not_json_is_answered() {
        for (line, problem) in [
            (&b"hello"[..], "expected value at line 1 column 1"),
            (b"{\"jsonrpc\": \"2.0\",", "EOF while parsing a value at line 1 column 18"),
            (b"\"\xff\"", "invalid utf-8 sequence of 1 bytes from index 1"),
            (&[b' '; 1_001], "longer than 1000 bytes"),
        ] {
            assert_eq!(answers(line).await, [parse_error(problem)], "at the end of the input");
            assert_eq!(answers(&[line, b"\n"].concat()).await, [parse_error(problem)]);
        }
        assert_eq!(answers(b"\n \r\n").await, Vec::<Value>::new(), "blank lines");
    }

    #[tokio::test]
    async fn a_line_that_is_no_request_is_answered_with_its_id() {
        for (line, id) in [
            (r#"{"jsonrpc": "1.0", "id": 7, "method": "ping"}"#, json!(7)),
            (r#"{"jsonrpc": "2.0", "id": "a"}"#, json!("a")),
            (r#"{"id": 3, "method": "ping"}"#, json!(3)),
        ] {
            let error = json!({"code": -32600, "message": "Invalid request"});
            assert_eq!(answers(line.as_bytes()).await, [json!({"jsonrpc": "2.0", "id": id, "error": error})], "{line}");
        }
    }

    #[tokio::test]
    async fn lines_after_a_bad_one_are_served() {
        let client =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client});
        let known = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let long = "x".repeat(3_000);
        // The last line has no line break.
        let sent =
            format!("oops\n{hello}\n{known}\n{long}\n\u{feff}{}", json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
        let mut answers = answers(sent.as_bytes()).await;
        // Bad lines and requests are answered independently of each other.
        answers.sort_by_key(|answer| answer["id"].as_u64());
        let told: Vec<_> = answers.iter().map(|one| (one["id"].as_u64(), one["error"]["code"].as_i64())).collect();
        assert_eq!(told, [(None, Some(-32700)), (None, Some(-32700)), (Some(1), None), (Some(2), None)]);
    }
}
