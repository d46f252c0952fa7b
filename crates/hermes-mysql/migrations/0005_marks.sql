-- Pins and tags, kept with the session that a conversation starts with.

CREATE TABLE IF NOT EXISTS hx_pin (
    session_id VARBINARY(255) NOT NULL PRIMARY KEY,
    pinned_at DOUBLE NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

CREATE TABLE IF NOT EXISTS hx_tag (
    session_id VARBINARY(255) NOT NULL,
    tag VARBINARY(255) NOT NULL,
    PRIMARY KEY (session_id, tag),
    KEY hx_tag_tag (tag, session_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
