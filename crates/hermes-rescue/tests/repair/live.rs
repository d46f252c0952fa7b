//! Data of live clients is salvaged too.

use crate::cases::repaired;
use crate::fixture::{at, id, idle};
use hermes_session::live::{
    Account, Inbound, InboxId, NewOutbound, NewPart, NewTurn, ResetCause, RouteKey, Said, Switch, SwitchTo,
    Termination, TurnKind,
};
use hermes_session::{
    EndReason, MailStore as _, MessageRequest, NewMessage, NewSession, Role, RouteStore as _, SessionStore as _,
    Source, TurnStore as _,
};
use hermes_sqlite::SqliteStore;

fn key(chat: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: "telegram:1".into(),
        chat_type: "dm".into(),
        chat: chat.into(),
        thread: None,
        participant: None,
    }
}

fn switch(session: &str, expected: Option<i64>) -> Switch {
    let new = NewSession::new(id(session), Source::parse("telegram").unwrap());
    let end = Termination { reason: EndReason::parse("session_reset").unwrap(), cause: Some(ResetCause::Idle) };
    let (origin, notice) = (None, Some("a new day".into()));
    Switch { key: key("7"), expected, to: SwitchTo::New(Box::new(new)), end: Some(end), origin, notice }
}

#[tokio::test]
async fn routes_turns_mail_and_undone_messages_are_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    let account = Account::parse("telegram:1").unwrap();
    let expect = {
        let store = SqliteStore::open(&path, &idle()).unwrap();
        store.switch(&switch("old", None), &at(1.0)).await.unwrap();
        store.switch(&switch("new", Some(1)), &at(2.0)).await.unwrap();
        store.rekey(&key("7"), &key("8"), &at(2.0)).await.unwrap();
        let message = |text: &str| NewMessage::new(Role::User, text);
        let ids = store.append(&id("new"), &[message("stays"), message("is undone")], &at(3.0)).await.unwrap();
        store.undo(&id("new"), ids[1], &at(4.0)).await.unwrap();
        let inbound = |name: &str| Inbound {
            chat: "8".into(),
            message_id: name.into(),
            route: Some(key("8")),
            session: None,
            payload: format!("question {name}"),
        };
        store.receive(&account, &[inbound("1"), inbound("2")], Some("cursor 2"), &at(5.0)).await.unwrap();
        let said = vec![Said { message: message("question 1"), inbox: Some(InboxId(1)) }];
        let (kind, route, opened_by) = (TurnKind::Person, Some(key("8")), "test".into());
        store.open_turn(&NewTurn { session: id("new"), kind, route, opened_by, said }, &at(6.0)).await.unwrap();
        let part = NewPart { body: "wait".into(), plain: None, nonce: "n".into() };
        let reply = NewOutbound { account: account.clone(), destination: "8".into(), parts: vec![part] };
        store.post(&[], &[reply], &at(7.0)).await.unwrap();
        state(&store).await
    };
    repaired(&path, &target).await;
    let store = SqliteStore::open(&target, &idle()).unwrap();
    assert_eq!(state(&store).await, expect);
    assert_eq!(store.reset_cause(&id("old")).await.unwrap(), Some(ResetCause::Idle));
    assert_eq!(store.cursor(&account).await.unwrap().as_deref(), Some("cursor 2"));
    assert_eq!(store.route(&key("7")).await.unwrap().unwrap().key, key("8"));
    let transcript = store.messages(&id("new"), &MessageRequest::first(9)).await.unwrap();
    assert_eq!(transcript.len(), 2, "what was undone is not part of it");
}

/// Returns what was kept, as text.
async fn state(store: &SqliteStore) -> String {
    let undone: Vec<String> = store
        .undone(&id("new"))
        .await
        .unwrap()
        .iter()
        .map(|undone| format!("{} {}", undone.message.id, undone.message.body.plain_text()))
        .collect();
    let mail = (store.waiting(None, 9).await.unwrap(), store.outbound(None, 9).await.unwrap());
    let taken = store.inbox_item(InboxId(1)).await.unwrap();
    format!("{undone:?} {mail:?} {taken:?} {:?} {:?}", store.open_turns(None, 9).await, store.routes(None, 9).await)
}
