-- The words of each message, and the vocabulary.

-- form: 0 words with their places, 1 words without, 2 not listed because there are too many.
CREATE TABLE hx_search (
    message_id BIGINT NOT NULL PRIMARY KEY,
    session_id TEXT COLLATE "C" NOT NULL,
    length INTEGER NOT NULL,
    form SMALLINT NOT NULL,
    words TSVECTOR
-- Long lists of words are kept out of line and as they are: most of what a search reads of a row is narrow then.
) WITH (toast_tuple_target = 128);
ALTER TABLE hx_search ALTER COLUMN words SET STORAGE EXTERNAL;
CREATE INDEX hx_search_words ON hx_search USING gin (words);
CREATE INDEX hx_search_unlisted ON hx_search (message_id) WHERE form = 2;

-- Every word that is in any message, and maybe more: words come before the messages that have them, and stay.
CREATE TABLE hx_term (
    term TEXT COLLATE "C" NOT NULL PRIMARY KEY
);
