-- What a gateway keeps beside the agent's columns of a handoff: it counts only as long as those have the same state.

CREATE TABLE IF NOT EXISTS hx_handoff (
    session_id VARBINARY(255) NOT NULL PRIMARY KEY,
    state VARCHAR(32) NOT NULL,
    requested_at DOUBLE,
    lease_until DOUBLE,
    claims BIGINT NOT NULL
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
