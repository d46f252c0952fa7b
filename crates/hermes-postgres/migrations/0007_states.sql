-- Message states, archived sessions, and columns of newer agents that no other column here stands for.
--
-- active and compacted mean what they mean in the agent's own table: 1, 0 is a message of the transcript; 0, 1 one that was summarized by a compaction, not
-- replayed and found by search; 0, 0 one that was taken back, neither replayed nor found (it has no row in hx_search).
-- extra is a JSON object by column name, NULL if there is nothing to keep.

-- Sessions first: calls lock a session before its messages, and the other order could deadlock with them.
ALTER TABLE sessions
    ADD COLUMN archived SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN extra TEXT;
ALTER TABLE messages
    ADD COLUMN active SMALLINT NOT NULL DEFAULT 1,
    ADD COLUMN compacted SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN extra TEXT;
ALTER TABLE hx_trash_message
    ADD COLUMN active SMALLINT NOT NULL DEFAULT 1,
    ADD COLUMN compacted SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN extra TEXT;
ALTER TABLE hx_trash_session
    ADD COLUMN archived SMALLINT NOT NULL DEFAULT 0,
    ADD COLUMN extra TEXT;
