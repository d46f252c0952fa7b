//! Newer releases store the relation to the parent in a child's settings, and rely on it: a branch without that marker
//! is hidden or deleted with its parent, and a continuation that is marked as a branch is not followed.

use crate::fixture::{File, id, new, now, session, texts, title, user};
use crate::on_their_file::{end, say};
use crate::peer::Release;
use crate::views::{same_list, same_tip, same_transcripts};
use hermes_session::{ConversationStore as _, EndReason, NewChild, Relation, SessionStore as _};
use serde_json::json;

async fn a_branch_of_theirs_that_we_carry_on_stays_one_conversation(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    peer.call("create_session", json!({"session_id": "origin", "source": "cli"}));
    say(&mut peer, "origin", "where it forks");
    end(&mut peer, "origin", "branched");
    let marked = json!({"session_id": "fork", "source": "cli", "parent_session_id": "origin",
        "model_config": {"_branched_from": "origin", "temperature": 0.5}});
    peer.call("create_session", marked);
    say(&mut peer, "fork", "another way");
    let store = file.open();
    store.split(&id("fork"), &NewChild::new(id("fork-2")), &[user("carried on")], &now()).await.unwrap();
    assert_eq!(session(&store, "fork-2").await.relation, Relation::Continuation);
    same_tip(&store, &mut peer, "fork", "fork-2").await;
    same_list(&store, &mut peer).await;
    peer.close();
}
scenario!(a_branch_of_theirs_that_we_carry_on_stays_one_conversation: release_0_19_0 "0.19.0");

async fn a_branch_of_ours_is_listed_whatever_its_parent_ended_with(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    peer.call("create_session", json!({"session_id": "closed", "source": "cli"}));
    say(&mut peer, "closed", "where it forks");
    end(&mut peer, "closed", "cli_close");
    let store = file.open();
    store.branch(&id("closed"), &NewChild::new(id("fork")), &now()).await.unwrap();
    store.append(&id("fork"), &[user("another way")], &now()).await.unwrap();
    same_list(&store, &mut peer).await;
    same_transcripts(&store, &mut peer, &["closed", "fork"]).await;
    peer.close();
}
scenario!(a_branch_of_ours_is_listed_whatever_its_parent_ended_with: release_0_19_0 "0.19.0");

/// A newer release that opens our file for the first time takes children of unknown relation for delegates, which it
/// deletes with their parent.
async fn a_branch_of_ours_outlives_its_parent(release: &Release) {
    let file = File::new();
    let store = file.open();
    store.create(&new("closed"), &now()).await.unwrap();
    store.set_title(&id("closed"), Some(&title("closed")), &now()).await.unwrap();
    store.append(&id("closed"), &[user("where it forks")], &now()).await.unwrap();
    store.end(&id("closed"), &EndReason::parse("cli_close").unwrap(), &now()).await.unwrap();
    store.branch(&id("closed"), &NewChild::new(id("fork")), &now()).await.unwrap();
    store.append(&id("fork"), &[user("another way")], &now()).await.unwrap();
    let mut peer = release.open(&file);
    assert_eq!(peer.call("delete_session", json!({"session_id": "closed"})), true);
    assert_ne!(store.session(&id("fork")).await.unwrap(), None, "the branch went with its parent");
    assert_eq!(texts(&store, "fork").await, ["where it forks", "another way"]);
    same_list(&store, &mut peer).await;
    peer.close();
}
scenario!(a_branch_of_ours_outlives_its_parent: release_0_19_0 "0.19.0");
