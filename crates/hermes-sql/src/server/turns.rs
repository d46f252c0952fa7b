//! Turns: one row per open turn.

use super::messages::root;
use super::requests::{once, repeated};
use super::row::lock;
use super::{Failing as _, Fields as _, Odd, ServerRow, Sql, Value, mail, routes, usage};
use crate::values;
use hermes_session::live::{Fence, Kinds, NewTurn, OpenedTurn, RouteKey, Turn, TurnClose, TurnId, TurnKind};
use hermes_session::{Conflict, MessageId, NewMessage, Request, SessionId, Timestamp, change};

/// Columns of a turn. It belongs to the conversation that its session is part of now.
const COLUMNS: &str = "t.id, h.root, t.session_id, t.kind, t.route, t.fence, t.attempts, t.opened_at, t.opened_by \
     FROM hx_turn t JOIN hx_session h ON h.session_id = t.session_id";

/// Implements `open_turn` of the contract.
pub async fn open<T: Sql>(
    transaction: &T,
    new: &NewTurn,
    messages: &[NewMessage],
    words: &[T::Written],
    request: &Request,
) -> Result<OpenedTurn, T::Failure> {
    once(transaction, request, &new.session, || change::open_turn(new), async {
        lock(transaction, &new.session).await?;
        let conversation = root(transaction, &new.session).await?;
        // A write of the row: of two callers that open a turn of a conversation, the later one sees the other's.
        let sql = "UPDATE hx_session SET turns = turns + 1 WHERE session_id = $1";
        transaction.run(sql, values![conversation.as_str()]).await?;
        let open = of_conversation(transaction, &conversation).await?;
        if let Some(turn) = &open {
            if request.fence.is_none() || request.fence == turn.fence {
                return Err(Conflict::TurnOpen { session: new.session.clone(), turn: turn.id }.into());
            }
            take(transaction, turn).await?;
            mail::settle_rows(transaction, turn.id, request.at).await?;
        }
        let turn = insert(transaction, conversation, new, request).await?;
        let ids = transaction.add(&new.session, messages, words, request.at).await?;
        for (said, message) in new.said.iter().zip(&ids) {
            if let Some(row) = said.inbox {
                mail::take_row(transaction, row, turn.id, *message).await?;
            }
        }
        transaction.note(&turn.conversation, Kinds::OWNER);
        if !ids.is_empty() {
            transaction.note(&new.session, Kinds::MESSAGES);
        }
        let notice = match &new.route {
            Some(key) => routes::touch(transaction, key, request.at).await?,
            None => None,
        };
        Ok(OpenedTurn { turn, messages: ids, interrupted: open.map(|turn| turn.id), notice })
    })
    .await
}

/// Implements `resume_turn` of the contract.
pub async fn resume<T: Sql>(transaction: &T, id: TurnId, request: &Request) -> Result<Turn, T::Failure> {
    let Some(turn) = read(transaction, id).await? else {
        return closed(transaction, id, request, &change::resume_turn(id)).await;
    };
    once(transaction, request, &turn.session, || change::resume_turn(id), async {
        let resumed = Turn { fence: request.fence, attempts: turn.attempts.saturating_add(1), ..turn.clone() };
        // Also compares the attempts: of two callers that read the same turn, the later one reads it again.
        let sql = "UPDATE hx_turn SET fence = $1, attempts = $2 WHERE id = $3 AND attempts = $4 AND session_id = $5";
        let fence = resumed.fence.map(|fence| fence.0);
        let values = values![fence, resumed.attempts, id.0, turn.attempts, turn.session.as_str()];
        if transaction.run(sql, values).await? == 0 {
            return Err(moved::<T>());
        }
        transaction.note(&turn.conversation, Kinds::OWNER);
        Ok(resumed)
    })
    .await
}

/// Implements `close_turn` of the contract.
pub async fn close<T: Sql>(
    transaction: &T,
    id: TurnId,
    close: &TurnClose,
    messages: &[NewMessage],
    words: &[T::Written],
    request: &Request,
) -> Result<Vec<MessageId>, T::Failure> {
    let Some(turn) = read(transaction, id).await? else {
        return closed(transaction, id, request, &change::close_turn(id, close)).await;
    };
    once(transaction, request, &turn.session, || change::close_turn(id, close), async {
        lock(transaction, &turn.session).await?;
        take(transaction, &turn).await?;
        let ids = transaction.add(&turn.session, messages, words, request.at).await?;
        if let Some(update) = &close.usage {
            usage::add(transaction, &turn.session, update).await?;
        }
        if let (Some(key), Some(tokens)) = (&turn.route, close.prompt_tokens) {
            routes::note_prompt_tokens(transaction, key, tokens).await?;
        }
        mail::queue(transaction, &close.outbound, Some(&turn), request.at).await?;
        mail::settle_rows(transaction, id, request.at).await?;
        if !ids.is_empty() {
            transaction.note(&turn.session, Kinds::MESSAGES);
        }
        Ok(ids)
    })
    .await
}

/// Implements `open_turns` of the contract.
pub async fn list<T: Sql>(transaction: &T, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} WHERE t.id > $1 ORDER BY t.id LIMIT $2");
    let after = after.map_or(i64::MIN, |turn| turn.0);
    let rows = transaction.rows(&sql, values![after, i64::from(limit)]).await?;
    Ok(rows.iter().map(turn).collect::<Result<_, _>>()?)
}

