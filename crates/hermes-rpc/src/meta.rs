//! Values that are stored beside the sessions.

use crate::call::{Answer, Call, NONE};
use crate::fail::Fail;
use hermes_session::Json;

pub(crate) async fn get(call: &Call<'_>) -> Answer {
    let Some(key) = call.args.filled("key")? else { return Ok(NONE.into()) };
    let value = call.store.meta(&key).await?;
    Ok(value.map_or_else(|| NONE.into(), |value| Json::string(&value).as_str().to_owned()))
}

/// Sets a value. It needs no idempotency key, because repeating it changes nothing.
pub(crate) async fn set(call: &Call<'_>) -> Answer {
    let key = call.args.text("key")?.ok_or_else(|| Fail::missing("state_meta.key"))?;
    call.store.set_meta(&key, call.args.text("value")?.as_deref()).await?;
    Ok(NONE.into())
}
