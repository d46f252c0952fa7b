//! Erased text is nowhere in the file, and a scan would find it if it were.

use crate::child::child;
use crate::fixture::{File, at, id, new, shown, user};
use crate::inline::agents_file;
use hermes_rescue::{ErasePhase, Erased, Rewritten, erase, erasing, finish_erasing, look_through};
use hermes_session::extra::Table;
use hermes_session::import::{ImportPiece, Imported};
use hermes_session::live::{Account, Inbound, NewOutbound, NewPart, NewTurn, TurnClose, TurnKind};
use hermes_session::needles::Needles;
use hermes_session::versions::versions;
use hermes_session::{
    ChangeStore as _, ConversationStore as _, DeleteExtent, Deleted, Json, MailStore as _, Maintenance as _, Message,
    MessageBody, MessageId, MessageRequest, MessageState, NewChild, NewMessage, NewSession, Role, Scalar, Session,
    SessionStore as _, StoreError, Timestamp, Title, TurnStore as _,
};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

const SECRET: &str = "the codename Zanzibarium stays between us, hush-hush at 03:15";
const CALL: &str =
    r#"[{"id": "x", "function": {"name": "open_vault", "arguments": "{\"code\": \"quetzalcoatlus-42\"}"}}]"#;
const CJK: &str = "秘密的大别山项目代号是朱雀";

/// Makes a conversation to be erased, with every kind of text, and one that stays.
async fn fill(store: &SqliteStore) {
    let session = NewSession { system_prompt: Some("obey the Wolpertinger protocol".into()), ..new("doomed") };
    store.create(&session, &at(1.0)).await.unwrap();
    store.set_title(&id("doomed"), Some(&Title::parse("Operation Eyjafjallajökull").unwrap()), &at(1.0)).await.unwrap();
    let call = MessageBody { tool_calls: Some(Json::parse(CALL).unwrap()), ..MessageBody::empty(Role::Assistant) };
    let batch = [user(SECRET), call.into(), user(CJK), user(&"longwinded perambulation ".repeat(2_000))];
    store.append(&id("doomed"), &batch, &at(2.0)).await.unwrap();
    store.create(&new("stays"), &at(3.0)).await.unwrap();
    let others: Vec<NewMessage> = (0..200).map(|n| user(&format!("everyday message {n} of the project"))).collect();
    store.append(&id("stays"), &others, &at(3.0)).await.unwrap();
}

/// Returns the signs of the text to be erased, made independently of the code under test.
fn signs() -> Needles {
    let mut needles = Needles::default();
    for text in [SECRET, CALL, CJK, "Operation Eyjafjallajökull", "obey the Wolpertinger protocol", "zanzibarium"] {
        needles.take(text.as_bytes());
    }
    needles.keep(b"everyday message of the project; sessions messages function arguments");
    needles
}

fn is_in(path: &Path) -> bool {
    ["", "-wal"].iter().any(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        look_through(name.as_ref(), &signs()).unwrap().1.is_some()
    })
}

async fn run(file: &File, name: &str) -> Result<Erased, StoreError> {
    run_and_tell(file, name, &mut |_| {}).await
}

async fn run_and_tell(
    file: &File,
    name: &str,
    tell: &mut (dyn FnMut(ErasePhase) + Send),
) -> Result<Erased, StoreError> {
    let all = versions(&file.open(), &id(name)).await?;
    let now = Timestamp::from_seconds(100.0).unwrap();
    erase(&file.path(), &all, now, &SqliteOptions::default(), tell).await
}

async fn finish(file: &File) -> Erased {
    finish_erasing(&file.path(), &SqliteOptions::default(), &mut |_| {}).await.unwrap()
}

