//! Compares our indexes with SQLite's own, on texts that are hard to tokenize.

mod property;

use super::*;
use hermes_session::script;
use rusqlite::params;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

fn connection() -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection.execute_batch(TABLES).unwrap();
    connection
}

fn add_texts(connection: &Connection, texts: &[&str]) {
    let documents: Vec<Document<'_>> =
        texts.iter().zip(1..).map(|(text, id)| Document { id, stored: text.as_bytes(), decoded: text }).collect();
    add(connection, &documents).unwrap();
}

fn entries(connection: &Connection) -> BTreeSet<String> {
    let mut statement = connection.prepare("SELECT term FROM hx_term").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Returns the tokens in the vocabulary.
fn listed(connection: &Connection) -> BTreeSet<String> {
    let token = |entry: String| entry.split_once('/').map_or(entry.clone(), |(_, token)| token.to_owned());
    entries(connection).into_iter().map(token).collect()
}

fn candidates(connection: &Connection, text: &str) -> Vec<i64> {
    told(connection, &Pairs::of(text).unwrap())
}

fn told(connection: &Connection, pairs: &Pairs) -> Vec<i64> {
    let mut ids = Vec::new();
    let all = |id| {
        ids.push(id);
        Ok(ControlFlow::Continue(()))
    };
    pairs.candidates(connection, None, all).unwrap();
    ids
}

/// Makes a file with `messages_fts` as the agent defines it, and adds the texts.
fn peer(texts: &[&[u8]]) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("CREATE VIRTUAL TABLE messages_fts USING fts5(content)").unwrap();
    connection.execute_batch("CREATE VIRTUAL TABLE words USING fts5vocab(messages_fts, row)").unwrap();
    for (text, id) in texts.iter().zip(1_i64..) {
        let text = rusqlite::types::ToSqlOutput::Borrowed(rusqlite::types::ValueRef::Text(text));
        connection.execute("INSERT INTO messages_fts(rowid, content) VALUES (?, ?)", params![id, text]).unwrap();
    }
    connection
}

/// Returns the words of `messages_fts` that the vocabulary should have.
fn words_of_peer(peer: &Connection) -> BTreeSet<String> {
    let mut statement = peer.prepare("SELECT CAST(term AS BLOB) FROM words").unwrap();
    let words = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    words
        .filter_map(|word| String::from_utf8(word.unwrap()).ok())
        .filter(|word| word.chars().count() <= 64 && !script::is_run(word))
        .collect()
}

/// Returns the token counts that FTS5 stores.
fn counts_of_peer(peer: &Connection) -> Vec<u32> {
    let mut statement = peer.prepare("SELECT sz FROM messages_fts_docsize ORDER BY id").unwrap();
    let sizes = statement.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    sizes.map(|size| size.unwrap().iter().fold(0, |number, byte| number << 7 | u32::from(byte & 0x7f))).collect()
}

#[track_caller]
fn check_tokens(texts: &[&[u8]]) {
    let (ours, peer) = (connection(), peer(texts));
    let documents: Vec<Document<'_>> =
        texts.iter().zip(1..).map(|(text, id)| Document { id, stored: text, decoded: "" }).collect();
    add(&ours, &documents).unwrap();
    assert_eq!(listed(&ours), words_of_peer(&peer));
    let lengths = Lengths::load(&ours).unwrap();
    let counts: Vec<u32> = documents.iter().map(|document| lengths.get(document.id).unwrap()).collect();
    assert_eq!(counts, counts_of_peer(&peer));
}

