//! The document about owners.

use hermes_app::owners::{Owner, Presence};
use hermes_session::SessionId;
use hermes_wire::{document, owners as wire};

/// Returns who holds what.
pub(crate) fn owners(owners: &[Owner]) -> String {
    document(&wire::Owners { owners: owners.iter().map(owner).collect() })
}

fn owner(owner: &Owner) -> wire::Owner<'_> {
    let around = wire::Around {
        session: owner.session.as_ref().map(SessionId::as_str),
        title: owner.title.as_deref(),
        is_gone: match owner.presence {
            Presence::Running => Some(false),
            Presence::Gone => Some(true),
            Presence::Unknown => None,
        },
        is_expired: owner.is_expired,
        turn: owner.turn.as_ref(),
    };
    wire::Owner::new(&owner.lease, around)
}
