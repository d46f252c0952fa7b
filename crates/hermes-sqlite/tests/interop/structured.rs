//! Content in parts begins with a NUL, where an older SQLite stops making trigrams and a newer one goes on. Whoever
//! wrote such a message, either side can delete it, and the agent's search keeps working.

use crate::fixture::{File, id, new, now, report};
use crate::on_their_file::create;
use crate::peer::{Peer, Release};
use crate::samples;
use crate::views::{arguments, their_hits};
use hermes_session::{ConversationStore as _, DeleteExtent, Maintenance as _, NewMessage, SessionStore as _};
use serde_json::json;

/// Makes a file that we and the agent have open, with the agent's schema if we are guests there.
fn open(release: &Release) -> (File, Peer, hermes_sqlite::SqliteStore) {
    let file = File::new();
    let peer = release.open(&file);
    let store = file.open();
    (file, peer, store)
}

fn say_parts(peer: &mut Peer, session: &str) {
    create(peer, session, None);
    for body in samples::parts() {
        peer.call("append_message", arguments(session, &body));
    }
}

async fn we_can_take_away_what_they_wrote(release: &Release) {
    let (file, mut peer, store) = open(release);
    for session in ["replaced", "deleted"] {
        say_parts(&mut peer, session);
    }
    let parts: Vec<NewMessage> = samples::parts().into_iter().map(Into::into).collect();
    store.replace(&id("replaced"), &parts, &now()).await.unwrap();
    store.delete(&id("deleted"), DeleteExtent::Conversation, &now()).await.unwrap();
    let kept = store.messages(&id("replaced"), &hermes_session::MessageRequest::first(9)).await.unwrap();
    assert_eq!(kept.len(), parts.len());
    while store.upkeep().await.unwrap() {}
    assert_eq!(their_hits(&mut peer, "mountain"), [kept[2].id.0]);
    // Not more than the agent's own SQLite would find; what counts is that it answers.
    assert!(their_hits(&mut peer, "富士山").iter().all(|hit| *hit == kept[1].id.0));
    peer.close();
    drop(store);
    file.check();
}
scenario!(we_can_take_away_what_they_wrote);

async fn they_can_take_away_what_we_wrote(release: &Release) {
    let (file, mut peer, store) = open(release);
    let parts: Vec<NewMessage> = samples::parts().into_iter().map(Into::into).collect();
    for session in ["replaced", "deleted"] {
        store.create(&new(session), &now()).await.unwrap();
        store.append(&id(session), &parts, &now()).await.unwrap();
    }
    let plain = json!([{"role": "user", "content": "plain words"}]);
    peer.call("replace_messages", json!({"session_id": "replaced", "messages": plain}));
    peer.call("delete_session", json!({"session_id": "deleted"}));
    for query in ["富士山", "写真", "mountain"] {
        let hits = peer.try_call("search_messages", json!({"query": query}));
        assert_eq!(hits, Ok(json!([])), "{query}");
    }
    assert_eq!(their_hits(&mut peer, "plain").len(), 1);
    peer.close();
    drop(store);
    report(&format!("{}: structured messages of ours taken away by it", release.version));
    file.check();
}
scenario!(they_can_take_away_what_we_wrote);

/// A file with images in it is adopted like any other.
async fn a_file_with_structured_content_is_opened(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    say_parts(&mut peer, "pictures");
    let store = file.open();
    assert_eq!(store.session(&id("pictures")).await.unwrap().unwrap().message_count, 3);
    peer.close();
}
scenario!(a_file_with_structured_content_is_opened);
