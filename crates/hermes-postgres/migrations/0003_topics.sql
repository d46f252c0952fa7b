-- The agent's chat topics.

CREATE TABLE telegram_dm_topic_mode (
    chat_id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL,
    enabled BIGINT NOT NULL DEFAULT 1,
    activated_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    has_topics_enabled BIGINT,
    allows_users_to_create_topics BIGINT,
    capability_checked_at DOUBLE PRECISION,
    intro_message_id TEXT,
    pinned_message_id TEXT
);
CREATE TABLE telegram_dm_topic_bindings (
    chat_id TEXT COLLATE "C" NOT NULL,
    thread_id TEXT COLLATE "C" NOT NULL,
    user_id TEXT NOT NULL,
    session_key TEXT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    managed_mode TEXT NOT NULL DEFAULT 'auto',
    linked_at DOUBLE PRECISION NOT NULL,
    updated_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (chat_id, thread_id)
);
CREATE UNIQUE INDEX telegram_dm_topic_bindings_session ON telegram_dm_topic_bindings (session_id);
CREATE INDEX telegram_dm_topic_bindings_user ON telegram_dm_topic_bindings (user_id, chat_id);
