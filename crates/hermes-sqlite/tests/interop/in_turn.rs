//! One conversation, many rounds: we and the agent write in turn, and the other side reads it each time.

use crate::fixture::{File, id, new, now, report, session, texts, title, user};
use crate::on_their_file::{create, end, say};
use crate::peer::Release;
use crate::views::{our_list, same_list, same_tip, same_transcripts};
use hermes_session::{ConversationStore as _, NewChild, SessionStore as _};
use serde_json::json;

const ROUNDS: usize = 60;

async fn every_round_is_read_by_the_other_side(release: &Release) {
    let file = File::new();
    // The first opener creates the schema of the file.
    let (mut peer, mut store);
    if release.is_host() {
        peer = release.open(&file);
        store = file.open();
    } else {
        store = file.open();
        peer = release.open(&file);
    }
    store.create(&new("talk"), &now()).await.unwrap();
    store.set_title(&id("talk"), Some(&title("talk")), &now()).await.unwrap();
    let (mut current, mut transcript, mut chain) = ("talk".to_owned(), Vec::new(), vec!["talk".to_owned()]);
    let mut written = 0;
    for round in 0..ROUNDS {
        let ours = round % 2 == 0;
        let text = format!("round {round} word{round}");
        match (round % 10, ours) {
            (8 | 9, true) => {
                let child = format!("talk-{round}");
                let number =
                    store.split(&id(&current), &NewChild::new(id(&child)), &[user(&text)], &now()).await.unwrap();
                assert_eq!(number.unwrap().as_str(), format!("talk #{}", chain.len() + 1));
                (current, transcript) = (child, Vec::new());
                chain.push(current.clone());
            }
            (8 | 9, false) => {
                let child = format!("talk-{round}");
                end(&mut peer, &current, "compression");
                create(&mut peer, &child, Some(&current));
                let number = peer.call("get_next_title_in_lineage", json!({"base_title": "talk"}));
                assert_eq!(number, json!(format!("talk #{}", chain.len() + 1)));
                peer.call("set_session_title", json!({"session_id": child, "title": number}));
                say(&mut peer, &child, &text);
                (current, transcript) = (child, Vec::new());
                chain.push(current.clone());
            }
            (4 | 5, true) => {
                store.replace(&id(&current), &[user(&text)], &now()).await.unwrap();
                transcript.clear();
            }
            (4 | 5, false) => {
                let rewritten = json!([{"role": "user", "content": text}]);
                peer.call("replace_messages", json!({"session_id": current, "messages": rewritten}));
                transcript.clear();
            }
            (_, true) => {
                store.append(&id(&current), &[user(&text)], &now()).await.unwrap();
            }
            (_, false) => {
                say(&mut peer, &current, &text);
            }
        }
        transcript.push(text);
        written += 1;
        assert_eq!(texts(&store, &current).await, transcript, "round {round}");
        same_transcripts(&store, &mut peer, &[&current]).await;
        same_tip(&store, &mut peer, "talk", &current).await;
        assert_eq!(session(&store, &current).await.message_count, transcript.len() as i64, "round {round}");
        if round % 20 == 12 {
            peer.call("vacuum", json!({}));
            peer.close();
            drop(store);
            store = file.open();
            peer = release.open(&file);
        }
    }
    same_list(&store, &mut peer).await;
    let rows = our_list(&store).await;
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].id.as_str(), rows[0].segments), (current.as_str(), chain.len() as u64));
    let ids: Vec<_> = chain.iter().map(|name| id(name)).collect();
    assert_eq!(store.lineage(&id(&current)).await.unwrap().conversation(&id("talk")), ids);
    peer.close();
    drop(store);
    file.check();
    file.check_counters();
    report(&format!("{}: {written} rounds in turn, {} sessions in one conversation", release.version, chain.len()));
}
scenario!(every_round_is_read_by_the_other_side);
