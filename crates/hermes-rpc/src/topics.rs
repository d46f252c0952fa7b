//! Not served yet.

use crate::call::{Answer, Call};
use crate::fail::{ErrorType, Fail};

pub(crate) async fn later(call: &Call<'_>) -> Answer {
    Err(Fail::new(ErrorType::Operational, format!("{} is not served yet", call.args.0.method.signature.name)))
}
