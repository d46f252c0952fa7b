//! A term is found where a person would see it, and nowhere else.

use super::{MOMENTS, Moment, asked, places, question};
use crate::fixture::{calls, made, request, structured, user};
use crate::{CaseResult, Setup, oracle};
use hermes_session::import::ImportPiece;
use hermes_session::search::Query;
use hermes_session::{DeleteExtent, MessageBody, MessageRequest, NewMessage, Role, Store, StoreError, search_text};

/// A text, the queries that find it and those that do not.
type Sample = (&'static str, &'static [&'static str], &'static [&'static str]);

const SAMPLES: &[Sample] = &[
    ("don't panic? It’s fine", &["don't", "DON'T", "panic?", "n't", "It’s", "'t pan"], &["dont", "panics?", "It's"]),
    ("hello! foo, bar; content:word", &["hello!", "foo, bar", "\"foo, bar\"", "content:word", "t:w"], &["foo,bar"]),
    ("see src/main.rs:12 for it", &["src/main.rs", "main.rs:12", "rc/main", "/", "rs:1"], &["src/main.py", "srcmain"]),
    ("C:\\new\\table\\user", &["C:\\new", "\\table", "new", "\\user", "w\\t"], &["C:new", "ewtab"]),
    ("to anna.b@example.com now", &["anna.b@example.com", "@example", "b@e", ".com"], &["anna.b@example.org"]),
    (
        "https://example.com/a?b=c&d=%20#top",
        &["https://example.com/a?b=c&d=%20#top", "?b=c&d", "%20#t", "//ex"],
        &["&e"],
    ),
    ("error: 404 (not found)", &["error: 404", "\"error: 404\"", "error:", "\"(not found)\"", "or: 4"], &["error:404"]),
    ("C++ and C#, not Java", &["C++", "c#", "++", "C++ C#"], &["C--", "C+++"]),
    ("release v1.2.3-rc.1", &["v1.2.3", "1.2", "2.3-rc", ".1", "v1.2.3*"], &["v1.2.4", "v123"]),
    ("rm -rf /tmp/cache", &["rm -rf", "-rf", "\"rm -rf /tmp\"", "-r", "m -"], &["rm-rf", "-rm"]),
    (
        "50% of $9.99 & more; a=b <x> [y] {z} |q| ~w `v` ^u",
        &["50%", "$9.99", "&", "a=b", "<x>", "[y]", "{z}", "|q|", "~w", "`v`", "^u", "; a"],
        &["60%"],
    ),
    (
        "parseHttpRequest and snake_case_name",
        &["HttpReq", "parsehttprequest", "case_name", "_case_", "quest", "eHttp"],
        &["requests"],
    ),
    ("commit 9f86d081884c7d659a2feaa0c55ad015", &["9f86d08", "884c7d", "ad015", "9F86D0818"], &["9f86d09"]),
    (
        "大别山项目的进展",
        &["大别山*", "大别", "山项", "目", "\"大别山\" 项目的", "大别山项目的进展", "进展*"],
        &["大山", "别大", "大别山 AI"],
    ),
    ("广西 桂林", &["\"广西 桂林\"", "广西 AND 桂林", "西 桂"], &["广西桂林", "广西 NOT 桂林"]),
    (
        "大别山 AI 项目 x",
        &["大别山 AI", "AI AND 大别山", "ai 项", "大别山 x"],
        &["大别山 ML", "大别山 AND ML", "大别山 NOT AI"],
    ),
    (
        "使用python3编写ж字",
        &["python", "python3编写", "用python", "thon3", "PYTHON3", "n3编", "ж", "写Ж"],
        &["python2", "用3"],
    ),
    ("before\0after 名古屋城 done", &["after", "名古屋城", "古屋", "done", "ter 名", "before"], &["beforeafter"]),
    ("ภาษาไทยสวยงาม", &["ไทย", "ไท", "สวย", "ย", "ภาษาไทย"], &["ไทยไทย"]),
    ("ｶﾞﾝﾀﾞﾑ を見た", &["ガンダム", "ｶﾞﾝ", "ンダ", "ﾀﾞ", "ガ", "を見", "か\u{3099}ではない OR ガ"], &["カンタム"]),
    ("한국어 문서", &["한국", "국어 문", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}", "어", "문서*"], &["한어"]),
    ("\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8} apart", &["한국", "한", "국 ap"], &["국한"]),
    ("𠮷野家 と 𰻞𰻞麺 \u{2b740}", &["𠮷", "𠮷野", "𰻞麺", "\u{2b740}", "家 と"], &["吉野家"]),
    ("\u{f900}雅 ㄅㄆㄇ 〇々", &["豈雅", "\u{f900}", "ㄅㄆ", "ㄇ", "〇", "々"], &["ㄅㄇ"]),
    ("हिन्दी में लिखो", &["हिन्दी", "न्दी", "में", "लिख"], &["हन्दी"]),
    ("и\u{306}од и Йод", &["йод", "ЙОД", "и\u{306}од", "од"], &["иод"]),
    ("Приве\u{301}т, ёлка", &["привет", "РИВЕ", "ёлка", "Ёл", "приве\u{301}т"], &["елка"]),
    (
        "Tiếng Việt dễ đọc",
        &["tieng viet", "Tiếng", "VIỆT", "iếng V", "Vie\u{323}\u{302}t", "de", "đọc"],
        &["tieng vie5t", "doc"],
    ),
    (
        "Straße, naïve café, ŒUVRE",
        &["strasse", "STRASSE", "traß", "naive", "CAFÉ", "cafe\u{301}", "œuvre"],
        &["strase"],
    ),
    ("ΣΊΣΥΦΟΣ İstanbul ŉ", &["σίσυφος", "ΣΊΣΥΦΟς", "istanbul", "İST"], &["σισυφοι"]),
    ("ＦＵＬＬ ｗｉｄｔｈ １２３ ﬁne", &["full", "width", "123", "idt", "Ｆｕｌｌ", "fine", "ﬁn"], &["1234"]),
    (
        "ship it 🚀 👩\u{200d}💻 ⚠\u{fe0f} 👍🏽 \u{1fae8} 🫠",
        &["🚀", "👩\u{200d}💻", "👩", "⚠", "⚠\u{fe0f}", "👍", "👍🏽", "\u{1fae8}", "🫠", "it 🚀"],
        &["🚁"],
    ),
    (
        "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft!",
        &[
            "donaudampf",
            "betriebswerk",
            "gesellschaft!",
            "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft",
        ],
        &["donaudampfer"],
    ),
    ("שָׁלוֹם عَرَبِي ქართული", &["שלום OR שָׁלוֹם", "عَرَبِي", "ქართ"], &["ქარიი"]),
    (
        "tab\there  two\u{a0}blanks\nnext line",
        &["\"tab here\"", "\"two blanks\"", "next line", "\"here  two\""],
        &["\"blanks next\"", "\"here two\""],
    ),
];

/// Returns a text with Base64, which is searchable like any other text.
fn data() -> String {
    let line: String = (0..40).map(|n| format!("iVBORw0KGg{n:02}")).collect();
    format!("see data:image/png;base64,{line} behind")
}

async fn every_message(store: &dyn Store) -> Result<Vec<String>, StoreError> {
    let messages = store.messages(&crate::fixture::id("s"), &MessageRequest::first(u32::MAX)).await?;
    Ok(messages.iter().map(|message| search_text::of_body(&message.body).into_owned()).collect())
}

/// Checks that messages are found by some queries and not by others, in every state of the indexes, and that no query
/// finds more than the oracle.
async fn check(setup: &Setup, said: &[(NewMessage, &[&str], &[&str])]) -> CaseResult {
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let batch: Vec<NewMessage> = said.iter().map(|(message, ..)| message.clone()).collect();
    let ids = store.append(&session, &batch, &request(1)).await?;
    let texts = every_message(&*store).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for (place, (_, finding, missing)) in said.iter().enumerate() {
            for (query, is_found) in finding.iter().map(|query| (query, true)).chain(missing.iter().map(|q| (q, false)))
            {
                let mut found = places(&*store, &question(query), &ids).await?;
                found.sort_unstable();
                let text = &texts[place];
                assert_eq!(found.contains(&place), is_found, "{moment:?}: {query:?} in {text:?}");
                let parsed = Query::parse(query);
                let expect = (0..texts.len()).filter(|place| oracle::tier(&parsed, &texts[*place]).is_some());
                assert_eq!(found, expect.collect::<Vec<_>>(), "{moment:?}: {query:?}");
            }
        }
    }
    Ok(())
}

/// Punctuation, paths, addresses, versions, parts of words, every script: found as written, ignoring case and accents.
pub async fn as_written(setup: Setup) -> CaseResult {
    let data = data();
    let pieces: &[&str] = &["iVBORw0KGg17iVB", "base64,iVBOR", "see", "behind", "0KGg39 behind"];
    let mut said: Vec<_> = SAMPLES.iter().map(|(text, found, missing)| (user(text), *found, *missing)).collect();
    said.push((user(&data), pieces, &["iVBORw0KGg40"]));
    check(&setup, &said).await
}

/// Text in tool calls and content parts is found as a person reads it, and JSON syntax is not.
pub async fn behind_escapes_and_in_parts(setup: Setup) -> CaseResult {
    let text =
        r#"line one\nword two\ttab 名古屋城 \"quoted\" back\\slash caf\u00e9 \u2014 \ud83d\ude80 end\r\n\r\nlast"#;
    let arguments = format!(r#"{{\"path\": \"{}\"}}"#, text.replace('\\', r"\\").replace('"', r#"\""#));
    let string = format!(
        r#"[{{"id": "call_42", "type": "function", "function": {{"name": "read_file", "arguments": "{arguments}"}}}}]"#
    );
    let object = format!(
        r#"[{{"type": "tool_use", "id": "toolu_7", "name": "read_file", "input": {{"path": "{text}", "depth": 12}}}}]"#
    );
    let finding: &[&str] = &[
        "word two",
        "\"line one\"",
        "one OR two",
        "名古屋城",
        "古屋",
        "城",
        "\"quoted\"",
        "tab",
        "\"two tab\"",
        "back\\slash",
        "café",
        "cafe",
        "caf",
        "—",
        "🚀",
        "read_file",
        "d_f",
        "path",
        "last",
        "ast",
        "\"café — 🚀 end\"",
        "wor",
    ];
    let missing: &[&str] = &[
        "nword",
        "u540d",
        "ttab",
        "function",
        "tool_use",
        "arguments",
        "input",
        "rlast",
        "\"one word\"",
        "u2014",
        "ud83d",
        "\\n",
    ];
    let parts = r#"[{"type": "text", "text": "part one"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "part two\n漢字 \u00e9t\u00e9"}]"#;
    let result = MessageBody { tool_name: Some("browser_click".into()), ..MessageBody::new(Role::Tool, "all done") };
    check(
        &setup,
        &[
            (calls(&string), finding, missing),
            (calls(&object), finding, missing),
            (calls(&object), &["12", "depth", "toolu_7"], &["tool_us"]),
            (
                NewMessage::new(Role::User, structured(parts)),
                &["part one", "漢字", "漢", "two", "été", "ete", "\"part two\""],
                &["image_url", "type", "\"one part\"", "AAAA", "base64", "json", "u00e9t"],
            ),
            (result.into(), &["browser_click", "er_cl", "all done", "done"], &["\"done browser\"", "donebrowser"]),
        ],
    )
    .await
}

/// Deleted or replaced messages are not found, even if they are indexed; their replacements are. An imported session is
/// found when its import is complete.
pub async fn gone_is_gone(setup: Setup) -> CaseResult {
    for is_indexed in [false, true] {
        let store = setup.idle_store(if is_indexed { "indexed" } else { "not" }).await;
        let (kept, gone) = (made(&*store, "kept", 0).await, made(&*store, "gone", 0).await);
        for session in [&kept, &gone] {
            store.append(session, &[user("old word"), user("旧字体"), user("🚀")], &request(1)).await?;
        }
        while is_indexed && store.upkeep().await? {}
        let new = store.replace(&kept, &[user("new word"), user("新字体")], &request(2)).await?;
        store.delete(&gone, DeleteExtent::Conversation, &request(3)).await?;
        for moment in MOMENTS {
            moment.come(&*store).await?;
            for query in ["old", "ol", "旧", "旧字", "🚀", "old OR 旧"] {
                let found = places(&*store, &question(query), &new).await?;
                assert!(found.is_empty(), "{moment:?}: {query} finds {found:?}");
            }
            for (query, place) in [("new", 0), ("wor", 0), ("新", 1), ("字体", 1), ("word", 0)] {
                assert_eq!(places(&*store, &question(query), &new).await?, [place], "{moment:?}: {query}");
            }
        }
    }
    comes_as_a_whole(&setup).await
}

async fn comes_as_a_whole(setup: &Setup) -> CaseResult {
    let (from, store) = (setup.idle_store("from").await, setup.idle_store("to").await);
    let coming = made(&*from, "coming", 0).await;
    from.append(&coming, &[user("early word"), user("late word")], &request(1)).await?;
    let session = from.session(&coming).await?.unwrap();
    let mut messages = from.messages(&coming, &MessageRequest::first(u32::MAX)).await?;
    let rest = ImportPiece { session: session.clone(), start: 1, messages: messages.split_off(1), is_last: true };
    store.import(&[ImportPiece { session, start: 0, messages, is_last: false }]).await?;
    for moment in [Moment::Unindexed, Moment::Indexed] {
        moment.come(&*store).await?;
        for query in ["word", "ear", "\"\" NOT absent"] {
            assert!(asked(&*store, &question(query)).await?.is_empty(), "{moment:?}: {query}");
        }
    }
    store.import(&[rest]).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        assert_eq!(asked(&*store, &question("word")).await?.len(), 2, "{moment:?}");
    }
    Ok(())
}

/// NOT binds tighter than AND, AND tighter than OR. Operators are upper case and work in every script. An operator
/// without a left operand is text.
pub async fn operators_bind_as_they_should(setup: Setup) -> CaseResult {
    const SAID: [&str; 10] = [
        "apple",
        "apple banana",
        "banana cherry",
        "cherry",
        "广西 桂林",
        "广西",
        "桂林",
        "not now",
        "pine or oak",
        "Rock and Roll",
    ];
    let table: &[(&str, &[usize])] = &[
        ("apple OR cherry", &[0, 1, 2, 3]),
        ("apple banana OR cherry", &[1, 2, 3]),
        ("cherry OR apple AND banana", &[1, 2, 3]),
        ("apple (banana OR cherry)", &[1]),
        ("(apple OR cherry) banana", &[1, 2]),
        ("banana NOT apple", &[2]),
        ("apple OR cherry NOT banana", &[0, 1, 3]),
        ("(apple OR cherry) NOT banana", &[0, 3]),
        ("apple AND NOT banana", &[0]),
        ("apple NOT (banana OR cherry)", &[0]),
        ("\"\" NOT NOT apple", &[0, 1]),
        ("NOT now", &[7]),
        ("(NOT now) OR cherry", &[2, 3, 7]),
        ("OR oak", &[8]),
        ("AND roll", &[9]),
        ("OR NOT oak", &[]),
        ("广西 AND 桂林", &[4]),
        ("广西 NOT 桂林", &[5]),
        ("广西 OR 桂林", &[4, 5, 6]),
        ("广 OR app", &[0, 1, 4, 5]),
        ("not now", &[7]),
        ("pine or oak", &[8]),
        ("rock and roll", &[9]),
        ("\"apple banana\"", &[1]),
        ("\"banana apple\"", &[]),
        ("\"NOT\" now", &[7]),
        ("app* ban*", &[1]),
        ("ppl* OR che*", &[0, 1, 2, 3]),
    ];
    let store = setup.idle_store("s").await;
    let session = made(&*store, "s", 0).await;
    let ids = store.append(&session, &SAID.map(user), &request(1)).await?;
    for moment in MOMENTS {
        moment.come(&*store).await?;
        for (query, expect) in table {
            let mut found = places(&*store, &question(query), &ids).await?;
            found.sort_unstable();
            assert_eq!(found, *expect, "{moment:?}: {query}");
        }
    }
    Ok(())
}
