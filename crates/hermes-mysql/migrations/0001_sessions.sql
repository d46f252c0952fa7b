-- Sessions, messages and values, with the agent's columns, and what we keep beside them.
--
-- Ids, keys and titles are bytes, so that they compare as such: every collation that both kinds of server know takes blanks at the end for nothing.
-- Times are seconds as doubles, bit by bit as they were given. No table refers to another by a foreign key: checking one takes locks that nobody asked
-- for. Each statement can be run again: a table is made at once, whatever comes of the statements behind it.

CREATE TABLE IF NOT EXISTS sessions (
    id VARBINARY(255) NOT NULL PRIMARY KEY,
    source LONGTEXT NOT NULL,
    user_id LONGTEXT,
    model LONGTEXT,
    model_config LONGTEXT,
    system_prompt LONGTEXT,
    parent_session_id VARBINARY(255),
    started_at DOUBLE NOT NULL,
    ended_at DOUBLE,
    end_reason LONGTEXT,
    message_count BIGINT NOT NULL DEFAULT 0,
    tool_call_count BIGINT NOT NULL DEFAULT 0,
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cache_read_tokens BIGINT NOT NULL DEFAULT 0,
    cache_write_tokens BIGINT NOT NULL DEFAULT 0,
    reasoning_tokens BIGINT NOT NULL DEFAULT 0,
    billing_provider LONGTEXT,
    billing_base_url LONGTEXT,
    billing_mode LONGTEXT,
    estimated_cost_usd DOUBLE,
    actual_cost_usd DOUBLE,
    cost_status LONGTEXT,
    cost_source LONGTEXT,
    pricing_version LONGTEXT,
    title VARBINARY(3000),
    api_call_count BIGINT NOT NULL DEFAULT 0,
    handoff_state VARBINARY(255),
    handoff_platform LONGTEXT,
    handoff_error LONGTEXT,
    KEY sessions_parent (parent_session_id),
    UNIQUE KEY sessions_title (title),
    KEY sessions_handoff (handoff_state)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS messages (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    role LONGTEXT NOT NULL,
    content LONGTEXT,
    -- text, json (structured, or text that can't be kept as such), bytes (in base64)
    content_kind VARCHAR(8) NOT NULL DEFAULT 'text',
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
    KEY messages_session (session_id, id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS state_meta (
    `key` VARBINARY(255) NOT NULL PRIMARY KEY,
    value LONGTEXT
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What a session is to others and what a list shows of it. `root` is the session that the conversation starts with; on its row `tip` is the
-- end of its chain and `active` the newest activity of the conversation.
CREATE TABLE IF NOT EXISTS hx_session (
    session_id VARBINARY(255) NOT NULL PRIMARY KEY,
    relation VARCHAR(32) NOT NULL,
    root VARBINARY(255) NOT NULL,
    tip VARBINARY(255) NOT NULL,
    started_at DOUBLE NOT NULL,
    last_active DOUBLE NOT NULL,
    active DOUBLE NOT NULL,
    preview TEXT NOT NULL,
    is_root BOOLEAN GENERATED ALWAYS AS (root = session_id) VIRTUAL,
    KEY hx_session_active (is_root, active, session_id),
    KEY hx_session_started (is_root, started_at, session_id),
    KEY hx_session_root (root)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS hx_request (
    request_key VARBINARY(255) NOT NULL PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    message_id BIGINT,
    fingerprint LONGTEXT NOT NULL,
    answer LONGTEXT NOT NULL,
    KEY hx_request_session (session_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Imports that are not whole yet: how many messages came, and the id of the last. Fewer than none: somebody makes a session of that id.
CREATE TABLE IF NOT EXISTS hx_arrival (
    session_id VARBINARY(255) NOT NULL PRIMARY KEY,
    messages BIGINT NOT NULL,
    last_message BIGINT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What is under way.
CREATE TABLE IF NOT EXISTS hx_state (
    `key` VARBINARY(255) NOT NULL PRIMARY KEY,
    value LONGTEXT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The last commit of each writer, so that one whose answer was lost can be told from one that never was.
CREATE TABLE IF NOT EXISTS hx_mark (
    writer VARBINARY(64) NOT NULL PRIMARY KEY,
    number BIGINT UNSIGNED NOT NULL,
    at DATETIME NOT NULL,
    KEY hx_mark_at (at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- What is had for oneself by locking its row.
CREATE TABLE IF NOT EXISTS hx_lock (
    name VARBINARY(16) NOT NULL PRIMARY KEY
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

INSERT INTO hx_lock (name) VALUES ('import'), ('kin') ON DUPLICATE KEY UPDATE name = name;
