//! Owners of conversations, and processes that are gone.

use super::{Home, NOW, at, ended, id};
use hermes_app::OpenStore;
use hermes_app::owners::{self, Owned, Presence, presence, this_process};
use hermes_session::live::{Account, Acquired, Grant, Holder, Lease, NewTurn, Resource, Take, Terms, TurnKind};
use hermes_session::{Conflict, EndReason, NewChild, NewMessage, Request, Role, StoreError};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// A process that does nothing until it is killed.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("1000").stdout(Stdio::null()).spawn().unwrap())
    }

    /// Returns it as it describes itself.
    fn holder(&self) -> Holder {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        let born = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().to_owned();
        Holder { process: i64::from(self.0.id()), born, ..this_process("chat on laptop") }
    }

    /// Kills it. Its parent has not noticed yet.
    fn kill(&mut self) {
        self.0.kill().unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn now() -> Request {
    Request::at(at(NOW))
}

/// Returns a store with one session, `s`.
async fn store(home: &Home) -> OpenStore {
    let store = home.store().await;
    ended(&*store, "s", Some("long work")).await;
    store
}

async fn acquired(store: &OpenStore, what: Resource, who: &Holder) -> Lease {
    match store.acquire(&what, who, Terms::free(MINUTE), &now()).await.unwrap() {
        Acquired::Got(grant) => grant.lease,
        held @ Acquired::Held(_) => panic!("{held:?}"),
    }
}

async fn own(store: &OpenStore) -> Owned {
    owners::own(&**store, &id("s"), &this_process("test"), MINUTE, &now()).await.unwrap()
}

#[track_caller]
fn ours(owned: Owned) -> Grant {
    match owned {
        Owned::Ours(grant) => grant,
        theirs @ Owned::Theirs { .. } => panic!("{theirs:?}"),
    }
}

#[track_caller]
fn theirs(owned: Owned) -> (Lease, Presence) {
    match owned {
        Owned::Theirs { lease, presence } => (lease, presence),
        ours @ Owned::Ours(_) => panic!("{ours:?}"),
    }
}

#[test]
fn a_process_is_seen_until_it_is_killed() {
    let mut sleeper = Sleeper::start();
    let holder = sleeper.holder();
    assert_eq!(presence(&holder), Presence::Running);
    sleeper.kill();
    while presence(&holder) == Presence::Running {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(presence(&holder), Presence::Gone, "it waits for its parent");
    sleeper.0.wait().unwrap();
    assert_eq!(presence(&holder), Presence::Gone);
}

#[test]
fn another_process_of_the_same_id_is_another_process() {
    let us = this_process("test");
    assert_eq!((us.host.as_str(), us.label.as_str()), (this_process("x").host.as_str(), "test"));
    assert!(us.check().is_ok());
    assert_eq!(presence(&us), Presence::Running);
    let born = format!("{}0", us.born);
    assert_eq!(presence(&Holder { born, ..us.clone() }), Presence::Gone);
    assert_eq!(presence(&Holder { process: i64::MAX, ..us.clone() }), Presence::Gone);
    // The same id in another container, or after the machine was started again.
    let host = format!("{}0", us.host);
    assert_eq!(presence(&Holder { host, process: i64::MAX, ..us }), Presence::Unknown);
}

#[tokio::test]
async fn a_conversation_of_a_killed_process_is_taken_at_once() {
    let home = Home::new();
    let store = store(&home).await;
    let mut sleeper = Sleeper::start();
    let held = acquired(&store, Resource::Conversation(id("s")), &sleeper.holder()).await;
    assert_eq!(theirs(own(&store).await), (held.clone(), Presence::Running));
    sleeper.kill();
    sleeper.0.wait().unwrap();
    let grant = ours(own(&store).await);
    assert_eq!((grant.lease.holder, grant.tip), (this_process("test"), Some(id("s"))));
    let said = [NewMessage::new(Role::User, "I am back")];
    let fenced = store.append(&id("s"), &said, &now().fenced(held.fence)).await;
    assert!(matches!(fenced, Err(StoreError::Conflict(Conflict::Fenced(_)))), "{fenced:?}");
}

#[tokio::test]
async fn a_person_takes_a_conversation_over() {
    let home = Home::new();
    let store = store(&home).await;
    let sleeper = Sleeper::start();
    acquired(&store, Resource::Conversation(id("s")), &sleeper.holder()).await;
    let (seen, _) = theirs(own(&store).await);
    let us = this_process("test");
    let grant = ours(owners::take_over(&*store, &seen, &us, MINUTE, &now()).await.unwrap());
    assert_ne!(grant.lease.fence, seen.fence);
    // The person had decided about another owner.
    let another = Holder { label: "another".into(), ..us };
    let owned = owners::take_over(&*store, &seen, &another, MINUTE, &now()).await.unwrap();
    assert_eq!(theirs(owned), (grant.lease.clone(), Presence::Running));
    store.release(&grant.lease, &now()).await.unwrap();
    ours(owners::take_over(&*store, &seen, &another, MINUTE, &now()).await.unwrap());
    // On another machine nobody can see whether it runs, so a person is asked.
    let remote = Holder { host: "elsewhere".into(), ..another };
    let terms = Terms { ttl: MINUTE, take: Take::Force(own_fence(&store).await) };
    store.acquire(&Resource::Conversation(id("s")), &remote, terms, &now()).await.unwrap();
    assert_eq!(theirs(own(&store).await).1, Presence::Unknown);
}

async fn own_fence(store: &OpenStore) -> hermes_session::live::Fence {
    store.leases("c:").await.unwrap()[0].fence
}

#[tokio::test]
async fn every_lease_is_listed_with_its_conversation() {
    let home = Home::new();
    let store = store(&home).await;
    assert_eq!(owners::all(&*store, at(NOW)).await.unwrap(), []);
    let child = NewChild::new(id("tip"));
    store.split(&id("s"), &child, &[NewMessage::new(Role::User, "so far")], &now()).await.unwrap();
    let mut sleeper = Sleeper::start();
    let account = Account::parse("telegram:12ab").unwrap();
    let lease = acquired(&store, Resource::Conversation(id("tip")), &sleeper.holder()).await;
    acquired(&store, Resource::Account(account.clone()), &this_process("gateway")).await;
    let hold = Resource::Hold { session: id("s"), name: "build".into() };
    acquired(&store, hold.clone(), &this_process("build")).await;
    let turn = NewTurn {
        session: id("tip"),
        kind: TurnKind::Person,
        route: None,
        opened_by: "chat".into(),
        said: vec![NewMessage::new(Role::User, "and now?").into()],
    };
    let turn = store.open_turn(&turn, &now().fenced(lease.fence)).await.unwrap().turn;
    sleeper.kill();
    sleeper.0.wait().unwrap();
    store.end(&id("tip"), &EndReason::parse("cli_close").unwrap(), &now()).await.unwrap();
    let all = owners::all(&*store, at(NOW + 59.0)).await.unwrap();
    let seen: Vec<_> = all
        .iter()
        .map(|owner| (&owner.lease.resource, owner.session.as_ref().map(ToString::to_string), owner.presence))
        .collect();
    let tip = Some("tip".to_owned());
    let conversation = Resource::Conversation(id("s"));
    assert_eq!(
        seen,
        [
            (&conversation, tip.clone(), Presence::Gone),
            (&hold, tip, Presence::Running),
            (&Resource::Account(account), None, Presence::Running)
        ]
    );
    assert_eq!(all[0].title.as_deref(), Some("long work #2"));
    assert_eq!((all[0].turn.as_ref(), all[1].turn.as_ref()), (Some(&turn), None));
    assert!(all.iter().all(|owner| !owner.is_expired));
    assert!(owners::all(&*store, at(NOW + 61.0)).await.unwrap().iter().all(|owner| owner.is_expired));
}
