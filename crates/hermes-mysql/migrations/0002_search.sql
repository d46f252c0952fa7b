-- The words of each message, and the vocabulary.

CREATE TABLE IF NOT EXISTS hx_search (
    message_id BIGINT NOT NULL PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    length INT NOT NULL,
    form SMALLINT NOT NULL,
    words LONGTEXT CHARACTER SET ascii COLLATE ascii_bin
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
