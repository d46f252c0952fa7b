-- Sessions, messages and values, with the agent's columns, and what we keep beside them.
--
-- Ids and titles compare byte by byte, whatever the database's locale is. Times are seconds as doubles, bit by bit as they were given.

CREATE TABLE sessions (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    source TEXT NOT NULL,
    user_id TEXT,
    model TEXT,
    model_config TEXT,
    system_prompt TEXT,
    parent_session_id TEXT COLLATE "C" REFERENCES sessions (id),
    started_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    end_reason TEXT,
    message_count BIGINT NOT NULL DEFAULT 0,
    tool_call_count BIGINT NOT NULL DEFAULT 0,
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cache_read_tokens BIGINT NOT NULL DEFAULT 0,
    cache_write_tokens BIGINT NOT NULL DEFAULT 0,
    reasoning_tokens BIGINT NOT NULL DEFAULT 0,
    billing_provider TEXT,
    billing_base_url TEXT,
    billing_mode TEXT,
    estimated_cost_usd DOUBLE PRECISION,
    actual_cost_usd DOUBLE PRECISION,
    cost_status TEXT,
    cost_source TEXT,
    pricing_version TEXT,
    title TEXT COLLATE "C",
    api_call_count BIGINT NOT NULL DEFAULT 0,
    handoff_state TEXT,
    handoff_platform TEXT,
    handoff_error TEXT
-- Counters move with every message: room on each page lets a row stay where it is.
) WITH (fillfactor = 80);
CREATE INDEX sessions_parent ON sessions (parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE UNIQUE INDEX sessions_title ON sessions (title) WHERE title IS NOT NULL;
CREATE INDEX sessions_handoff ON sessions (handoff_state) WHERE handoff_state IS NOT NULL;

-- No foreign key to sessions: an import puts messages before the session that they make visible.
CREATE TABLE messages (
    id BIGSERIAL NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    content TEXT,
    -- text, json (structured, or text that can't be kept as such), bytes (in base64)
    content_kind TEXT NOT NULL DEFAULT 'text',
    tool_call_id TEXT,
    tool_calls TEXT,
    tool_name TEXT,
    timestamp DOUBLE PRECISION NOT NULL,
    token_count BIGINT,
    finish_reason TEXT,
    reasoning TEXT,
    reasoning_content TEXT,
    reasoning_details TEXT,
    codex_reasoning_items TEXT,
    codex_message_items TEXT
);
CREATE INDEX messages_session ON messages (session_id, id);

CREATE TABLE state_meta (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT
);

-- What a session is to others and what a list shows of it. `root` is the session that the conversation starts with; on its row `tip` is the
-- end of its chain and `active` the newest activity of the conversation.
CREATE TABLE hx_session (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    root TEXT COLLATE "C" NOT NULL,
    tip TEXT COLLATE "C" NOT NULL,
    started_at DOUBLE PRECISION NOT NULL,
    last_active DOUBLE PRECISION NOT NULL,
    active DOUBLE PRECISION NOT NULL,
    preview TEXT NOT NULL DEFAULT ''
) WITH (fillfactor = 80);
CREATE INDEX hx_session_active ON hx_session (active DESC, session_id DESC) WHERE root = session_id;
CREATE INDEX hx_session_started ON hx_session (started_at DESC, session_id DESC) WHERE root = session_id;
CREATE INDEX hx_session_root ON hx_session (root);

CREATE TABLE hx_request (
    request_key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    message_id BIGINT,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL
);
CREATE INDEX hx_request_session ON hx_request (session_id);

-- Imports that are not whole yet: how many messages came, and the id of the last.
CREATE TABLE hx_arrival (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    messages BIGINT NOT NULL,
    last_message BIGINT NOT NULL
);

-- What is under way.
CREATE TABLE hx_state (
    key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);
