//! `hermes sessiondb rpc`

use crate::clock;
use crate::commands::migrate::place::read_end;
use crate::context::{Access, Context, OpenStore};
use crate::error::CliError;
use crate::stop::note_asked;
use hermes_rpc::{ErrorType, Service, error_type, hello_of_failure};
use hermes_session::StoreError;
use hermes_store::Adopt;
use std::io::{self, Read as _};
use std::os::unix::process::parent_id;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::net::unix::pipe;
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How much of what came is held before somebody asks for it.
const AHEAD: usize = 256 * 1024;
/// Where the system tells what stdin and stdout are, if it does.
const INPUT: &str = "/proc/self/fd/0";
const OUTPUT: &str = "/proc/self/fd/1";
/// How often it is looked whether the program that started this one is still there.
const LOOK: Duration = Duration::from_secs(1);

/// Serves the store to another program: requests and answers as JSON lines on stdin and stdout
#[derive(clap::Args)]
pub(crate) struct RpcArgs {
    /// The store: a path, a URL, `env:NAME` for what a variable holds, or `config` for the configured one
    #[arg(value_name = "STORE", default_value = "config")]
    store: String,
    /// Upgrade a file of schema 1 to 10 when it is opened, as the Python agent does, and not with the first write
    #[arg(long)]
    upgrade: bool,
}

pub(crate) async fn run(context: &Context, args: RpcArgs) -> Result<(), CliError> {
    let store = match open(context, &args).await {
        Ok(store) => store,
        Err(error) => {
            let kind = error.of_store().map_or(ErrorType::Value, error_type);
            write_line(&hello_of_failure(kind, &error.text())).await.map_err(CliError::output)?;
            return Err(error);
        }
    };
    let service =
        Service::new(store.shared(), Arc::new(|| clock::now().at), context.now.zone.clone(), env!("CARGO_PKG_VERSION"));
    let stop = Stop::watch().map_err(CliError::output)?;
    service.serve_until(input(), output(), stop.asked()).await.map_err(ended)
}

/// Returns why serving ended: the store's own error if there is one in it, else that of the pipe.
fn ended(error: io::Error) -> CliError {
    match error.downcast::<StoreError>() {
        Ok(error) => error.into(),
        Err(error) => CliError::output(error),
    }
}

async fn open(context: &Context, args: &RpcArgs) -> Result<OpenStore, CliError> {
    let settings = context.settings()?;
    let url = read_end(context, &settings, "STORE", &args.store)?;
    // With --read-only it serves what can be read; whatever would write is answered with an error.
    let access = if context.is_read_only(&settings, &url) { Access::Read } else { Access::Create };
    let adopt = if args.upgrade { Adopt::OldAtOpen } else { Adopt::OnFirstWrite };
    let mut store = context.open_adopting(&settings, &url, access, adopt).await?.reporting_when_closed(&context.ui);
    store.report();
    Ok(store)
}

async fn write_line(line: &str) -> io::Result<()> {
    let mut out = tokio::io::stdout();
    out.write_all(format!("{line}\n").as_bytes()).await?;
    out.flush().await
}

/// What comes in. A pipe is read where its requests are answered: to be woken by another thread takes as long as a short answer.
fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    match own_pipe(INPUT).and_then(|pipe| pipe::OpenOptions::new().open_receiver(pipe).ok()) {
        Some(pipe) => Box::new(pipe),
        None => Box::new(stdin()),
    }
}

/// Where answers go.
fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    match own_pipe(OUTPUT).and_then(|pipe| pipe::OpenOptions::new().open_sender(pipe).ok()) {
        Some(pipe) => Box::new(pipe),
        None => Box::new(tokio::io::stdout()),
    }
}

/// The place where a pipe that was given to us can be opened once more. What is read without waiting must not be shared: whoever else has
/// the same descriptor would no longer wait either. A pipe with a name may be without a writer, whose end could not be told.
fn own_pipe(descriptor: &'static str) -> Option<&'static Path> {
    let target = std::fs::read_link(descriptor).ok()?;
    target.to_str()?.starts_with("pipe:").then(|| Path::new(descriptor))
}

/// What comes in from elsewhere, read by a thread of its own: one that waits for more must not keep the process from ending.
pub(crate) fn stdin() -> DuplexStream {
    let (ours, mut theirs) = duplex(AHEAD);
    let runtime = Handle::current();
    std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match input.read(&mut buffer) {
                Ok(0) => break,
                Ok(size) => {
                    if runtime.block_on(theirs.write_all(&buffer[..size])).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
    ours
}

/// What asks it to end, besides the end of its input.
pub(crate) struct Stop {
    terminate: Signal,
    parent: u32,
    // A terminal sends these to all that run in it. The other program decides what they mean; until it ends, so does this one not.
    others: [Signal; 2],
}

impl Stop {
    pub(crate) fn watch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            parent: parent_id(),
            others: [signal(SignalKind::interrupt())?, signal(SignalKind::hangup())?],
        })
    }

    /// Ends when it is asked to end, or the program that started it is gone. Whatever is indexed when the store is closed is left to the next
    /// process then.
    pub(crate) async fn asked(mut self) {
        loop {
            match tokio::time::timeout(LOOK, self.terminate.recv()).await {
                Ok(_) => break,
                // Its input may be held open by others that the program started.
                Err(_) if parent_id() != self.parent => break,
                Err(_) => {}
            }
        }
        note_asked();
    }

    /// Ends as well when somebody at a terminal says so: for what a person started.
    pub(crate) async fn asked_or_interrupted(mut self) {
        let [interrupt, hangup] = &mut self.others;
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        note_asked();
    }
}
