//! `hermes sessiondb rpc`

use crate::clock;
use crate::context::{Access, Context, OpenStore};
use crate::error::CliError;
use crate::serving::{ServerStop, stdin};
use hermes_rpc::{ErrorType, Service, error_type, hello_of_failure};
use hermes_session::StoreError;
use hermes_store::Adopt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::net::unix::pipe;

/// Links that name the files behind stdin and stdout, on systems with `/proc`.
const INPUT: &str = "/proc/self/fd/0";
const OUTPUT: &str = "/proc/self/fd/1";

/// Serve the store to another program: requests and answers as JSON lines on stdin and stdout
#[derive(clap::Args)]
pub(crate) struct RpcArgs {
    /// Store: a path, a URL, `env:NAME` for the value of a variable, or `config` for the configured store
    #[arg(value_name = "STORE", default_value = "config")]
    store: String,
    /// Upgrade a file of schema 1 to 10 when it is opened, as the Python agent does, instead of at the first write
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
    let stop = ServerStop::watch().map_err(CliError::output)?;
    service.serve_until(input(), output(), stop.asked()).await.map_err(ended)
}

/// Returns the error that ended serving: that of the store if it contains one, else that of the pipe.
fn ended(error: io::Error) -> CliError {
    match error.downcast::<StoreError>() {
        Ok(error) => error.into(),
        Err(error) => CliError::output(error),
    }
}

async fn open(context: &Context, args: &RpcArgs) -> Result<OpenStore, CliError> {
    let url = context.named_url("STORE", &args.store)?;
    // With --read-only, reads are served and writes are answered with an error.
    let access = if context.workspace.is_read_only(&url)? { Access::Read } else { Access::Create };
    let adopt = if args.upgrade { Adopt::OldAtOpen } else { Adopt::OnFirstWrite };
    let mut store = context.open_adopting(&url, access, adopt).await?.reporting_when_closed(&context.ui);
    store.report();
    Ok(store)
}

async fn write_line(line: &str) -> io::Result<()> {
    let mut out = tokio::io::stdout();
    out.write_all(format!("{line}\n").as_bytes()).await?;
    out.flush().await
}

/// Returns the input. A pipe is read on the thread that answers its requests, because waking another thread takes as
/// long as a short answer.
fn input() -> Box<dyn AsyncRead + Send + Unpin> {
    match own_pipe(INPUT).map(|pipe| pipe::OpenOptions::new().open_receiver(pipe)) {
        Some(Ok(pipe)) => return Box::new(pipe),
        Some(Err(error)) => tracing::debug!(%error, "pipe of stdin not reopened; a thread reads it"),
        None => {}
    }
    Box::new(stdin())
}

/// Returns the output for answers.
fn output() -> Box<dyn AsyncWrite + Send + Unpin> {
    match own_pipe(OUTPUT).map(|pipe| pipe::OpenOptions::new().open_sender(pipe)) {
        Some(Ok(pipe)) => return Box::new(pipe),
        Some(Err(error)) => tracing::debug!(%error, "pipe of stdout not reopened; a thread writes it"),
        None => {}
    }
    Box::new(tokio::io::stdout())
}

/// Returns the path at which an anonymous pipe given to us can be opened once more. Non-blocking mode must not be set
/// on a shared descriptor: it would apply to every process that shares it. A named pipe is not reopened: it may have no
/// writer, and then its end could not be detected.
fn own_pipe(descriptor: &'static str) -> Option<&'static Path> {
    // Without `/proc`, threads read and write.
    let target = std::fs::read_link(descriptor).ok()?;
    target.to_str()?.starts_with("pipe:").then(|| Path::new(descriptor))
}
