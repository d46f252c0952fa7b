//! Archiving: a flag of each session of a conversation. A change holds the lineage lock, so that no continuation is
//! added meanwhile.

use super::requests::once;
use super::{LIST, Sql, among, lineage, row};
use hermes_session::live::Kinds;
use hermes_session::{Request, SessionId, change};

/// Implements `set_archived` of the contract.
pub async fn set<T: Sql>(
    transaction: &T,
    id: &SessionId,
    is_archived: bool,
    request: &Request,
) -> Result<bool, T::Failure> {
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::set_archived(id, is_archived), async {
        let lineage = lineage::read(transaction, id).await?;
        let root = lineage.conversation_root(id);
        let was_archived = row::existing(transaction, &root).await?.archived;
        for some in lineage.conversation(&root).chunks(LIST) {
            some.iter().for_each(|session| transaction.note(session, Kinds::SESSION));
            let (condition, mut values) = among("id", 2, some.iter().map(SessionId::as_str));
            values.insert(0, i64::from(is_archived).into());
            transaction.run(&format!("UPDATE sessions SET archived = $1 WHERE {condition}"), values).await?;
        }
        Ok(was_archived != is_archived)
    })
    .await
}
