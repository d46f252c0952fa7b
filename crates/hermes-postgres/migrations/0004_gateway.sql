-- What a gateway keeps beside the agent's columns of a handoff: it counts only as long as those have the same state.

CREATE TABLE hx_handoff (
    session_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    requested_at DOUBLE PRECISION,
    lease_until DOUBLE PRECISION,
    claims BIGINT NOT NULL
);
