//! `hermes sessiondb owners`

use super::*;
use hermes_app::owners::this_process;
use hermes_session::live::{Account, Acquired, Holder, Lease, NewTurn, Resource, Terms, TurnKind};
use hermes_session::{LeaseStore as _, TurnStore as _};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::time::Duration;

/// A process id that no process has: Linux gives at most 4,194,304.
const NOBODY: i64 = 4_194_305;

fn now() -> Request {
    Request::at(Timestamp::from_seconds(ago(0.0)).unwrap())
}

/// Returns a process on another machine.
fn elsewhere(label: &str) -> Holder {
    Holder { host: "0badc0de-1".into(), process: 4711, born: "1".into(), label: label.into() }
}

async fn hold(store: &SqliteStore, what: Resource, who: &Holder, minutes: u64) -> Lease {
    let terms = Terms::free(Duration::from_secs(minutes * 60 + 30));
    match store.acquire(&what, who, terms, &now()).await.unwrap() {
        Acquired::Got(grant) => grant.lease,
        held @ Acquired::Held(_) => panic!("{held:?}"),
    }
}

fn conversation(id: &str) -> Resource {
    Resource::Conversation(SessionId::parse(id).unwrap())
}

/// Returns a home with an owner of each kind.
fn owned() -> Home {
    let home = compressed();
    home.write(async |store| {
        let lease = hold(store, conversation("second"), &elsewhere("chat on laptop"), 5).await;
        let turn = NewTurn {
            session: SessionId::parse("second").unwrap(),
            kind: TurnKind::Person,
            route: None,
            opened_by: "chat".into(),
            said: vec![NewMessage::new(Role::User, "and now?").into()],
        };
        store.open_turn(&turn, &now().fenced(lease.fence)).await.unwrap();
        let account = Resource::Account(Account::parse("telegram:12ab").unwrap());
        hold(store, account, &elsewhere("gateway"), 1).await;
        let build = Resource::Hold { session: SessionId::parse("first").unwrap(), name: "build".into() };
        hold(store, build, &Holder { process: NOBODY, ..this_process("make\u{1b}[31m") }, 120).await;
    });
    home
}

#[test]
fn it_says_who_holds_what() {
    let home = owned();
    assert_snapshot!(home.hermes(&["sessiondb", "owners"]).env("COLUMNS", "100").see(), @r#"
    What                      Held by         Since     Expires  Turn    Process           ID
    ────────────────────────────────────────────────────────────────────────────────────────────────────
    long work #2              chat on laptop  just now  in 5m    person  4711 on 0badc0de  second
    hold build on long work…  make␛[31m       just now  in 2h    —       4194305 (gone)    second
    account                   gateway         just now  in 1m    —       4711 on 0badc0de  telegram:12ab
    --- exit 0
    "#);
}

#[test]
fn a_narrow_terminal_gets_a_few_lines_for_each() {
    let home = owned();
    let seen = home.hermes(&["sessiondb", "owners"]).env("COLUMNS", "40").see();
    assert_snapshot!(seen, @r#"
    long work #2
      held by chat on laptop
      since just now · expires in 5m
      in a turn (person)
      process 4711 on 0badc0de
      second
    hold build on long work #2
      held by make␛[31m · since just now
      expires in 2h · process 4194305 (gone)
      second
    account
      held by gateway · since just now
      expires in 1m
      process 4711 on 0badc0de
      telegram:12ab
    --- exit 0
    "#);
}

#[test]
fn programs_get_the_same() {
    let home = owned();
    home.write(async |store| {
        let terms = Terms::free(Duration::ZERO);
        store
            .acquire(&Resource::Account(Account::parse("slack:1").unwrap()), &this_process("old"), terms, &now())
            .await
            .unwrap();
    });
    let json: Value = serde_json::from_str(&home.hermes(&["sessiondb", "owners", "--json"]).stdout()).unwrap();
    let owners = json["owners"].as_array().unwrap();
    let kinds: Vec<&Value> = owners.iter().map(|owner| &owner["kind"]).collect();
    assert_eq!(kinds, ["conversation", "hold", "account", "account"]);
    let mut first = owners[0].clone();
    for key in ["taken_at", "until"] {
        assert!(first[key].as_f64().is_some(), "{first}");
        first[key] = Value::Null;
    }
    let turn = first["turn"].take();
    assert_eq!(
        first,
        json!({
            "kind": "conversation", "id": "second", "conversation": "first", "title": "long work #2", "account": null,
            "hold": null, "label": "chat on laptop", "host": "0badc0de-1", "process": 4711, "born": "1", "gone": null,
            "busy": false, "turn": null, "taken_at": null, "until": null, "expired": false
        })
    );
    assert_eq!((&turn["kind"], &turn["session"], &turn["attempts"]), (&json!("person"), &json!("second"), &json!(1)));
    assert_eq!((&owners[1]["hold"], &owners[1]["gone"]), (&json!("build"), &json!(true)));
    assert_eq!((&owners[2]["account"], &owners[2]["expired"]), (&json!("slack:1"), &json!(true)));
    assert_eq!((&owners[2]["gone"], &owners[3]["account"]), (&json!(false), &json!("telegram:12ab")));
}

#[test]
fn a_store_without_owners_says_so() {
    let home = several();
    assert_snapshot!(home.see(&["sessiondb", "owners"]), @r#"
    Nobody holds a conversation.
    --- exit 0
    "#);
    assert_eq!(home.hermes(&["sessiondb", "owners", "--json"]).stdout(), "{\"schema\": 1, \"owners\": []}\n");
}

#[test]
fn a_file_without_our_tables_has_no_owners_and_stays_as_it_is() {
    let home = contact::foreign_home();
    let before = std::fs::read(home.database()).unwrap();
    assert!(home.see(&["sessiondb", "owners"]).starts_with("Nobody holds a conversation.\n"));
    assert_eq!(std::fs::read(home.database()).unwrap(), before);
    // A file of the revision before owners were stored.
    let home = several();
    home.damage("DROP TABLE hx_lease; DROP TABLE hx_turn; PRAGMA user_version = 1");
    assert!(home.see(&["sessiondb", "owners"]).starts_with("Nobody holds a conversation.\n"));
}
