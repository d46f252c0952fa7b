-- The agent's chat topics.

CREATE TABLE IF NOT EXISTS telegram_dm_topic_mode (
    chat_id VARBINARY(255) NOT NULL PRIMARY KEY,
    user_id VARBINARY(255) NOT NULL,
    enabled BIGINT NOT NULL DEFAULT 1,
    activated_at DOUBLE NOT NULL,
    updated_at DOUBLE NOT NULL,
    has_topics_enabled BIGINT,
    allows_users_to_create_topics BIGINT,
    capability_checked_at DOUBLE,
    intro_message_id LONGTEXT,
    pinned_message_id LONGTEXT
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS telegram_dm_topic_bindings (
    chat_id VARBINARY(255) NOT NULL,
    thread_id VARBINARY(255) NOT NULL,
    user_id VARBINARY(255) NOT NULL,
    session_key LONGTEXT NOT NULL,
    session_id VARBINARY(255) NOT NULL,
    managed_mode LONGTEXT NOT NULL,
    linked_at DOUBLE NOT NULL,
    updated_at DOUBLE NOT NULL,
    PRIMARY KEY (chat_id, thread_id),
    UNIQUE KEY telegram_dm_topic_bindings_session (session_id),
    KEY telegram_dm_topic_bindings_user (user_id, chat_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
