//! As much of HTTP/1.1 as the stand-ins need. Written by hand, because their faults are those of bytes.

use hermes_model::script::{Rendered, Sent};
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Largest head of a request, in bytes.
const MAX_HEAD: usize = 64 << 10;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Incoming {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Incoming {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads one request. Returns `None` if the client has closed the connection.
pub(crate) async fn read(stream: &mut TcpStream) -> io::Result<Option<Incoming>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if bytes.len() > MAX_HEAD {
            return Err(odd("the head of a request is too long"));
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return if bytes.is_empty() { Ok(None) } else { Err(odd("a request was cut off")) };
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).map_err(|_| odd("the head of a request is not text"))?;
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (first.next().unwrap_or_default().to_owned(), first.next().unwrap_or_default().to_owned());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let mut incoming = Incoming { method, path, headers, body: String::new() };
    let length = incoming.header("content-length").map_or(Ok(0), str::parse);
    let length: usize = length.map_err(|_| odd("the length of a request is not a number"))?;
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Err(odd("the body of a request was cut off"));
        }
    }
    incoming.body = String::from_utf8(body).map_err(|_| odd("the body of a request is not text"))?;
    Ok(Some(incoming))
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Wholly; the connection can be used again.
    Whole,
    /// The connection has to be closed.
    Closed,
    /// The client closed the connection before the end.
    HungUp,
}

/// Writes an answer: a stream of events in chunks, anything else with its length, and up to the end of the connection
/// if there is a header `connection: close`.
pub(crate) async fn write(stream: &mut TcpStream, answer: &Rendered) -> Written {
    let has = |name: &str, value: &str| answer.headers.iter().any(|(key, text)| key == name && text == value);
    let is_open_ended = has("connection", "close");
    let is_chunked = !is_open_ended && has("content-type", "text/event-stream");
    let is_cut = answer.pieces.contains(&Sent::Cut);
    let length: usize =
        answer.pieces.iter().map(|piece| if let Sent::Bytes(bytes) = piece { bytes.len() } else { 0 }).sum();
    let mut head = format!("HTTP/1.1 {} Answer\r\n", answer.status);
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if is_chunked {
        head.push_str("transfer-encoding: chunked\r\n");
    } else if !is_open_ended {
        // A body that is cut off is announced as longer than it is.
        head.push_str(&format!("content-length: {}\r\n", length + usize::from(is_cut)));
    }
    head.push_str("\r\n");
    let outcome = pieces(stream, head.as_bytes(), &answer.pieces, is_chunked).await;
    match outcome {
        Ok(true) if is_cut || is_open_ended => Written::Closed,
        Ok(true) => Written::Whole,
        Ok(false) | Err(_) => Written::HungUp,
    }
}

/// Writes the pieces. Returns `false` if the client closed the connection during a pause.
async fn pieces(stream: &mut TcpStream, head: &[u8], pieces: &[Sent], is_chunked: bool) -> io::Result<bool> {
    stream.write_all(head).await?;
    for piece in pieces {
        match piece {
            Sent::Cut => return Ok(true),
            Sent::Pause(pause) => {
                let mut byte = [0];
                tokio::select! {
                    () = tokio::time::sleep(*pause) => {}
                    peeked = stream.peek(&mut byte) => if !matches!(peeked, Ok(1)) { return Ok(false) },
                }
            }
            Sent::Bytes(bytes) if is_chunked => {
                let framed = [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
                stream.write_all(&framed).await?;
            }
            Sent::Bytes(bytes) => stream.write_all(bytes).await?,
        }
    }
    if is_chunked {
        stream.write_all(b"0\r\n\r\n").await?;
    }
    Ok(true)
}

fn odd(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
