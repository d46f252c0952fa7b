//! Sends pieces to a store.

use super::{ImportPiece, Imported};
use crate::{Maintenance, StoreError};

/// Sends pieces of different sessions until all are taken. Calls `on_taken` for each piece whose session is complete
/// now or was refused, with the place of the piece, the piece (the session has its `start` plus its messages), and the
/// result. Returns whether the last one was taken.
pub(crate) async fn send(
    store: &dyn Maintenance,
    pieces: &mut [ImportPiece],
    on_taken: &mut (dyn FnMut(usize, &ImportPiece, Imported) + Send),
) -> Result<bool, StoreError> {
    let (mut at, mut is_taken) = (0, true);
    while at < pieces.len() {
        for outcome in store.import(&pieces[at..]).await? {
            let piece = &mut pieces[at];
            if let Imported::Partly(taken) = outcome {
                let taken = usize::try_from(taken).unwrap_or(usize::MAX).min(piece.messages.len());
                piece.messages.drain(..taken);
                piece.start += taken as u64;
                if !piece.messages.is_empty() || piece.is_last {
                    break;
                }
                is_taken = true;
            } else {
                is_taken = outcome != Imported::Exists;
                on_taken(at, piece, outcome);
            }
            at += 1;
        }
    }
    Ok(is_taken)
}
