-- Conversations that were deleted and can come back for a while. No other table refers to them, and no other statement reads them.
-- What is added to sessions or messages is to be added here as well.

CREATE TABLE hx_trash (
    number BIGINT NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    title TEXT,
    source TEXT NOT NULL,
    deleted_at DOUBLE PRECISION NOT NULL,
    kept_until DOUBLE PRECISION NOT NULL,
    sessions BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    pinned_at DOUBLE PRECISION,
    tags TEXT NOT NULL DEFAULT ''
);

-- place: parents come before children.
CREATE TABLE hx_trash_session (
    number BIGINT NOT NULL,
    place BIGINT NOT NULL,
    relation TEXT NOT NULL,
    id TEXT COLLATE "C" NOT NULL,
    source TEXT NOT NULL,
    user_id TEXT,
    model TEXT,
    model_config TEXT,
    system_prompt TEXT,
    parent_session_id TEXT COLLATE "C",
    started_at DOUBLE PRECISION NOT NULL,
    ended_at DOUBLE PRECISION,
    end_reason TEXT,
    message_count BIGINT NOT NULL,
    tool_call_count BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    billing_provider TEXT,
    billing_base_url TEXT,
    billing_mode TEXT,
    estimated_cost_usd DOUBLE PRECISION,
    actual_cost_usd DOUBLE PRECISION,
    cost_status TEXT,
    cost_source TEXT,
    pricing_version TEXT,
    title TEXT COLLATE "C",
    api_call_count BIGINT NOT NULL,
    handoff_state TEXT,
    handoff_platform TEXT,
    handoff_error TEXT,
    PRIMARY KEY (number, place)
);
CREATE INDEX hx_trash_session_id ON hx_trash_session (id);

CREATE TABLE hx_trash_message (
    number BIGINT NOT NULL,
    id BIGINT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    role TEXT NOT NULL,
    content TEXT,
    content_kind TEXT NOT NULL,
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
    codex_message_items TEXT,
    PRIMARY KEY (number, session_id, id)
);
