-- The words of each message, and the vocabulary.

-- form: 1 words, 2 not listed because there are too many or the server's settings would lose some.
-- The index is made without stop words: the session that makes it has them turned off.
CREATE TABLE IF NOT EXISTS hx_search (
    message_id BIGINT NOT NULL PRIMARY KEY,
    session_id VARBINARY(255) NOT NULL,
    length INT NOT NULL,
    form SMALLINT NOT NULL,
    words LONGTEXT CHARACTER SET ascii COLLATE ascii_bin,
    -- Has all that a search reads of messages that are not listed, and of how many there are.
    KEY hx_search_form (form, message_id, length),
    FULLTEXT KEY hx_search_words (words)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- Every word that is in any message, and maybe more: words stay.
CREATE TABLE IF NOT EXISTS hx_term (
    term VARBINARY(260) NOT NULL PRIMARY KEY
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
