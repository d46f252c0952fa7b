-- Conversations that were deleted and can come back for a while. No other table refers to them, and no other statement reads them.
-- What is added to sessions or messages is to be added here as well.
-- Each statement can be run again.

CREATE TABLE IF NOT EXISTS hx_trash (
    number BIGINT NOT NULL PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    title VARBINARY(3000),
    source LONGTEXT NOT NULL,
    deleted_at DOUBLE NOT NULL,
    kept_until DOUBLE NOT NULL,
    sessions BIGINT NOT NULL,
    messages BIGINT NOT NULL,
    pinned_at DOUBLE,
    tags VARCHAR(4000) NOT NULL DEFAULT ''
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- place: parents come before children.
CREATE TABLE IF NOT EXISTS hx_trash_session (
    number BIGINT NOT NULL,
    place BIGINT NOT NULL,
    relation VARCHAR(32) NOT NULL,
    id VARBINARY(255) NOT NULL,
    source LONGTEXT NOT NULL,
    user_id LONGTEXT,
    model LONGTEXT,
    model_config LONGTEXT,
    system_prompt LONGTEXT,
    parent_session_id VARBINARY(255),
    started_at DOUBLE NOT NULL,
    ended_at DOUBLE,
    end_reason LONGTEXT,
    message_count BIGINT NOT NULL,
    tool_call_count BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cache_read_tokens BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    reasoning_tokens BIGINT NOT NULL,
    billing_provider LONGTEXT,
    billing_base_url LONGTEXT,
    billing_mode LONGTEXT,
    estimated_cost_usd DOUBLE,
    actual_cost_usd DOUBLE,
    cost_status LONGTEXT,
    cost_source LONGTEXT,
    pricing_version LONGTEXT,
    title VARBINARY(3000),
    api_call_count BIGINT NOT NULL,
    handoff_state VARBINARY(255),
    handoff_platform LONGTEXT,
    handoff_error LONGTEXT,
    PRIMARY KEY (number, place),
    KEY hx_trash_session_id (id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS hx_trash_message (
    number BIGINT NOT NULL,
    id BIGINT NOT NULL,
    session_id VARBINARY(255) NOT NULL,
    role LONGTEXT NOT NULL,
    content LONGTEXT,
    content_kind VARCHAR(8) NOT NULL,
    tool_call_id LONGTEXT,
    tool_calls LONGTEXT,
    tool_name LONGTEXT,
    timestamp DOUBLE NOT NULL,
    token_count BIGINT,
    finish_reason LONGTEXT,
    reasoning LONGTEXT,
    reasoning_content LONGTEXT,
    reasoning_details LONGTEXT,
    codex_reasoning_items LONGTEXT,
    codex_message_items LONGTEXT,
    PRIMARY KEY (number, session_id, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
