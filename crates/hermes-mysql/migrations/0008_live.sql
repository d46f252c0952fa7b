-- Leases, turns, mail, routes, undone messages and the feed of changes.
--
-- Times of leases and of changes are those of this server's clock; all others are the callers'. Each statement can be run again, see 0007.

-- One row per resource. token: 0 while nobody holds it. uses: raised by every write that relies on the lease, so that each of them is a write of
-- this row. session_id: the first session of the conversation, NULL for an account.
CREATE TABLE IF NOT EXISTS hx_lease (
    resource VARBINARY(400) NOT NULL PRIMARY KEY,
    session_id VARBINARY(255),
    token BIGINT NOT NULL,
    host VARBINARY(255) NOT NULL,
    process BIGINT NOT NULL,
    born VARBINARY(255) NOT NULL,
    label VARBINARY(255) NOT NULL,
    busy SMALLINT NOT NULL,
    taken_at DOUBLE NOT NULL,
    expires_at DOUBLE NOT NULL,
    uses BIGINT NOT NULL,
    KEY hx_lease_session (session_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Open turns. A conversation has at most one: whoever opens one raises hx_session.turns of its first session before.
CREATE TABLE IF NOT EXISTS hx_turn (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    kind VARCHAR(16) NOT NULL,
    route VARBINARY(1600),
    fence BIGINT,
    attempts BIGINT NOT NULL,
    opened_at DOUBLE NOT NULL,
    opened_by VARBINARY(255) NOT NULL,
    KEY hx_turn_session (session_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Messages from platforms. state: waiting, taken, done.
CREATE TABLE IF NOT EXISTS hx_inbox (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    account VARBINARY(255) NOT NULL,
    chat VARBINARY(255) NOT NULL,
    message_id VARBINARY(255) NOT NULL,
    route VARBINARY(1600),
    session_id VARBINARY(255),
    payload LONGTEXT NOT NULL,
    state VARCHAR(16) NOT NULL,
    turn BIGINT,
    stored_message BIGINT,
    attempts BIGINT NOT NULL,
    received_at DOUBLE NOT NULL,
    settled_at DOUBLE,
    UNIQUE KEY hx_inbox_message (account, chat, message_id),
    KEY hx_inbox_state (state, id),
    KEY hx_inbox_turn (turn),
    KEY hx_inbox_session (session_id),
    KEY hx_inbox_settled (settled_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The position from which the platform of an account continues.
CREATE TABLE IF NOT EXISTS hx_cursor (
    account VARBINARY(255) NOT NULL PRIMARY KEY,
    value LONGTEXT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Parts of replies. state: waiting, sending, sent, refused, given_up.
CREATE TABLE IF NOT EXISTS hx_outbox (
    id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    turn BIGINT,
    session_id VARBINARY(255),
    account VARBINARY(255) NOT NULL,
    destination VARBINARY(255) NOT NULL,
    part BIGINT NOT NULL,
    parts BIGINT NOT NULL,
    body LONGTEXT NOT NULL,
    plain LONGTEXT,
    nonce VARBINARY(255) NOT NULL,
    state VARCHAR(16) NOT NULL,
    attempts BIGINT NOT NULL,
    doubtful SMALLINT NOT NULL,
    not_before DOUBLE,
    holder LONGTEXT,
    platform_id VARBINARY(255),
    last_error LONGTEXT,
    created_at DOUBLE NOT NULL,
    settled_at DOUBLE,
    KEY hx_outbox_due (account, state, destination, id),
    KEY hx_outbox_session (session_id),
    KEY hx_outbox_turn (turn),
    KEY hx_outbox_settled (settled_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The session that the messages of a place belong to. route_key: the place, each value with its length before it.
CREATE TABLE IF NOT EXISTS hx_route (
    route_key VARBINARY(1600) NOT NULL PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    generation BIGINT NOT NULL,
    session_key LONGTEXT NOT NULL,
    source LONGTEXT,
    display_name LONGTEXT,
    created_at DOUBLE NOT NULL,
    touched_at DOUBLE NOT NULL,
    suspended SMALLINT NOT NULL,
    notice LONGTEXT,
    last_prompt_tokens BIGINT,
    KEY hx_route_session (session_id)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS hx_route_alias (
    old_key VARBINARY(1600) NOT NULL PRIMARY KEY,
    route_key VARBINARY(1600) NOT NULL,
    KEY hx_route_alias_key (route_key)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- When each undone message was undone, and with which others. The messages stay where they are, with active = 0 and compacted = 0.
CREATE TABLE IF NOT EXISTS hx_undone (
    message_id BIGINT NOT NULL PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    batch BIGINT NOT NULL,
    undone_at DOUBLE NOT NULL,
    KEY hx_undone_session (session_id, batch)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- The sessions that each transaction changed. kinds: bits. Rows are kept for a day.
CREATE TABLE IF NOT EXISTS hx_change (
    seq BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    kinds BIGINT NOT NULL,
    at DOUBLE NOT NULL,
    KEY hx_change_at (at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
-- The name of this feed, and the number up to which its rows were deleted.
INSERT INTO hx_state (`key`, value) VALUES ('feed', md5(concat(uuid(), rand()))), ('feed_start', '0') ON DUPLICATE KEY UPDATE `key` = `key`;

-- The undone messages of conversations in the trash. place: the position of a message in its session.
CREATE TABLE IF NOT EXISTS hx_trash_undone (
    number BIGINT NOT NULL,
    session_id VARBINARY(255) NOT NULL,
    place BIGINT NOT NULL,
    batch BIGINT NOT NULL,
    undone_at DOUBLE NOT NULL,
    PRIMARY KEY (number, session_id, place)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- cause: of a reset, beside the end reason. turns: raised with each turn of the conversation that starts here.
ALTER TABLE hx_session
    ADD COLUMN cause VARCHAR(16),
    ADD COLUMN turns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hx_handoff
    ADD COLUMN expires_at DOUBLE,
    ADD COLUMN claimed_by LONGTEXT,
    ADD COLUMN destination VARBINARY(255),
    ADD COLUMN thread VARBINARY(255),
    ADD COLUMN turn BIGINT,
    ADD COLUMN synthetic_from BIGINT;
ALTER TABLE hx_trash_session ADD COLUMN cause VARCHAR(16);
