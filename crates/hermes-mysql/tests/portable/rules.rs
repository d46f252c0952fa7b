//! SQL that only one of the two servers accepts, or that they interpret differently, and SQL that we forbid.

/// A forbidden sequence of words.
pub(crate) struct Rule {
    /// The words. `*` is any one word, `X%` one with this prefix, `!X` any other word or none.
    pub(crate) words: &'static str,
    /// Reason.
    pub(crate) why: &'static str,
    /// A statement that breaks the rule.
    bad: &'static str,
    /// A similar statement that does not.
    good: &'static str,
    /// Whether it is permitted in the file that distinguishes the servers.
    pub(crate) is_of_a_flavour: bool,
}

const fn rule(words: &'static str, why: &'static str, bad: &'static str, good: &'static str) -> Rule {
    Rule { words, why, bad, good, is_of_a_flavour: false }
}

const MARIADB: &str = "only MariaDB takes it";
const MYSQL: &str = "only MySQL takes it";
const RESERVED: &str = "a reserved word of MySQL 8: put it in backticks, or choose another name";
const CAST: &str = "MySQL casts to SIGNED, UNSIGNED, CHAR, BINARY, DOUBLE and such only";

#[rustfmt::skip]
const RULES: &[Rule] = &[
    // Forbidden by us.
    rule("INSERT IGNORE", "hides every other failure as well: write an upsert that changes nothing", "INSERT IGNORE INTO t VALUES (1)", "INSERT INTO ignore_list VALUES (1)"),
    rule("UPDATE IGNORE", "hides every other failure as well", "UPDATE IGNORE t SET a = 1", "UPDATE t SET ignored = 1"),
    rule("REPLACE INTO", "deletes the row first, and what hangs on it", "REPLACE INTO t VALUES (1)", "SELECT REPLACE(a, b, c) INTO @x"),
    rule("| |", "means OR unless the server is told otherwise: use CONCAT", "SELECT a || b", "SELECT a | b"),
    // Only MariaDB.
    rule("RETURNING", MARIADB, "DELETE FROM t WHERE a = 1 RETURNING b", "SELECT returning_column FROM t"),
    rule("INDEX IF NOT EXISTS", MARIADB, "CREATE INDEX IF NOT EXISTS i ON t (a)", "CREATE TABLE IF NOT EXISTS t (a INT, INDEX (a))"),
    rule("KEY IF NOT EXISTS", MARIADB, "ALTER TABLE t ADD KEY IF NOT EXISTS k (a)", "ALTER TABLE t ADD KEY k (a)"),
    rule("COLUMN IF NOT EXISTS", MARIADB, "ALTER TABLE t ADD COLUMN IF NOT EXISTS a INT", "ALTER TABLE t ADD COLUMN a INT"),
    rule("ADD IF NOT EXISTS", MARIADB, "ALTER TABLE t ADD IF NOT EXISTS a INT", "ALTER TABLE t ADD a INT"),
    rule("CONSTRAINT IF", MARIADB, "ALTER TABLE t DROP CONSTRAINT IF EXISTS c", "ALTER TABLE t DROP CONSTRAINT c"),
    rule("INDEX IF EXISTS", MARIADB, "DROP INDEX IF EXISTS i ON t", "DROP INDEX i ON t"),
    rule("KEY IF EXISTS", MARIADB, "ALTER TABLE t DROP KEY IF EXISTS k", "DROP TABLE IF EXISTS t"),
    rule("COLUMN IF EXISTS", MARIADB, "ALTER TABLE t DROP COLUMN IF EXISTS a", "ALTER TABLE t DROP COLUMN a"),
    rule("DROP IF EXISTS", MARIADB, "ALTER TABLE t DROP IF EXISTS a", "DROP VIEW IF EXISTS v"),
    rule("ALTER TABLE IF", MARIADB, "ALTER TABLE IF EXISTS t ADD a INT", "ALTER TABLE t ADD a INT"),
    rule("OR REPLACE !VIEW", MARIADB, "CREATE OR REPLACE TABLE t (a INT)", "CREATE OR REPLACE VIEW v AS SELECT 1"),
    rule("SEQUENCE", MARIADB, "CREATE SEQUENCE s", "SELECT sequence_number FROM t"),
    rule("NEXTVAL", MARIADB, "SELECT NEXTVAL(s)", "SELECT `nextval` FROM t"),
    rule("LASTVAL", MARIADB, "SELECT LASTVAL(s)", "SELECT LAST_INSERT_ID()"),
    rule("NEXT VALUE FOR", MARIADB, "SELECT NEXT VALUE FOR s", "SELECT next FROM t"),
    rule("SET STATEMENT", MARIADB, "SET STATEMENT max_statement_time = 1 FOR SELECT 1", "SET SESSION sort_buffer_size = 1"),
    Rule { is_of_a_flavour: true, ..rule("MAX_STATEMENT_TIME", "MySQL calls it max_execution_time", "SET max_statement_time = 1", "SET lock_wait_timeout = 1") },
    Rule { is_of_a_flavour: true, ..rule("MAX_EXECUTION_TIME", "MariaDB calls it max_statement_time", "SET max_execution_time = 1", "SET lock_wait_timeout = 1") },
    Rule { is_of_a_flavour: true, ..rule("TX_ISOLATION", "MySQL calls it transaction_isolation, as MariaDB from 11.1 on", "SET tx_isolation = 'READ-COMMITTED'", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED") },
    rule("UUID !(", MARIADB, "CREATE TABLE t (a UUID)", "SELECT UUID()"),
    rule("INET6 !(", MARIADB, "CREATE TABLE t (a INET6)", "SELECT INET6_ATON('::1')"),
    rule("INET4 !(", MARIADB, "CREATE TABLE t (a INET4)", "SELECT INET_ATON('::1')"),
    rule("JSON_COMPACT", MARIADB, "SELECT JSON_COMPACT(a)", "SELECT JSON_PRETTY(a)"),
    rule("JSON_LOOSE", MARIADB, "SELECT JSON_LOOSE(a)", "SELECT JSON_VALUE(a, '$')"),
    rule("JSON_DETAILED", MARIADB, "SELECT JSON_DETAILED(a)", "SELECT JSON_PRETTY(a)"),
    rule("JSON_EXISTS", MARIADB, "SELECT JSON_EXISTS(a, '$')", "SELECT JSON_CONTAINS_PATH(a, 'one', '$')"),
    rule("JSON_QUERY", MARIADB, "SELECT JSON_QUERY(a, '$')", "SELECT JSON_EXTRACT(a, '$')"),
    rule("JSON_NORMALIZE", MARIADB, "SELECT JSON_NORMALIZE(a)", "SELECT JSON_VALID(a)"),
    rule("JSON_EQUALS", MARIADB, "SELECT JSON_EQUALS(a, b)", "SELECT JSON_CONTAINS(a, b)"),
    rule("MEDIAN", MARIADB, "SELECT MEDIAN(a) OVER ()", "SELECT AVG(a)"),
    rule("PERCENTILE_%", MARIADB, "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a)", "SELECT percentile FROM t"),
    rule("NVL%", MARIADB, "SELECT NVL(a, 0)", "SELECT IFNULL(a, 0)"),
    rule("CHR (", MARIADB, "SELECT CHR(65)", "SELECT CHAR(65)"),
    rule("TO_CHAR", MARIADB, "SELECT TO_CHAR(a)", "SELECT DATE_FORMAT(a, '')"),
    rule("ROWNUM", MARIADB, "SELECT a FROM t WHERE ROWNUM() < 3", "SELECT rownums FROM t LIMIT 3"),
    rule("NATURAL_SORT_KEY", MARIADB, "SELECT NATURAL_SORT_KEY(a)", "SELECT sort_key"),
    rule("SFORMAT", MARIADB, "SELECT SFORMAT('{}', a)", "SELECT FORMAT(a, 1)"),
    rule("CRC32C", MARIADB, "SELECT CRC32C(a)", "SELECT CRC32(a)"),
    rule("COLUMN_CREATE", MARIADB, "SELECT COLUMN_CREATE('a', 1)", "SELECT JSON_OBJECT('a', 1)"),
    rule("FOR PORTION", MARIADB, "DELETE FROM t FOR PORTION OF p FROM 1 TO 2", "SELECT portion FROM t FOR UPDATE"),
    rule("SYSTEM VERSIONING", MARIADB, "CREATE TABLE t (a INT) WITH SYSTEM VERSIONING", "CREATE TABLE t (versioning INT)"),
    rule("WITHOUT OVERLAPS", MARIADB, "UNIQUE (a, p WITHOUT OVERLAPS)", "SELECT overlaps FROM t"),
    rule("WITH PARSER", "each server has parsers of its own", "FULLTEXT (a) WITH PARSER ngram", "FULLTEXT (a)"),
    rule("ROWS EXAMINED", MARIADB, "SELECT a FROM t LIMIT ROWS EXAMINED 9", "SELECT a FROM t LIMIT 9"),
    rule("VALUE (", "MySQL has no function VALUE: use VALUES", "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUE(a)", "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a)"),
    rule("UTF8MB4_NOPAD%", MARIADB, "SELECT a COLLATE utf8mb4_nopad_bin", "SELECT a COLLATE utf8mb4_bin"),
    rule("UTF8MB4_UCA1400%", MARIADB, "SELECT a COLLATE utf8mb4_uca1400_ai_ci", "SELECT a COLLATE utf8mb4_unicode_ci"),
    rule("PAGE_COMPRESSED", MARIADB, "CREATE TABLE t (a INT) PAGE_COMPRESSED = 1", "CREATE TABLE t (compressed INT)"),
    rule("AS VARCHAR", CAST, "SELECT CAST(a AS VARCHAR(9))", "SELECT CAST(a AS CHAR(9))"),
    rule("AS VARBINARY", CAST, "SELECT CAST(a AS VARBINARY(9))", "SELECT CAST(a AS BINARY(9))"),
    rule("AS INT", CAST, "SELECT CAST(a AS INT)", "SELECT CAST(a AS SIGNED)"),
    rule("AS INTEGER", CAST, "SELECT CAST(a AS INTEGER)", "SELECT CAST(a AS SIGNED)"),
    rule("AS BIGINT", CAST, "SELECT CAST(a AS BIGINT)", "SELECT CAST(a AS UNSIGNED)"),
    rule("INTERSECT", "MySQL has it from 8.0.31 on", "SELECT 1 INTERSECT SELECT 2", "SELECT 1 UNION SELECT 2"),
    rule("EXCEPT", "MySQL has it from 8.0.31 on", "SELECT 1 EXCEPT SELECT 2", "SELECT 1 UNION ALL SELECT 2"),
    // Only MySQL.
    rule("AS * ON DUPLICATE", MYSQL, "INSERT INTO t VALUES (1) AS new ON DUPLICATE KEY UPDATE a = new.a", "INSERT INTO t SELECT a AS b FROM u ON DUPLICATE KEY UPDATE a = a"),
    rule("VALUES ROW", MYSQL, "INSERT INTO t VALUES ROW(1)", "INSERT INTO t VALUES (1)"),
    rule("LATERAL", MYSQL, "SELECT 1 FROM t, LATERAL (SELECT t.a) u", "SELECT 1 FROM t"),
    rule("FOR SHARE", MYSQL, "SELECT a FROM t FOR SHARE", "SELECT a FROM t LOCK IN SHARE MODE"),
    rule("UPDATE OF", MYSQL, "SELECT a FROM t FOR UPDATE OF t", "SELECT a FROM t FOR UPDATE"),
    rule("- >", MYSQL, "SELECT a->'$.b'", "SELECT a - b > 1"),
    rule("MEMBER OF", MYSQL, "SELECT 1 MEMBER OF('[1]')", "SELECT member FROM t"),
    rule("REGEXP_LIKE", MYSQL, "SELECT REGEXP_LIKE(a, b)", "SELECT a REGEXP b"),
    rule("ANY_VALUE", MYSQL, "SELECT ANY_VALUE(a)", "SELECT MIN(a)"),
    rule("BIN_TO_UUID", MYSQL, "SELECT BIN_TO_UUID(a)", "SELECT HEX(a)"),
    rule("UUID_TO_BIN", MYSQL, "SELECT UUID_TO_BIN(a)", "SELECT UNHEX(a)"),
    rule("UTF8MB4_0900%", MYSQL, "SELECT a COLLATE utf8mb4_0900_bin", "SELECT a COLLATE utf8mb4_bin"),
    rule("SET PERSIST", MYSQL, "SET PERSIST a = 1", "SET SESSION a = 1"),
    // Names that MariaDB accepts and MySQL does not.
    rule("RANK !(", RESERVED, "SELECT a AS rank FROM t", "SELECT RANK() OVER (ORDER BY a), t.`rank`, ranked FROM t"),
    rule("ROW_NUMBER !(", RESERVED, "SELECT 1 AS row_number", "SELECT ROW_NUMBER() OVER ()"),
    rule("GROUPS !(", RESERVED, "SELECT a FROM groups", "SELECT a FROM t GROUP BY a"),
    rule("SYSTEM !(", RESERVED, "SELECT system FROM t", "SELECT system_prompt FROM t WHERE role = 'system'"),
    rule("EMPTY !(", RESERVED, "SELECT a AS empty", "SELECT is_empty"),
    rule("CUBE !(", RESERVED, "SELECT a AS cube", "SELECT cubes"),
    rule("LEAD !(", RESERVED, "SELECT a AS lead", "SELECT LEAD(a) OVER ()"),
    rule("LAG !(", RESERVED, "SELECT a AS lag", "SELECT LAG(a) OVER ()"),
    rule("NTILE !(", RESERVED, "SELECT a AS ntile", "SELECT NTILE(4) OVER ()"),
    rule("FUNCTION !(", RESERVED, "SELECT function FROM t", "SELECT functions FROM t"),
    rule("GROUPING !(", RESERVED, "SELECT a AS grouping", "SELECT a AS grouped"),
    rule("AS OF", RESERVED, "SELECT a AS of", "SELECT a AS off"),
    rule("AS ROWS", RESERVED, "SELECT count(*) AS rows", "SELECT SUM(a) OVER (ORDER BY b ROWS UNBOUNDED PRECEDING)"),
    rule("AS WINDOW", RESERVED, "SELECT a AS window", "SELECT a AS windowed"),
    rule("AS OVER", RESERVED, "SELECT a AS over", "SELECT COUNT(*) OVER ()"),
];

/// A TEXT without a length cannot have a plain default value: MySQL requires brackets around it.
const DEFAULT_OF_A_TEXT: Rule = rule(
    "TEXT … DEFAULT",
    "MySQL wants brackets round what a TEXT, BLOB or JSON is by default",
    "CREATE TABLE t (a LONGTEXT CHARACTER SET utf8mb4 NOT NULL DEFAULT '', b INT)",
    "CREATE TABLE t (a LONGTEXT NOT NULL, b LONGTEXT DEFAULT NULL, c LONGTEXT DEFAULT (''), d INT DEFAULT 0)",
);

/// Returns the rules that a statement breaks, given its words.
pub(crate) fn faults(words: &[String]) -> Vec<&'static Rule> {
    let mut broken: Vec<&Rule> =
        RULES.iter().filter(|rule| (0..words.len()).any(|place| begins_with(&words[place..], rule.words))).collect();
    if has_default_of_a_text(words) {
        broken.push(&DEFAULT_OF_A_TEXT);
    }
    broken
}

fn begins_with(words: &[String], pattern: &str) -> bool {
    pattern.split(' ').enumerate().all(|(place, wanted)| {
        let word = words.get(place).map(String::as_str);
        match (wanted.strip_prefix('!'), wanted.strip_suffix('%')) {
            (Some(other), _) => word != Some(other),
            (_, Some(start)) => word.is_some_and(|word| word.starts_with(start)),
            _ => word.is_some_and(|word| wanted == "*" || word == wanted),
        }
    })
}

fn has_default_of_a_text(words: &[String]) -> bool {
    let kinds = ["TEXT", "MEDIUMTEXT", "LONGTEXT", "BLOB", "MEDIUMBLOB", "LONGBLOB", "JSON"];
    let starts = (0..words.len()).filter(|place| kinds.contains(&words[*place].as_str()));
    starts.into_iter().any(|start| {
        let column: Vec<&str> =
            words[start..].iter().map(String::as_str).take_while(|word| ![",", ";"].contains(word)).collect();
        column.windows(2).any(|pair| pair[0] == "DEFAULT" && !["(", "NULL", "CHARACTER", "CHARSET"].contains(&pair[1]))
    })
}

#[test]
fn each_rule_finds_what_it_is_for_and_nothing_else() {
    use crate::read::words;
    for rule in RULES.iter().chain([&DEFAULT_OF_A_TEXT]) {
        let names = |sql: &str| faults(&words(sql)).iter().map(|found| found.words).collect::<Vec<_>>();
        for bad in [rule.bad.to_owned(), rule.bad.to_lowercase(), rule.bad.replace(' ', "\n  ")] {
            assert!(names(&bad).contains(&rule.words), "{} is not found in {bad}", rule.words);
        }
        assert_eq!(names(rule.good), Vec::<&str>::new(), "{}", rule.good);
    }
}
