-- Leases, turns, mail, routes, undone messages and the feed of changes.
--
-- Times of leases and of changes are those of this server's clock; all others are the callers'.

-- One row per resource. token: 0 while nobody holds it. uses: raised by every write that relies on the lease, so that each of them is a write of
-- this row. session_id: the first session of the conversation, NULL for an account.
CREATE TABLE hx_lease (
    resource TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C",
    token BIGINT NOT NULL,
    host TEXT NOT NULL,
    process BIGINT NOT NULL,
    born TEXT NOT NULL,
    label TEXT NOT NULL,
    busy SMALLINT NOT NULL,
    taken_at DOUBLE PRECISION NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL,
    uses BIGINT NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX hx_lease_session ON hx_lease (session_id) WHERE session_id IS NOT NULL;

-- Open turns. A conversation has at most one: whoever opens one raises hx_session.turns of its first session before.
CREATE TABLE hx_turn (
    id BIGSERIAL NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    kind TEXT NOT NULL,
    route TEXT COLLATE "C",
    fence BIGINT,
    attempts BIGINT NOT NULL,
    opened_at DOUBLE PRECISION NOT NULL,
    opened_by TEXT NOT NULL
);
CREATE INDEX hx_turn_session ON hx_turn (session_id);

-- Messages from platforms. state: waiting, taken, done.
CREATE TABLE hx_inbox (
    id BIGSERIAL NOT NULL PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    chat TEXT COLLATE "C" NOT NULL,
    message_id TEXT COLLATE "C" NOT NULL,
    route TEXT COLLATE "C",
    session_id TEXT COLLATE "C",
    payload TEXT NOT NULL,
    state TEXT NOT NULL,
    turn BIGINT,
    stored_message BIGINT,
    attempts BIGINT NOT NULL,
    received_at DOUBLE PRECISION NOT NULL,
    settled_at DOUBLE PRECISION,
    UNIQUE (account, chat, message_id)
);
CREATE INDEX hx_inbox_state ON hx_inbox (state, id);
CREATE INDEX hx_inbox_turn ON hx_inbox (turn);
CREATE INDEX hx_inbox_session ON hx_inbox (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX hx_inbox_settled ON hx_inbox (settled_at) WHERE settled_at IS NOT NULL;

-- The position from which the platform of an account continues.
CREATE TABLE hx_cursor (
    account TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
);

-- Parts of replies. state: waiting, sending, sent, refused, given_up.
CREATE TABLE hx_outbox (
    id BIGSERIAL NOT NULL PRIMARY KEY,
    turn BIGINT,
    session_id TEXT COLLATE "C",
    account TEXT COLLATE "C" NOT NULL,
    destination TEXT COLLATE "C" NOT NULL,
    part BIGINT NOT NULL,
    parts BIGINT NOT NULL,
    body TEXT NOT NULL,
    plain TEXT,
    nonce TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts BIGINT NOT NULL,
    doubtful SMALLINT NOT NULL,
    not_before DOUBLE PRECISION,
    holder TEXT,
    platform_id TEXT,
    last_error TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    settled_at DOUBLE PRECISION
);
CREATE INDEX hx_outbox_due ON hx_outbox (account, state, destination, id);
CREATE INDEX hx_outbox_session ON hx_outbox (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX hx_outbox_turn ON hx_outbox (turn) WHERE turn IS NOT NULL;
CREATE INDEX hx_outbox_settled ON hx_outbox (settled_at) WHERE settled_at IS NOT NULL;

-- The session that the messages of a place belong to. route_key: the place, each value with its length before it.
CREATE TABLE hx_route (
    route_key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    generation BIGINT NOT NULL,
    session_key TEXT NOT NULL,
    source TEXT,
    display_name TEXT,
    created_at DOUBLE PRECISION NOT NULL,
    touched_at DOUBLE PRECISION NOT NULL,
    suspended SMALLINT NOT NULL,
    notice TEXT,
    last_prompt_tokens BIGINT
);
CREATE INDEX hx_route_session ON hx_route (session_id);
CREATE TABLE hx_route_alias (
    old_key TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    route_key TEXT COLLATE "C" NOT NULL
);
CREATE INDEX hx_route_alias_key ON hx_route_alias (route_key);

-- When each undone message was undone, and with which others. The messages stay where they are, with active = 0 and compacted = 0.
CREATE TABLE hx_undone (
    message_id BIGINT NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    batch BIGINT NOT NULL,
    undone_at DOUBLE PRECISION NOT NULL
);
CREATE INDEX hx_undone_session ON hx_undone (session_id, batch);

-- The sessions that each transaction changed. kinds: bits. Rows are kept for a day.
CREATE TABLE hx_change (
    seq BIGSERIAL NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    kinds BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL DEFAULT extract(epoch FROM clock_timestamp())::float8
);
CREATE INDEX hx_change_at ON hx_change (at);
-- The name of this feed, and the number up to which its rows were deleted.
INSERT INTO hx_state (key, value) VALUES ('feed', md5(random()::text || clock_timestamp()::text)), ('feed_start', '0');

-- The undone messages of conversations in the trash. place: the position of a message in its session.
CREATE TABLE hx_trash_undone (
    number BIGINT NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    place BIGINT NOT NULL,
    batch BIGINT NOT NULL,
    undone_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (number, session_id, place)
);

-- cause: of a reset, beside the end reason. turns: raised with each turn of the conversation that starts here.
ALTER TABLE hx_session
    ADD COLUMN cause TEXT,
    ADD COLUMN turns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE hx_handoff
    ADD COLUMN expires_at DOUBLE PRECISION,
    ADD COLUMN claimed_by TEXT,
    ADD COLUMN destination TEXT,
    ADD COLUMN thread TEXT,
    ADD COLUMN turn BIGINT,
    ADD COLUMN synthetic_from BIGINT;
ALTER TABLE hx_trash_session ADD COLUMN cause TEXT;
