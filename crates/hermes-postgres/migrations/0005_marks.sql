-- Pins and tags, kept with the session that a conversation starts with.

CREATE TABLE hx_pin (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    pinned_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE hx_tag (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    tag TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, tag)
);
CREATE INDEX hx_tag_tag ON hx_tag (tag, session_id);