#[test]
fn tokens_are_those_of_messages_fts() {
    check_tokens(&[
        "Don't STOP: src/main.rs#L12, a_b-c, x=1".as_bytes(),
        "ÀÉÎõü ĳ ŉ ǅ ß ẞ İı K Å ﬁ Ⅷ ½ ² ٣ e\u{301}e\u{308}\u{304} ạ\u{308} ḯ \u{1d400}".as_bytes(),
        "大别山，abc混合ABC。ｶﾞｷ　ไทยเ\u{e34} हिन्दी 한국어 \u{1112}\u{1161} 𠀀".as_bytes(),
        "🚀👨\u{200d}👩\u{200d}👧 e\u{200d}f \u{fe0f} \u{fffd}\u{feff}a".as_bytes(),
        "before\0after\0\0大\0json:[{\"text\": \"x\"}]".as_bytes(),
        "שלום עולם مرحبا بِكُمْ \u{202e}abc\u{202c}".as_bytes(),
        "\u{e000}private \u{f0000} \u{378} \u{10ffff}x \u{1fffe} \u{3000}\u{a0}b".as_bytes(),
        b"a\xffb \xaa\xb5x \xc3 caf\xe9 \xed\xa0\x80y \xf8\x88\x80\x80\x80",
        b"",
        b"   \n",
    ]);
}

#[test]
fn a_batch_without_words_adds_none() {
    check_tokens(&[b"", b"...", "大".as_bytes()]);
    check_tokens(&[]);
}

#[test]
fn huge_texts_are_cut_as_sqlite_cuts_them() {
    let (letters, signs) = ("x".repeat(10 << 20), "é".repeat(1 << 20));
    check_tokens(&[letters.as_bytes(), signs.as_bytes(), "大".repeat(30_000).as_bytes(), b"after"]);
}

#[test]
fn unlisted_words_are_reported() {
    let connection = connection();
    let data = "iVBORw0KGgo/".repeat(30);
    let long = "é".repeat(65);
    let mixed = format!("ж{}", "大".repeat(70));
    let texts = ["words", &"x".repeat(65), "大".repeat(90).as_str(), &data, &long, &mixed, "大ж", &"y".repeat(64)]
        .map(str::to_owned);
    add_texts(&connection, &texts.each_ref().map(String::as_str));
    assert_eq!(unlisted(&connection, None, 10).unwrap(), [6, 5, 4, 2]);
    assert_eq!(unlisted(&connection, Some(5), 1).unwrap(), [4]);
    assert_eq!(listed(&connection), ["words", "大ж", &"y".repeat(64)].map(str::to_owned).into());
    let changed = Document { id: 4, stored: b"short", decoded: "short" };
    add(&connection, &[changed]).unwrap();
    assert_eq!(unlisted(&connection, None, 10).unwrap(), [6, 5, 2]);
}

#[test]
fn pictures_in_structured_content_cost_nothing() {
    let connection = connection();
    let content =
        format!("\0json:[{{\"image_url\": {{\"url\": \"data:image/png;base64,{}\"}}}}]", "iVBORw0KGgo/".repeat(3_000));
    let text = decoded(Some(&content), None, None);
    add(&connection, &[Document { id: 1, stored: content.as_bytes(), decoded: &text }]).unwrap();
    assert_eq!(unlisted(&connection, None, 10).unwrap(), [0; 0]);
    assert!(listed(&connection).len() < 10, "{:?}", listed(&connection));
}