fn count(file: &File, sql: &str) -> i64 {
    file.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

async fn is_whole(file: &File) {
    let store = file.open();
    assert_eq!(shown(&store).await, "stays(everyday message 0 of the project)");
    assert!(store.verify().await.unwrap().is_sound());
    let found =
        file.foreign().query_row("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'everyday'", [], |row| {
            row.get::<_, i64>(0)
        });
    assert_eq!(found, Ok(200));
}

#[tokio::test]
async fn nothing_is_left_of_it() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    while store.upkeep().await.unwrap() {}
    drop(store);
    assert!(is_in(&file.path()));
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean(), "{:?} {:?} {}", erased.left, erased.rewritten, erased.words_left);
    assert_eq!(erased.deleted, Deleted { sessions: 1, messages: 4 });
    assert!(erased.needles > 20 && erased.words > 10 && erased.scanned > 10_000, "{erased:?}");
    assert!(!is_in(&file.path()));
    is_whole(&file).await;
    assert!(versions(&file.open(), &id("doomed")).await.unwrap().is_empty());
    assert_eq!(erasing(&file.path()).unwrap(), None);
}

/// What live clients keep of it goes too: undone messages, mail, the notice of a route.
#[tokio::test]
async fn live_data_of_it_is_nowhere() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    store.changes(None).await.unwrap();
    let last = store.messages(&id("doomed"), &MessageRequest::last(1)).await.unwrap()[0].id;
    store.undo(&id("doomed"), last, &at(4.0)).await.unwrap();
    let inbound = Inbound {
        chat: "7".into(),
        message_id: "1".into(),
        route: None,
        session: Some(id("doomed")),
        payload: SECRET.into(),
    };
    let account = Account::parse("telegram:1").unwrap();
    store.receive(&account, &[inbound], None, &at(4.0)).await.unwrap();
    let turn = NewTurn {
        session: id("doomed"),
        kind: TurnKind::Person,
        route: None,
        opened_by: "test".into(),
        said: vec![user("obey the Wolpertinger protocol").into()],
    };
    let opened = store.open_turn(&turn, &at(5.0)).await.unwrap();
    let part = NewPart { body: SECRET.into(), plain: Some(CJK.into()), nonce: "n".into() };
    let reply = NewOutbound { account, destination: "7".into(), parts: vec![part] };
    let close = TurnClose { outbound: vec![reply], ..TurnClose::default() };
    store.close_turn(opened.turn.id, &close, &at(6.0)).await.unwrap();
    let session = NewMessage::new(Role::User, SECRET);
    let undone = store.append(&id("doomed"), &[session], &at(7.0)).await.unwrap()[0];
    store.undo(&id("doomed"), undone, &at(8.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    drop(store);
    assert!(is_in(&file.path()));
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean(), "{:?} {:?} {}", erased.left, erased.rewritten, erased.words_left);
    assert!(!is_in(&file.path()));
    for table in ["hx_undone", "hx_outbox", "hx_turn", "hx_change"] {
        let of_it = format!("SELECT count(*) FROM {table} WHERE session_id = 'doomed'");
        assert_eq!(count(&file, &of_it), 0, "{table}");
    }
}

/// A store that only deletes fails the scan: the rows are gone, but the bytes are not.
#[tokio::test]
async fn looking_finds_what_was_only_deleted() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    while store.upkeep().await.unwrap() {}
    store.delete(&id("doomed"), DeleteExtent::Chain, &at(5.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    drop(store);
    assert!(is_in(&file.path()), "deleting alone leaves it in the file");
    is_whole(&file).await;
}

/// Text that was deleted long ago, and is in free pages, is removed when the file is rewritten.
#[tokio::test]
async fn what_was_deleted_before_goes_too() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    store.create(&new("before"), &at(4.0)).await.unwrap();
    store.append(&id("before"), &[user(SECRET), user(CJK)], &at(4.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    store.delete(&id("before"), DeleteExtent::Chain, &at(5.0)).await.unwrap();
    store.append(&id("doomed"), &[user("one more")], &at(6.0)).await.unwrap();
    drop(store);
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean() && !is_in(&file.path()), "{:?}", erased.left);
    is_whole(&file).await;
}

/// In the agent's layout each index stores a copy of every text.
#[tokio::test]
async fn an_agents_file_is_erased_as_well() {
    let file = agents_file("");
    let store = file.open();
    fill(&store).await;
    while store.upkeep().await.unwrap() {}
    drop(store);
    assert!(is_in(&file.path()));
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean() && !is_in(&file.path()), "{:?} {}", erased.left, erased.words_left);
    is_whole(&file).await;
}

