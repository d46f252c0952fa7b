//! `hermes mcp`

mod chat;

use crate::clock;
use crate::context::{Context, Opened};
use crate::error::{CliError, Kind};
use crate::serving::{ServerStop, stdin};
use crate::stop::is_interrupted;
use hermes_config::env;
use hermes_mcp::{Options, Server, Whose, new_token, serve_http, serve_stdio};
use hermes_session::{Invalid, Scope, Source, quoted};
use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// The number of the signal that Ctrl-C sends.
const SIGINT: u8 = 2;
/// Minimum length of a token from the environment.
const SHORTEST: usize = 16;

/// Serve past conversations to agents over the Model Context Protocol (MCP), on stdin and stdout or over HTTP
///
/// One of --all, --source, --user and --chat is required; clients see no other conversations. Clients can only read,
/// unless --write is given.
#[derive(clap::Args, Debug, Default)]
#[command(group(clap::ArgGroup::new("scope").required(true).multiple(true).args(["all", "source", "user", "chat"])))]
pub(crate) struct McpArgs {
    /// Serve all conversations
    #[arg(long, conflicts_with_all = ["source", "user", "chat"])]
    all: bool,
    /// Only conversations from this source, such as cli or telegram
    #[arg(long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only conversations of this user; with --source, of the user with this id on that platform
    #[arg(long, value_name = "USER")]
    user: Option<String>,
    /// Only conversations of this chat, including its topics and those that the gateway routes there
    #[arg(long, value_name = "PLATFORM:CHAT", conflicts_with_all = ["source", "user"])]
    chat: Option<String>,
    /// Allow clients to rename conversations and add notes
    #[arg(long)]
    write: bool,
    /// Serve over HTTP on this machine; the token is $HERMES_MCP_TOKEN, or a new one that is printed
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765")]
    http: Option<String>,
}

impl McpArgs {
    /// Returns the requested scope, or the chat.
    fn whose(&self) -> Result<Asked, Invalid> {
        let source = self.source.as_deref().map(Source::parse).transpose()?;
        if let Some(chat) = &self.chat {
            let odd = || Invalid::new("--chat", format!("{} is not a chat", quoted(chat)), "give telegram:123456");
            let (platform, id) = chat.split_once(':').filter(|(_, id)| !id.is_empty()).ok_or_else(odd)?;
            return Ok(Asked::Chat(Source::parse(platform)?, id.to_owned()));
        }
        Ok(Asked::Scope(match (&self.user, source) {
            (Some(user_id), source) => Scope::User { user_id: user_id.clone(), source },
            (None, Some(source)) => Scope::Source(source),
            (None, None) => Scope::All,
        }))
    }

    /// Returns the address to listen on, if one was requested. Addresses that other machines can reach are refused.
    fn address(&self) -> Result<Option<SocketAddr>, Invalid> {
        let Some(text) = &self.http else { return Ok(None) };
        let hint = "give an address of this machine: 127.0.0.1:8765, [::1]:8765, or 127.0.0.1:0 for a free port";
        let address: SocketAddr =
            text.parse().map_err(|_| Invalid::new("--http", format!("{} is not an address", quoted(text)), hint))?;
        if !address.ip().is_loopback() {
            return Err(Invalid::new("--http", format!("{address} can be reached from other machines"), hint));
        }
        Ok(Some(address))
    }
}

#[derive(Debug, PartialEq)]
enum Asked {
    Scope(Scope),
    Chat(Source, String),
}

