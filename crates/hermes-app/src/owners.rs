//! The owner of a conversation, whether its process is gone, and taking a conversation over.

use crate::process::stat;
use hermes_session::live::{Acquired, Grant, Holder, Lease, Resource, Take, Terms, Turn};
use hermes_session::{Request, SessionId, Store, StoreError, Timestamp};
use std::sync::LazyLock;
use std::time::Duration;

/// Number of open turns that are read at once.
const PAGE: u32 = 500;

/// The machine or container of this process: its boot and its process namespace, in which process ids are comparable.
/// Without `/proc` it is a random value, so that only this process is on it.
static HOST: LazyLock<String> = LazyLock::new(|| host().unwrap_or_else(|| uuid::Uuid::new_v4().to_string()));

fn host() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    // A link such as `pid:[4026531836]`, with the inode of the namespace.
    let link = std::fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace = link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?;
    // A process whose start is not known could be taken for a later one of the same id.
    stat("self")?;
    Some(format!("{}-{namespace}", boot.trim()))
}

/// Returns this process as a holder of leases. `label` describes it for people, such as `chat on laptop`.
pub fn this_process(label: impl Into<String>) -> Holder {
    Holder {
        host: HOST.clone(),
        process: i64::from(std::process::id()),
        born: stat("self").map_or_else(String::new, |stat| stat.start.to_string()),
        label: label.into(),
    }
}

/// Visible state of the process of a holder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It runs.
    Running,
    /// It has ended. Its lease may be taken at once.
    Gone,
    /// It is on another machine or in another container, or processes can't be seen here.
    Unknown,
}

/// Returns the visible state of the process of a holder.
pub fn presence(holder: &Holder) -> Presence {
    if holder.host != *HOST {
        return Presence::Unknown;
    }
    let is_it = |process: &str| stat(process).map(|stat| !stat.is_over && stat.start.to_string() == holder.born);
    match is_it(&holder.process.to_string()) {
        Some(true) => Presence::Running,
        Some(false) => Presence::Gone,
        // Where a mount option hides the processes of other accounts, the first one is hidden, too.
        None if stat("1").is_some() => Presence::Gone,
        None => Presence::Unknown,
    }
}

/// Answer to an attempt to own a conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum Owned {
    /// The caller owns it now.
    Ours(Grant),
    /// Somebody else owns it. A person may decide to take it over.
    Theirs {
        /// The lease, which [`take_over`] needs.
        lease: Lease,
        /// Visible state of its process.
        presence: Presence,
    },
}

/// Takes the lease of a conversation, named by any of its sessions, for `ttl`. A lease of a process that can be seen to
/// be gone is taken, too.
///
/// # Errors
/// If there is no such session, or the store fails.
pub async fn own(
    store: &dyn Store,
    session: &SessionId,
    who: &Holder,
    ttl: Duration,
    request: &Request,
) -> Result<Owned, StoreError> {
    let what = Resource::Conversation(session.clone());
    let held = match store.acquire(&what, who, Terms::free(ttl), request).await? {
        Acquired::Got(grant) => return Ok(Owned::Ours(grant)),
        Acquired::Held(lease) => lease,
    };
    if presence(&held.holder) != Presence::Gone {
        return Ok(theirs(held));
    }
    let terms = Terms { ttl, take: Take::Dead(held.fence) };
    Ok(answer(store.acquire(&what, who, terms, request).await?))
}

/// Takes a lease from its owner, because a person decided so. If somebody else took it meanwhile, the answer is theirs:
/// the person decided about another owner.
///
/// # Errors
/// If the conversation is gone, or the store fails.
pub async fn take_over(
    store: &dyn Store,
    from: &Lease,
    who: &Holder,
    ttl: Duration,
    request: &Request,
) -> Result<Owned, StoreError> {
    let terms = Terms { ttl, take: Take::Force(from.fence) };
    Ok(answer(store.acquire(&from.resource, who, terms, request).await?))
}

fn answer(acquired: Acquired) -> Owned {
    match acquired {
        Acquired::Got(grant) => Owned::Ours(grant),
        Acquired::Held(lease) => theirs(lease),
    }
}

fn theirs(lease: Lease) -> Owned {
    Owned::Theirs { presence: presence(&lease.holder), lease }
}

/// A lease, with the facts that a person needs about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    /// The lease, with its times by the caller's clock.
    pub lease: Lease,
    /// Visible state of its process.
    pub presence: Presence,
    /// Whether it has expired, so that anybody may take it.
    pub is_expired: bool,
    /// Last session of the conversation; `None` for an account, or if the conversation is gone.
    pub session: Option<SessionId>,
    /// Title of that session.
    pub title: Option<String>,
    /// The open turn of the conversation, for the lease of a conversation.
    pub turn: Option<Turn>,
}

/// Returns the owners of conversations and accounts and the holders of holds, in the order of the stored keys.
///
/// # Errors
/// If the store fails.
pub async fn all(store: &dyn Store, now: Timestamp) -> Result<Vec<Owner>, StoreError> {
    of_leases(store, store.leases("").await?, now).await
}

/// Returns the owner of the conversation that starts with a session; `None` if it has none, or its lease has expired.
///
/// # Errors
/// If the store fails.
pub async fn of(store: &dyn Store, root: &SessionId, now: Timestamp) -> Result<Option<Owner>, StoreError> {
    let resource = Resource::Conversation(root.clone());
    let mut leases = store.leases(&resource.key()).await?;
    // Another conversation's id may start with this one.
    leases.retain(|lease| lease.resource == resource);
    Ok(of_leases(store, leases, now).await?.pop().filter(|owner| !owner.is_expired))
}

async fn of_leases(store: &dyn Store, leases: Vec<Lease>, now: Timestamp) -> Result<Vec<Owner>, StoreError> {
    if leases.is_empty() {
        return Ok(Vec::new());
    }
    let turns = open_turns(store).await?;
    // A server judges by its own clock, which may differ from the caller's.
    let ahead = store.lease_time(now).await?.seconds() - now.seconds();
    let mut owners = Vec::with_capacity(leases.len());
    for lease in leases {
        let lease = Lease { taken_at: lease.taken_at.plus(-ahead), until: lease.until.plus(-ahead), ..lease };
        let tip = match lease.resource.session() {
            Some(root) => tip(store, root).await?,
            None => None,
        };
        let turn = match &lease.resource {
            Resource::Conversation(root) => turns.iter().find(|turn| turn.conversation == *root).cloned(),
            Resource::Account(_) | Resource::Hold { .. } => None,
        };
        let (session, title) = tip.map_or((None, None), |(session, title)| (Some(session), title));
        let (presence, is_expired) = (presence(&lease.holder), lease.is_expired(now));
        owners.push(Owner { lease, presence, is_expired, session, title, turn });
    }
    Ok(owners)
}

/// Returns the last session of a conversation with its title; `None` if the conversation is gone.
async fn tip(store: &dyn Store, root: &SessionId) -> Result<Option<(SessionId, Option<String>)>, StoreError> {
    let tip = match store.lineage(root).await {
        Ok(lineage) => lineage.tip(root),
        Err(StoreError::NotFound(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(store.session(&tip).await?.map(|session| (session.id, session.title)))
}

async fn open_turns(store: &dyn Store) -> Result<Vec<Turn>, StoreError> {
    let mut turns: Vec<Turn> = Vec::new();
    loop {
        let page = store.open_turns(turns.last().map(|turn| turn.id), PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        turns.extend(page);
        if is_last {
            return Ok(turns);
        }
    }
}