/// Versions of the conversation in the trash are erased too, even if they are only there.
#[tokio::test]
async fn it_goes_from_the_trash() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    let later = Timestamp::from_seconds(1e6).unwrap();
    store.trash_chain(&id("doomed"), later, &at(4.0)).await.unwrap();
    store.create(&new("doomed"), &at(5.0)).await.unwrap();
    store.append(&id("doomed"), &[user("another Zanzibarium")], &at(5.0)).await.unwrap();
    drop(store);
    assert!(is_in(&file.path()));
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean() && !is_in(&file.path()), "{:?}", erased.left);
    assert_eq!(erased.deleted, Deleted { sessions: 2, messages: 5 });
    is_whole(&file).await;
}

/// Words that occur in indexes and settings anyway, or in remaining text in another spelling, are not signs.
#[tokio::test]
async fn words_that_are_there_anyway_are_no_signs() {
    let file = File::new();
    let store = file.open();
    store.create(&new("doomed"), &at(1.0)).await.unwrap();
    let text = "automerge and usermerge of messages_fts, a delegate, a continuation, la réservation, Kilimanjaro";
    store.append(&id("doomed"), &[user(text)], &at(1.0)).await.unwrap();
    store.create(&new("stays"), &at(1.0)).await.unwrap();
    let escaped = r#"[{"id": "x", "function": {"name": "f", "arguments": "{\"q\": \"la r\\u00e9servation\"}"}}]"#;
    let call = MessageBody { tool_calls: Some(Json::parse(escaped).unwrap()), ..MessageBody::empty(Role::Assistant) };
    store.append(&id("stays"), &[call.into(), user("KILIMANJARO is high")], &at(1.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    drop(store);
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean(), "{:?} {}", erased.left, erased.words_left);
}

/// Text that another conversation has too is not a sign, and stays.
#[tokio::test]
async fn what_others_said_too_stays() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    store.append(&id("stays"), &[user(&format!("I quote: {SECRET}"))], &at(6.0)).await.unwrap();
    drop(store);
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean(), "{:?} {}", erased.left, erased.words_left);
    assert!(is_in(&file.path()), "the quotation is there");
}

#[tokio::test]
async fn copies_beside_the_store_are_reported() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    let copy = file.path().with_file_name("copy.bak");
    store.backup(&copy).await.unwrap();
    drop(store);
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean());
    let told: Vec<_> = erased.beside.iter().map(|left| left.path.clone()).collect();
    assert_eq!(told, std::slice::from_ref(&copy));
    // The scan covers the store's own files only.
    assert_eq!(erased.scanned, std::fs::metadata(file.path()).unwrap().len());
    assert!(copy.exists());
}

/// While another process has the file open, everything possible is done, and the rest once it is closed.
#[tokio::test]
async fn somebody_else_has_it_open() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    store.create(&new("shared"), &at(3.0)).await.unwrap();
    drop(store);
    let mut other = child("append", "x", &file.path()).stdin(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(other.stdout.take().unwrap()).lines();
    while told.next().unwrap().unwrap() != "ready" {}
    let erased = run(&file, "doomed").await.unwrap();
    assert_eq!((erased.rewritten, erased.is_clean()), (Rewritten::InUse, false));
    assert_eq!(erased.deleted.messages, 4);
    assert_eq!(finish(&file).await.rewritten, Rewritten::InUse);
    assert_eq!(erasing(&file.path()).unwrap(), Some(vec![]));
    other.stdin.take().unwrap().write_all(b"go\n").unwrap();
    other.wait().unwrap();
    assert!(finish(&file).await.is_clean());
    assert_eq!((is_in(&file.path()), erasing(&file.path()).unwrap()), (false, None));
}

