//! The server: its description, and the dispatch of requests to tools and resources.

use crate::calls;
use crate::resources;
use crate::tools::Call;
use hermes_recall::Reader;
use hermes_session::{ListRequest, PageRequest, Scope, SessionId, Source, Store, StoreError, Timestamp, quoted, scope};
use jiff::tz::TimeZone;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of conversations on a page of resources.
const PAGE: u32 = 50;
/// Maximum length of a transcript that is returned at once, in characters.
const TRANSCRIPT: usize = 1_000_000;

/// Scope of the conversations that a client may see.
#[derive(Clone)]
pub enum Whose {
    /// Those within a scope.
    Within(Scope),
    /// Those of a chat; its scope is determined at each call.
    Chat {
        /// The platform.
        source: Source,
        /// The chat.
        chat_id: String,
        /// Returns the sessions that the gateway routes to the chat.
        known: Arc<dyn Fn() -> Vec<SessionId> + Send + Sync>,
    },
}

/// Options of a server.
#[derive(Clone)]
pub struct Options {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Scope that clients are limited to.
    pub whose: Whose,
    /// Whether tools that change something are offered.
    pub writes: bool,
    /// Returns the current time.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    /// Time zone in which times are printed, and those without an offset are read.
    pub zone: TimeZone,
    /// How long a search may take.
    pub timeout: Duration,
    /// The version that is reported to clients.
    pub version: &'static str,
}

/// An MCP server on a store.
#[derive(Clone)]
pub struct Server {
    options: Arc<Options>,
}

impl Server {
    /// Creates a server; [`serve_stdio`](crate::serve_stdio) and [`serve_http`](crate::serve_http) run it.
    pub fn new(options: Options) -> Self {
        Self { options: Arc::new(options) }
    }

    /// Returns a reader limited to what clients may see now.
    async fn reader(&self) -> Result<Reader, StoreError> {
        let scope = match &self.options.whose {
            Whose::Within(scope) => scope.clone(),
            Whose::Chat { source, chat_id, known } => {
                scope::of_chat(&*self.options.store, source, chat_id, known()).await?
            }
        };
        Ok(Reader::new(Arc::clone(&self.options.store), scope))
    }
}

/// Converts an error of the store to an error of the protocol.
fn failed(error: StoreError) -> ErrorData {
    tracing::debug!(error = error.kind(), "request failed");
    let text = format!("{error} ({})", hermes_recall::hints::of(&error));
    match error {
        StoreError::NotFound(_) => ErrorData::resource_not_found(text, None),
        StoreError::Invalid(_) => ErrorData::invalid_params(text, None),
        _ => ErrorData::internal_error(text, None),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let instructions = "Past conversations with this agent. When somebody speaks of something from an earlier conversation, or it may have come up \
                            before, call session_search before you ask them to say it again; read_conversation tells more of what it finds.";
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("hermes-sessions", self.options.version))
            .with_instructions(instructions)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let text = format!("unknown method {}", quoted(&request.method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let allowed = Call::ALL.into_iter().filter(|call| self.options.writes || !call.changes());
        Ok(ListToolsResult::with_all_items(allowed.map(Call::tool).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        Call::named(name, self.options.writes).map(Call::tool)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(call) = Call::named(&request.name, self.options.writes) else {
            return Err(ErrorData::invalid_params(format!("there is no tool {}", quoted(&request.name)), None));
        };
        let start = Instant::now();
        let reader = self.reader().await.map_err(failed)?;
        let text = |value: serde_json::Value| vec![ContentBlock::text(value.to_string())];
        let outcome = calls::run(&self.options, &reader, call, request.arguments).await;
        tracing::debug!(tool = call.name(), took = ?start.elapsed(), is_ok = outcome.is_ok(), "tool called");
        Ok(match outcome {
            Ok(answer) => CallToolResult::success(text(answer)).into(),
            Err(told) => CallToolResult::error(text(told)).into(),
        })
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor).unwrap_or_else(|| "0".into());
        let offset: u32 = cursor.parse().map_err(|_| ErrorData::invalid_params("the cursor is none of ours", None))?;
        let page = PageRequest::new(i64::from(PAGE), i64::from(offset)).map_err(|error| failed(error.into()))?;
        let reader = self.reader().await.map_err(failed)?;
        let listing = reader.list(&ListRequest { page, ..ListRequest::default() }).await.map_err(failed)?;
        tracing::debug!(offset, rows = listing.rows.len(), "resources listed");
        let resource = |row: &hermes_session::SessionSummary| {
            let name = row.title.clone().unwrap_or_else(|| row.preview.clone());
            let name = if name.is_empty() { row.id.to_string() } else { name };
            let described = format!("{}, {} messages", row.source, row.messages);
            Resource::new(resources::address(&row.id), name).with_description(described).with_mime_type("text/plain")
        };
        let mut result = ListResourcesResult::with_all_items(listing.rows.iter().map(resource).collect());
        result.next_cursor = listing.next.map(|_| (offset + PAGE).to_string());
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new(resources::TEMPLATE, "conversation")
            .with_description("The transcript of a conversation, by the id of any of its sessions")
            .with_mime_type("text/plain");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let unknown = || ErrorData::resource_not_found(format!("there is no resource {}", quoted(&request.uri)), None);
        let session = resources::session(&request.uri).ok_or_else(unknown)?;
        let reader = self.reader().await.map_err(failed)?;
        let start = Instant::now();
        let text = reader.transcript(&session, TRANSCRIPT).await.map_err(failed)?;
        tracing::debug!(session = ?session.as_str(), took = ?start.elapsed(), "transcript read");
        let contents = ResourceContents::text(text, request.uri.clone()).with_mime_type("text/plain");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