#[test]
fn letters_behind_escapes_are_reported() {
    let connection = connection();
    let message =
        |id, calls: &'static str, text: &'static str| Document { id, stored: calls.as_bytes(), decoded: text };
    let word = "\\nx".to_owned() + &"x".repeat(63);
    let decoded_word = word.replace("\\n", "\n");
    add(
        &connection,
        &[
            message(1, r#"caf\u00e9"#, "café"),
            message(2, r#"it\u2019s \u5927 \ud83d\ude80"#, "it’s 大 🚀"),
            message(3, r#"plain \u00e9"#, r#"plain \u00e9"#),
            message(4, r#"\ud835\udc00"#, "\u{1d400}"),
            Document { id: 5, stored: word.as_bytes(), decoded: &decoded_word },
        ],
    )
    .unwrap();
    assert_eq!(unlisted(&connection, None, 10).unwrap(), [5, 4, 1]);
}

#[test]
fn words_are_known_as_they_are_compared() {
    let connection = connection();
    add_texts(&connection, &["Việt ＡＢＣ groß", r#"{"x": "one\ntwo\t\u2014three \nété"}"#, "plain"]);
    let entries = entries(&connection);
    for entry in ["viet/việt", "abc/ａｂｃ", "gross/groß", "two/ntwo", "three/u2014three", "ete/nete", "plain"] {
        assert!(entries.contains(entry), "{entry} in {entries:?}");
    }
    assert_eq!(terms_of(&connection, "two").unwrap(), ["ntwo", "two"]);
    assert_eq!(terms_of(&connection, "plain").unwrap(), ["plain"]);
    assert_eq!(terms_aside(&connection, "gros", 9).unwrap().terms, ["groß"]);
    assert_eq!(terms_aside(&connection, "plai", 9).unwrap().terms, [""; 0]);
    assert!(terms_aside(&connection, "t", 1).unwrap().is_cut);
}

#[test]
fn marks_that_make_other_letters_are_reported() {
    let connection = connection();
    add_texts(&connection, &["и\u{306}од", "cafe\u{301}", "йод", "a\u{fe0f}b", "\u{2764}\u{fe0f} a"]);
    assert_eq!(unlisted(&connection, None, 10).unwrap(), [1]);
}

#[test]
fn pieces_and_prefixes_know_when_there_are_more() {
    let connection = connection();
    add_texts(&connection, &["handle handler shandy Hand bin", "unhandled 大жhand别 HÄNDE 大hand"]);
    let containing = |piece: &str, limit| terms_containing(&connection, piece, limit, |_| true).unwrap();
    let sorted = |mut found: Terms| {
        found.terms.sort();
        found
    };
    let expect = |terms: &[&str], is_cut| Terms { terms: terms.iter().map(ToString::to_string).collect(), is_cut };
    assert_eq!(
        sorted(containing("hand", 9)),
        expect(&["hand", "hande", "handle", "handler", "shandy", "unhandled", "大жhand别"], false)
    );
    assert_eq!(sorted(containing("and别", 9)), expect(&["大жhand别"], false));
    assert_eq!(sorted(containing("in", 9)), expect(&["bin"], false));
    assert_eq!(sorted(containing("b", 9)), expect(&["bin"], false));
    assert_eq!(containing("nand", 9), Terms::default());
    assert_eq!(containing("hand", 2).terms.len(), 2);
    assert!(containing("hand", 2).is_cut && containing("hand", 6).is_cut && !containing("hand", 7).is_cut);
    add_texts(&connection, &["secondhand"]);
    assert!(containing("hand", 7).is_cut && !containing("hand", 8).is_cut, "there is one more in another block");
    assert_eq!(
        terms_with_prefix(&connection, "hand", 9, |_| true).unwrap(),
        expect(&["hand", "hande", "handle", "handler"], false)
    );
    assert_eq!(terms_with_prefix(&connection, "hand", 1, |_| true).unwrap(), expect(&["hand"], true));
    assert_eq!(terms_with_prefix(&connection, "", 1, |_| true).unwrap(), expect(&["bin"], true));
}

#[test]
fn candidates_come_newest_first_and_stop_when_told() {
    let connection = connection();
    add_texts(&connection, &["大别山", "别山", "ASCII", "大 别", "看大别山"]);
    assert_eq!(candidates(&connection, "大别"), [5, 1]);
    assert_eq!(candidates(&connection, "山"), [5, 2, 1]);
    assert_eq!(candidates(&connection, "大 x 别"), [5, 4, 1]);
    assert_eq!(candidates(&connection, "大别山区"), [0; 0]);
    assert_eq!(Pairs::of("ASCII é"), None);
    assert_eq!(Pairs::around("…"), None);
    add_texts(&connection, &["使用Python3编写", "python", "用Pythón"]);
    assert_eq!(told(&connection, &Pairs::around("ytho").unwrap()), [3, 1]);
    assert_eq!(told(&connection, &Pairs::around("n").unwrap()), [3, 1]);
    assert_eq!(told(&connection, &Pairs::of("PYTHON3编").unwrap()), [1]);
    let mut seen = Vec::new();
    let two = |id| {
        seen.push(id);
        Ok(if seen.len() == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    };
    Pairs::of("别").unwrap().candidates(&connection, Some(5), two).unwrap();
    assert_eq!(seen, [4, 2]);
}

#[test]
fn readers_make_nothing() {
    for temporary in ["DEFAULT", "FILE", "MEMORY"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file.db");
        let writer = crate::open::connection::open_new(&path).unwrap();
        writer.pragma_update(None, "temp_store", temporary).unwrap();
        writer.execute_batch(TABLES).unwrap();
        add_texts(&writer, &["größer 大别山 handle", &"x".repeat(100)]);
        let reader = crate::open::connection::open_new(&path).unwrap();
        reader.pragma_update(None, "query_only", true).unwrap();
        assert_eq!(terms_containing(&reader, "roß", 9, |_| true).unwrap().terms, [""; 0], "the words are folded");
        assert_eq!(terms_containing(&reader, "ross", 9, |_| true).unwrap().terms, ["großer"]);
        assert_eq!(terms_with_prefix(&reader, "han", 9, |_| true).unwrap().terms, ["handle"]);
        assert_eq!(unlisted(&reader, None, 9).unwrap(), [2]);
        assert_eq!(candidates(&reader, "别山"), [1]);
        assert_eq!(Lengths::load(&reader).unwrap().get(1), Some(3));
        let made: i64 = reader.query_row("SELECT count(*) FROM temp.sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(made, 0);
        let left = "SELECT count(*) FROM temp.hx_batch_word";
        assert_eq!(writer.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "the batch is gone");
    }
}

/// Returns every row of every table of ours, without shadow tables, and the contents of the token indexes.
fn picture(connection: &Connection) -> Vec<String> {
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.pairs_now USING fts5vocab(main, hx_cjk, row);
             CREATE VIRTUAL TABLE IF NOT EXISTS temp.pieces_now USING fts5vocab(main, hx_term_trigram, row);",
        )
        .unwrap();
    let mut statement = connection
        .prepare(
            "SELECT 'pair ' || term || doc FROM temp.pairs_now UNION ALL SELECT 'piece ' || term || doc FROM temp.pieces_now \
             UNION ALL SELECT 'unlisted ' || message_id FROM hx_term_unlisted UNION ALL SELECT block || hex(lengths) FROM hx_doclen \
             UNION ALL SELECT term FROM hx_term UNION ALL SELECT id || terms FROM hx_term_block ORDER BY 1",
        )
        .unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

fn check_integrity(connection: &Connection) {
    for table in ["hx_cjk", "hx_term_trigram"] {
        let sql = format!("INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)");
        connection.execute_batch(&sql).unwrap();
    }
}

const TEXTS: [&str; 4] = ["大别山 words", "한국어 ไทย words", "plain only", "大大大 大"];

#[test]
fn the_same_message_again_is_harmless() {
    let (once, twice) = (connection(), connection());
    add_texts(&once, &TEXTS);
    for _ in 0..2 {
        add_texts(&twice, &TEXTS);
        add_texts(&twice, &TEXTS[..2]);
    }
    let twofold = [TEXTS.as_slice(), TEXTS.as_slice()].concat();
    let documents: Vec<Document<'_>> = twofold
        .iter()
        .zip([1, 2, 3, 4, 1, 2, 3, 4])
        .map(|(text, id)| Document { id, stored: text.as_bytes(), decoded: text })
        .collect();
    add(&twice, &documents).unwrap();
    check_integrity(&twice);
    assert_eq!(picture(&twice), picture(&once));
    remove(&twice, &documents).unwrap();
    check_integrity(&twice);
    assert_eq!(candidates(&twice, "大"), [0; 0]);
}

#[test]
fn what_was_removed_is_gone_and_the_rest_is_as_it_was() {
    let (both, one) = (connection(), connection());
    let documents = |first: i64| -> Vec<Document<'_>> {
        TEXTS.iter().zip(first..).map(|(text, id)| Document { id, stored: text.as_bytes(), decoded: text }).collect()
    };
    let cut = "x".repeat(100);
    let unlisted_message = Document { id: 5_000, stored: cut.as_bytes(), decoded: &cut };
    add(&one, &documents(1)).unwrap();
    add(&both, &documents(1)).unwrap();
    add(&both, &documents(2_000)).unwrap();
    add(&both, &[unlisted_message]).unwrap();
    remove(&both, &documents(2_000)).unwrap();
    remove(&both, &[unlisted_message]).unwrap();
    check_integrity(&both);
    assert_eq!(picture(&both), picture(&one));
    // Removing messages that are already gone, or were never there, changes nothing.
    remove(&both, &documents(2_000)).unwrap();
    remove(&both, &documents(9_000)).unwrap();
    check_integrity(&both);
    assert_eq!(picture(&both), picture(&one));
    remove(&both, &documents(1)).unwrap();
    check_integrity(&both);
    let left: Vec<String> = picture(&both).into_iter().filter(|row| row.starts_with("pair ")).collect();
    assert_eq!(left, [""; 0]);
    add(&both, &documents(1)).unwrap();
    assert_eq!(picture(&both), picture(&one));
}

#[test]
fn nothing_of_a_batch_is_left_when_it_is_rolled_back() {
    let connection = connection();
    connection.execute_batch("BEGIN").unwrap();
    add_texts(&connection, &["é words", "大"]);
    connection.execute_batch("ROLLBACK").unwrap();
    assert_eq!(picture(&connection), [""; 0]);
    connection.execute_batch("BEGIN; SAVEPOINT job").unwrap();
    add_texts(&connection, &["ü other"]);
    connection.execute_batch("ROLLBACK TO job").unwrap();
    add_texts(&connection, &["ö third"]);
    connection.execute_batch("COMMIT").unwrap();
    assert_eq!(listed(&connection), ["o", "third"].map(str::to_owned).into());
    assert_eq!(Lengths::load(&connection).unwrap().get(1), Some(2));
}

#[test]
fn clearing_goes_in_steps_that_leave_whole_indexes() {
    let connection = crate::write::database::Database::new(connection());
    // A broken foreign view must not make this fail.
    connection.execute_batch("CREATE VIEW broken AS SELECT * FROM nowhere").unwrap();
    assert!(!clear_step(&connection).unwrap());
    let many: Vec<String> = (0..1_500).map(|n| format!("word{n} 大{}", char::from_u32(0x4e00 + n).unwrap())).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    add_texts(&connection, &many);
    set_aside(&connection).unwrap();
    let mut steps = 0;
    while clear_step(&connection).unwrap() {
        steps += 1;
        assert!(steps < 100);
        check_integrity(&connection);
        assert_eq!(picture(&connection), [""; 0]);
    }
    assert!(steps > 6, "{steps}");
    let fresh = self::connection();
    let names = |connection: &Connection| -> Vec<(String, String)> {
        let mut statement = connection
            .prepare("SELECT name, coalesce(sql, '') FROM sqlite_schema WHERE name <> 'broken' ORDER BY 1")
            .unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(names(&connection), names(&fresh));
    add_texts(&connection, &TEXTS);
    add_texts(&fresh, &TEXTS);
    assert_eq!(picture(&connection), picture(&fresh));
}