/// Tables as the agent has them since 0.19, with rows of the erased conversation and of the one that stays.
const AGENTS_TABLES: &str = "
    ALTER TABLE sessions ADD COLUMN session_key TEXT;
    CREATE TABLE gateway_routing (scope TEXT NOT NULL DEFAULT '', session_key TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at REAL NOT NULL,
        PRIMARY KEY (scope, session_key));
    CREATE TABLE compression_locks (session_id TEXT PRIMARY KEY, holder TEXT NOT NULL, acquired_at REAL NOT NULL, expires_at REAL NOT NULL);
    CREATE TABLE async_delegations (delegation_id TEXT PRIMARY KEY, origin_session TEXT NOT NULL, origin_ui_session_id TEXT NOT NULL DEFAULT '',
        parent_session_id TEXT, state TEXT NOT NULL, event_json TEXT, result_json TEXT, task_json TEXT);
    CREATE TABLE delivery_obligations (obligation_id TEXT PRIMARY KEY, session_key TEXT NOT NULL, platform TEXT NOT NULL, content TEXT NOT NULL);
    CREATE TABLE session_model_usage (session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL,
        PRIMARY KEY (session_id, model));
    UPDATE sessions SET session_key = 'agent:main:dm:alone' WHERE id = 'doomed';
    UPDATE sessions SET session_key = 'agent:main:dm:shared' WHERE id = 'stays';
    INSERT INTO state_meta (key, value) VALUES ('goal:doomed', '{\"goal\": \"reach the summit of Zanzibarium by noon\"}'), ('goal:stays', 'x');
    INSERT INTO gateway_routing VALUES ('', 'agent:main:dm:alone', '{\"session_id\": \"doomed\", \"name\": \"Zanzibarium\"}', 1.0),
        ('', 'agent:main:dm:other', '{\"session_id\": \"doomed\"}', 1.0), ('', 'agent:main:dm:shared', '{\"session_id\": \"stays\"}', 1.0);
    INSERT INTO compression_locks VALUES ('doomed', 'x', 1.0, 2.0), ('stays', 'x', 1.0, 2.0);
    INSERT INTO async_delegations VALUES ('d1', 'agent:main:dm:alone', '', 'doomed', 'completed', NULL, 'result: quetzalcoatlus-42', 'the task'),
        ('d2', 'agent:main:dm:shared', '', 'stays', 'completed', NULL, 'fine', 'another task');
    INSERT INTO delivery_obligations VALUES ('o1', 'agent:main:dm:alone', 'telegram', 'on its way: the Wolpertinger protocol'),
        ('o2', 'agent:main:dm:shared', 'telegram', 'on its way');
    INSERT INTO session_model_usage VALUES ('doomed', 'm'), ('stays', 'm');
";

/// Rows about the conversation in the agent's other tables are erased too: its goal, routes, delegated work, pending
/// deliveries.
#[tokio::test]
async fn it_goes_from_the_agents_other_tables() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    drop(store);
    file.foreign().execute_batch(AGENTS_TABLES).unwrap();
    let erased = run(&file, "doomed").await.unwrap();
    assert!(erased.is_clean(), "{:?} {:?} {}", erased.left, erased.tables_left, erased.words_left);
    assert!(!is_in(&file.path()));
    for (table, rows) in [
        ("state_meta WHERE key GLOB 'goal:*'", 1),
        ("gateway_routing", 1),
        ("compression_locks", 1),
        ("async_delegations", 1),
        ("delivery_obligations", 1),
        ("session_model_usage", 1),
    ] {
        assert_eq!(count(&file, &format!("SELECT count(*) FROM {table}")), rows, "{table}");
    }
    is_whole(&file).await;
}

/// A chat that continues in another conversation keeps its rows; if they contain some of the erased text, that is
/// reported.
#[tokio::test]
async fn what_nothing_ties_to_it_is_reported() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    drop(store);
    let foreign = file.foreign();
    foreign.execute_batch(AGENTS_TABLES).unwrap();
    foreign
        .execute_batch(&format!(
            "UPDATE sessions SET session_key = 'agent:main:dm:shared' WHERE id = 'doomed';
             INSERT INTO delivery_obligations VALUES ('o3', 'agent:main:dm:shared', 'telegram', '{SECRET}');
             CREATE TABLE notebook (page TEXT); INSERT INTO notebook VALUES ('{SECRET}'), ('completed');"
        ))
        .unwrap();
    drop(foreign);
    let erased = run(&file, "doomed").await.unwrap();
    assert_eq!(erased.tables_left, ["delivery_obligations", "notebook"]);
    assert!(!erased.is_clean());
    assert_eq!(count(&file, "SELECT count(*) FROM gateway_routing WHERE session_key = 'agent:main:dm:shared'"), 1);
}