pub(crate) async fn run(context: &Context, args: McpArgs) -> Result<(), CliError> {
    let asked = args.whose().map_err(CliError::usage)?;
    let address = args.address().map_err(CliError::usage)?;
    let opened = if args.write { context.open_for_writing().await? } else { context.open_for_reading().await? };
    let Opened { store, url, settings } = opened;
    let whose = match asked {
        Asked::Scope(scope) => Whose::Within(scope),
        Asked::Chat(source, chat_id) => {
            let routes = chat::Routes::of(&settings, &url);
            let (platform, chat) = (source.to_string(), chat_id.clone());
            let known = move || routes.as_ref().map_or_else(Vec::new, |routes| routes.sessions(&platform, &chat));
            Whose::Chat { source, chat_id, known: Arc::new(known) }
        }
    };
    let server = Server::new(Options {
        store: store.shared(),
        whose,
        writes: args.write,
        clock: Arc::new(|| clock::now().at),
        zone: context.now.zone.clone(),
        timeout: Duration::from_millis(settings.search.timeout_ms.value),
        version: env!("CARGO_PKG_VERSION"),
    });
    let stop = ServerStop::watch().map_err(CliError::output)?;
    match address {
        None if std::io::stdin().is_terminal() => at_terminal(context, server, stop).await,
        None => serve_stdio(server, stdin(), tokio::io::stdout(), stop.asked()).await.map_err(CliError::output),
        Some(address) => over_http(context, server, address, stop).await,
    }
}

/// Serves a person at a terminal: prints what is served, and ends on Ctrl-C.
async fn at_terminal(context: &Context, server: Server, stop: ServerStop) -> Result<(), CliError> {
    context.ui.note("serving past conversations over MCP (JSON lines on stdin and stdout); Ctrl-C or Ctrl-D ends it");
    serve_stdio(server, stdin(), tokio::io::stdout(), stop.asked_at_terminal()).await.map_err(CliError::output)?;
    if is_interrupted() {
        let hint = "MCP clients start this command themselves: see docs/mcp.md for their configuration";
        return Err(CliError::stopped(SIGINT, "interrupted", hint));
    }
    Ok(())
}

async fn over_http(context: &Context, server: Server, address: SocketAddr, stop: ServerStop) -> Result<(), CliError> {
    let given = context.environment().text(env::HERMES_MCP_TOKEN)?;
    if given.is_some_and(|token| token.len() < SHORTEST) {
        let text = format!("{} is shorter than {SHORTEST} characters", env::HERMES_MCP_TOKEN);
        return Err(CliError::new(Kind::User, text, "give a longer one, or none: one is made then"));
    }
    let busy =
        |error| CliError::new(Kind::User, error, format!("is {address} free? --http 127.0.0.1:0 takes any free port"));
    let listener = TcpListener::bind(address).await.map_err(busy)?;
    let address = listener.local_addr().map_err(CliError::output)?;
    context.ui.note(&format!("serving http://{address}/mcp"));
    let token = given.map_or_else(new_token, str::to_owned);
    if given.is_none() {
        context.ui.note(&format!("clients show this header: Authorization: Bearer {token}"));
    }
    serve_http(server, listener, token, stop.asked_or_interrupted()).await.map_err(CliError::output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_is_what_was_said() {
        let source = || Source::parse("telegram").unwrap();
        let args = |source: Option<&str>, user: Option<&str>, chat: Option<&str>| McpArgs {
            source: source.map(str::to_owned),
            user: user.map(str::to_owned),
            chat: chat.map(str::to_owned),
            ..McpArgs::default()
        };
        let user = |source| Asked::Scope(Scope::User { user_id: "7".into(), source });
        let table = [
            (args(None, None, None), Asked::Scope(Scope::All)),
            (args(Some("telegram"), None, None), Asked::Scope(Scope::Source(source()))),
            (args(None, Some("7"), None), user(None)),
            (args(Some("telegram"), Some("7"), None), user(Some(source()))),
            (args(None, None, Some("telegram:-100:7")), Asked::Chat(source(), "-100:7".into())),
        ];
        for (args, expect) in table {
            assert_eq!(args.whose().unwrap(), expect, "{args:?}");
        }
        for odd in ["telegram", "telegram:", ":7"] {
            assert!(args(None, None, Some(odd)).whose().is_err(), "{odd}");
        }
    }

    #[test]
    fn nobody_else_can_come() {
        let address = |text: &str| McpArgs { http: Some(text.into()), ..McpArgs::default() }.address();
        for good in ["127.0.0.1:0", "127.0.0.1:8765", "[::1]:1"] {
            assert!(address(good).unwrap().is_some(), "{good}");
        }
        for bad in ["0.0.0.0:8765", "192.168.1.2:80", "[::]:8765", "localhost:80", "8765", ""] {
            assert!(address(bad).is_err(), "{bad}");
        }
    }
}