/// Moves the open turn of a session that was split to its continuation. The caller has locked the session.
pub(super) async fn carry<T: Sql>(transaction: &T, parent: &SessionId, child: &SessionId) -> Result<(), T::Failure> {
    let sql = "UPDATE hx_turn SET session_id = $2 WHERE session_id = $1";
    transaction.run(sql, values![parent.as_str(), child.as_str()]).await.map(drop)
}

/// Returns the open turn of a conversation; the older one if two were linked.
pub(super) async fn of_conversation<T: Sql>(transaction: &T, root: &SessionId) -> Result<Option<Turn>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} WHERE h.root = $1 ORDER BY t.id LIMIT 1");
    let row = transaction.row(&sql, values![root.as_str()]).await?;
    Ok(row.as_ref().map(turn).transpose()?)
}

/// Returns an open turn.
pub(super) async fn read<T: Sql>(transaction: &T, id: TurnId) -> Result<Option<Turn>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} WHERE t.id = $1");
    let row = transaction.row(&sql, values![id.0]).await?;
    Ok(row.as_ref().map(turn).transpose()?)
}

/// Removes a turn as it was read. Fails, to be tried again, if it was closed or moved since.
pub(super) async fn take<T: Sql>(transaction: &T, turn: &Turn) -> Result<(), T::Failure> {
    let sql = "DELETE FROM hx_turn WHERE id = $1 AND session_id = $2";
    match transaction.run(sql, values![turn.id.0, turn.session.as_str()]).await? {
        0 => Err(moved::<T>()),
        _ => {
            transaction.note(&turn.conversation, Kinds::OWNER);
            Ok(())
        }
    }
}

fn moved<T: Sql>() -> T::Failure {
    T::Failure::undone("the turn was closed or moved meanwhile".into())
}

/// Answers a request about a turn that is not open: it may be the one that closed it.
async fn closed<T: Sql, A: crate::Answer>(
    transaction: &T,
    id: TurnId,
    request: &Request,
    fingerprint: &str,
) -> Result<A, T::Failure> {
    repeated(transaction, request, fingerprint).await?.ok_or_else(|| Conflict::TurnClosed(id).into())
}

/// Inserts the row of a new turn.
async fn insert<T: Sql>(
    transaction: &T,
    conversation: SessionId,
    new: &NewTurn,
    request: &Request,
) -> Result<Turn, T::Failure> {
    let turn = Turn {
        id: TurnId(0),
        conversation,
        session: new.session.clone(),
        kind: new.kind,
        route: new.route.clone(),
        fence: request.fence,
        attempts: 1,
        opened_at: request.at,
        opened_by: new.opened_by.clone(),
    };
    Ok(Turn { id: assign(transaction, &turn).await?, ..turn })
}

/// Stores a turn under the id that the server assigns.
async fn assign<T: Sql>(transaction: &T, turn: &Turn) -> Result<TurnId, T::Failure> {
    let sql = "INSERT INTO hx_turn (session_id, kind, route, fence, attempts, opened_at, opened_by) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)";
    transaction.insert(sql, stored(turn)).await.map(TurnId)
}

/// Stores a turn of another store under its id. Returns `false` if the id was used.
pub(super) async fn put<T: Sql>(transaction: &T, turn: &Turn) -> Result<bool, T::Failure> {
    // The id that the server assigns is greater than all that were used.
    let next = assign(transaction, turn).await?;
    transaction.run("DELETE FROM hx_turn WHERE id = $1", values![next.0]).await?;
    if turn.id < next {
        return Ok(false);
    }
    let sql = "INSERT INTO hx_turn (session_id, kind, route, fence, attempts, opened_at, opened_by, id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let mut values = stored(turn);
    values.push(turn.id.0.into());
    transaction.run(sql, values).await?;
    if let Some(skip) = transaction.dialect().skip_turns {
        transaction.rows(skip, values![turn.id.0]).await?;
    }
    Ok(true)
}

fn stored(turn: &Turn) -> Vec<Value> {
    values![
        turn.session.as_str(),
        turn.kind.as_str(),
        turn.route.as_ref().map(RouteKey::to_stored),
        turn.fence.map(|fence| fence.0),
        turn.attempts,
        turn.opened_at.seconds(),
        turn.opened_by.as_str()
    ]
}

fn turn<R: ServerRow>(row: &R) -> Result<Turn, Odd> {
    let odd = || Odd("hx_turn: not a turn".to_owned());
    let route = row.try_get::<Option<String>>(4)?;
    Ok(Turn {
        id: TurnId(row.try_get(0)?),
        conversation: row.id(1)?,
        session: row.id(2)?,
        kind: TurnKind::from_stored(&row.try_get::<String>(3)?).ok_or_else(odd)?,
        route: route.map(|key| RouteKey::from_stored(&key).ok_or_else(odd)).transpose()?,
        fence: row.try_get::<Option<i64>>(5)?.map(Fence),
        attempts: row.try_get::<i64>(6)?.try_into().map_err(|_| odd())?,
        opened_at: Timestamp::from_seconds(row.try_get(7)?).map_err(|_| odd())?,
        opened_by: row.try_get(8)?,
    })
}