/// The trash has one version, and the agent has continued under the same id: both are listed beforehand, and nothing
/// else is erased.
#[tokio::test]
async fn every_version_is_named() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    let later = Timestamp::from_seconds(1e6).unwrap();
    store.split(&id("doomed"), &NewChild::new(id("second")), &[user("more")], &at(3.0)).await.unwrap();
    store.trash_chain(&id("second"), later, &at(4.0)).await.unwrap();
    store.create(&new("doomed"), &at(5.0)).await.unwrap();
    let all = versions(&store, &id("second")).await.unwrap();
    assert_eq!((all.live, all.trashed.len()), (vec![id("doomed")], 1));
    assert_eq!(all.members.len(), 2);
    assert!(versions(&store, &id("stays")).await.unwrap().trashed.is_empty());
}

/// An erasure that is interrupted after the rows are gone leaves a note, by which any process can complete it: the
/// words in the indexes, the free pages.
#[tokio::test]
async fn an_interrupted_one_can_be_finished() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    while store.upkeep().await.unwrap() {}
    drop(store);
    assert_eq!(erasing(&file.path()).unwrap(), None);
    let path = file.path();
    let all = versions(&file.open(), &id("doomed")).await.unwrap();
    let interrupted = tokio::spawn(async move {
        let now = Timestamp::from_seconds(100.0).unwrap();
        let mut tell = |phase| assert_ne!(phase, ErasePhase::Indexing, "interrupted");
        erase(&path, &all, now, &SqliteOptions::default(), &mut tell).await.unwrap();
    });
    assert!(interrupted.await.is_err());
    assert_eq!(erasing(&file.path()).unwrap(), Some(vec![id("doomed")]));
    assert!(finish(&file).await.is_clean());
    assert_eq!((is_in(&file.path()), erasing(&file.path()).unwrap()), (false, None));
    is_whole(&file).await;
}

/// Texts and columns of messages that an agent compacted or rewound are erased too, from the store and from the trash.
#[tokio::test]
async fn compacted_and_undone_messages_go_too() {
    for is_trashed in [false, true] {
        let file = File::new();
        let store = file.open();
        store.create(&new("stays"), &at(3.0)).await.unwrap();
        let others: Vec<NewMessage> = (0..200).map(|n| user(&format!("everyday message {n} of the project"))).collect();
        store.append(&id("stays"), &others, &at(3.0)).await.unwrap();
        let model = store.session(&id("stays")).await.unwrap().unwrap();
        let said = |number: i64, state: MessageState, text: &str, platform: &str| {
            let time = Timestamp::from_seconds(1.0).unwrap();
            let message = Message::new(MessageId(number), id("doomed"), time, MessageBody::new(Role::User, text));
            let mut message = Message { state, ..message };
            message.extra.set(Table::Messages, "platform_message_id", Scalar::Text(platform.into()));
            message
        };
        let messages = vec![
            said(1_001, MessageState::Compacted, SECRET, "obey the Wolpertinger protocol"),
            said(1_002, MessageState::Undone, CJK, "Operation Eyjafjallajökull"),
            said(1_003, MessageState::Active, "a plain summary", "p"),
        ];
        let session = Session { id: id("doomed"), message_count: 1, ..model };
        let piece = ImportPiece { session, start: 0, messages, is_last: true };
        let outcome = store.import(&[piece]).await.unwrap().remove(0);
        assert!(matches!(outcome, Imported::Whole { .. }), "{outcome:?}");
        while store.upkeep().await.unwrap() {}
        if is_trashed {
            let later = Timestamp::from_seconds(1e6).unwrap();
            store.trash_chain(&id("doomed"), later, &at(4.0)).await.unwrap();
            while store.upkeep().await.unwrap() {}
        }
        drop(store);
        assert!(is_in(&file.path()));
        let erased = run(&file, "doomed").await.unwrap();
        assert!(erased.is_clean(), "{:?} {:?} {}", erased.left, erased.tables_left, erased.words_left);
        assert_eq!(erased.deleted, Deleted { sessions: 1, messages: 3 });
        assert!(!is_in(&file.path()), "trashed: {is_trashed}");
        is_whole(&file).await;
    }
}
