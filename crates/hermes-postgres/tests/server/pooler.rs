//! A minimal pooler between a store and its server: it keeps its clients when the server goes, and reconnects for them.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{self, Receiver};

/// A message of the protocol: a letter, the length of the rest, the rest.
type Message = Vec<u8>;
type Errand = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;

pub(crate) struct Pooler {
    port: u16,
    clients: Arc<AtomicU32>,
    errand: Errand,
}

impl Pooler {
    /// Creates a pooler for the server on a local port.
    pub(crate) async fn new(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let pooler = Self { port, clients: Arc::default(), errand: Arc::default() };
        let (clients, errand) = (Arc::clone(&pooler.clients), Arc::clone(&pooler.errand));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                clients.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(serve(client, server, Arc::clone(&errand)));
            }
        });
        pooler
    }

    pub(crate) fn url(&self) -> String {
        format!("postgresql://hermes@127.0.0.1:{}/hermes?sslmode=disable", self.port)
    }

    /// Returns the number of clients so far.
    pub(crate) fn clients(&self) -> u32 {
        self.clients.load(Ordering::Relaxed)
    }

    /// Runs `errand` before the next transaction that writes is let through, on a new connection.
    pub(crate) fn before_the_next_write(&self, errand: impl FnOnce() + Send + 'static) {
        *self.errand.lock().expect("no panic") = Some(Box::new(errand));
    }

    /// Returns whether the errand is still pending.
    pub(crate) fn has_errand(&self) -> bool {
        self.errand.lock().expect("no panic").is_some()
    }
}

/// A connection to the server.
struct Server {
    from: Receiver<Message>,
    to: OwnedWriteHalf,
    /// Names of the statements prepared on it.
    statements: HashSet<Vec<u8>>,
    /// Number of pending answers to requests that are not the client's.
    own: u32,
}

impl Server {
    /// Connects with a client's startup message, as soon as that is possible. Returns the greeting of the server, too.
    async fn connect(port: u16, startup: &[u8]) -> (Self, Vec<Message>) {
        loop {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await {
                let (from, mut to) = stream.into_split();
                let (mut from, mut greeting) = (messages(from), Vec::new());
                _ = to.write_all(startup).await;
                while let Some(message) = from.recv().await {
                    let is_ready = message[0] == b'Z';
                    greeting.push(message);
                    if is_ready {
                        return (Self { from, to, statements: HashSet::new(), own: 0 }, greeting);
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn serve(mut client: TcpStream, port: u16, errand: Errand) {
    let Ok(length) = client.read_u32().await else { return };
    let mut startup = length.to_be_bytes().to_vec();
    startup.resize(length as usize, 0);
    if client.read_exact(&mut startup[4..]).await.is_err() {
        return;
    }
    let (mut server, greeting) = Server::connect(port, &startup).await;
    let (from_client, mut to_client) = client.into_split();
    let mut from_client = messages(from_client);
    _ = to_client.write_all(&greeting.concat()).await;
    let mut statements: HashMap<Vec<u8>, Message> = HashMap::new();
    // Number of answers the client waits for, and whether it is in a transaction.
    let (mut awaited, mut is_within) = (0_u32, false);
    loop {
        let is_idle = awaited == 0 && !is_within;
        tokio::select! {
            biased;
            message = server.from.recv() => match message {
                // Messages of a server that is going down.
                Some(_) if is_idle => {}
                Some(message) if message[0] == b'1' && server.own > 0 => server.own -= 1,
                Some(message) => {
                    if message[0] == b'Z' {
                        awaited -= 1;
                        is_within = message[5] != b'I';
                    }
                    _ = to_client.write_all(&message).await;
                }
                None if is_idle => server = Server::connect(port, &startup).await.0,
                None => return,
            },
            message = from_client.recv() => {
                let Some(message) = message else { return };
                if is_idle && message.windows(19).any(|part| part == b"READ COMMITTED READ") {
                    let errand = errand.lock().expect("no panic").take();
                    if let Some(errand) = errand {
                        tokio::task::block_in_place(errand);
                        server = Server::connect(port, &startup).await.0;
                    }
                }
                match message[0] {
                    b'Q' | b'S' => awaited += 1,
                    b'P' => {
                        statements.insert(name(&message[5..]), message.clone());
                        server.statements.insert(name(&message[5..]));
                    }
                    b'B' => {
                        let statement = name(&message[6 + name(&message[5..]).len()..]);
                        if let Some(parse) = statements.get(&statement)
                            && server.statements.insert(statement)
                        {
                            server.own += 1;
                            _ = server.to.write_all(parse).await;
                        }
                    }
                    _ => {}
                }
                if server.to.write_all(&message).await.is_err() && !is_idle {
                    return;
                }
            }
        }
    }
}

/// Returns the text at the beginning, up to a zero byte.
fn name(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().take_while(|byte| *byte != 0).collect()
}

/// Returns the incoming messages.
fn messages(mut from: OwnedReadHalf) -> Receiver<Message> {
    let (sender, receiver) = mpsc::channel(64);
    tokio::spawn(async move {
        loop {
            let mut message = vec![0; 5];
            if from.read_exact(&mut message).await.is_err() {
                return;
            }
            let length = u32::from_be_bytes([message[1], message[2], message[3], message[4]]);
            message.resize(length as usize + 1, 0);
            if from.read_exact(&mut message[5..]).await.is_err() || sender.send(message).await.is_err() {
                return;
            }
        }
    });
    receiver
}
