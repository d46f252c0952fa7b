//! Repairs damaged files, one after the other.

use crate::beside::{OTHERS, Others};
use crate::damage::{Dice, WAYS, Way, damage};
use crate::fixture::{KEPT, Sound, idle};
use hermes_rescue::{Repaired, repair};
use hermes_session::transfer::TransferError;
use hermes_session::{Maintenance as _, Refusal, StoreError, TargetProblem};
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Number of files that are damaged in each way.
const EACH: u64 = 7;

fn number(connection: &Connection, sql: &str) -> u64 {
    connection.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap().into()
}

/// Comparison of a repaired file with the original.
struct Judged {
    /// Messages that are unchanged.
    same: u64,
    /// Messages that are a prefix of the original.
    cut: u64,
    /// Messages that the original does not have.
    other: u64,
}

fn judge(repaired: &Path, truth: &Path) -> Judged {
    let connection = Connection::open(repaired).unwrap();
    connection.execute("ATTACH ? AS truth", [truth.to_str().unwrap()]).unwrap();
    let join =
        "FROM main.messages m JOIN truth.messages t ON t.id = m.id AND t.session_id = m.session_id AND t.role = m.role";
    let same = number(
        &connection,
        &format!("SELECT count(*) {join} WHERE m.content IS t.content AND m.timestamp = t.timestamp"),
    );
    let cut = number(
        &connection,
        &format!(
            "SELECT count(*) {join} WHERE m.content IS NOT t.content AND (m.content IS NULL OR substr(t.content, 1, length(m.content)) = m.content)"
        ),
    );
    let all = number(&connection, "SELECT count(*) FROM main.messages");
    Judged { same, cut, other: all - same - cut }
}

/// Returns all files of a folder with their bytes.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

pub(crate) async fn repaired(path: &Path, target: &Path) -> Repaired {
    repair(path, target, &mut |_, _, _| ControlFlow::Continue(())).await.unwrap()
}

#[tokio::test]
async fn what_no_damaged_page_held_is_saved() {
    let sounds = [Sound::make(4096, false).await, Sound::make(512, false).await];
    let with_log = [Sound::make(4096, true).await];
    let mut others = Others::start();
    // A tool that can't read a sound file proves nothing by failing on a damaged one.
    for (name, saved) in OTHERS.iter().zip(others.ask(&sounds[0].path(), &sounds[0].truth())) {
        match saved {
            Ok(saved) => assert_eq!(saved, sounds[0].messages, "{name}"),
            Err(why) if why.contains("FileNotFoundError") => println!("{name} is not installed; its figures are none"),
            Err(why) => assert!(why.is_empty(), "{name} fails on a sound file: {why}"),
        }
    }
    let mut dice = Dice(0x5eed_0123_4567_89ab);
    let mut table: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut files, mut shares) = (0, [0.0; 4]);
    for way in WAYS {
        let sounds: &[Sound] = if way.is_of_log() { &with_log } else { &sounds };
        for round in 0..EACH {
            let sound = &sounds[round as usize % sounds.len()];
            let folder = tempfile::tempdir().unwrap();
            let (path, target) = (folder.path().join("in/state.db"), folder.path().join("new.db"));
            std::fs::create_dir(folder.path().join("in")).unwrap();
            std::fs::copy(sound.path(), &path).unwrap();
            if way.is_of_log() {
                std::fs::copy(sound.path().with_file_name("state.db-wal"), path.with_file_name("state.db-wal"))
                    .unwrap();
            }
            let hit = damage(sound, &path, way, &mut dice);
            let name = format!("{way:?} {round} (pages of {}, {} hit)", sound.page_size, hit.len());
            let before = contents(path.parent().unwrap());

            let outcome = repaired(&path, &target).await;
            let salvage = &outcome.salvage;
            assert!(before == contents(path.parent().unwrap()), "{name}: the source was touched");
            assert!(outcome.proof.holds(), "{name}: {:?}", outcome.proof);
            assert!(!salvage.has_changed, "{name}");
            let judged = judge(&target, &sound.truth());
            let least =
                if way.is_of_log() { sound.folded } else { sound.messages.saturating_sub(sound.at_stake(&hit)) };
            let Judged { same, cut, other } = judged;
            assert!(
                same >= least,
                "{name}: {same} of {} saved, at least {least} could be: {salvage:?}",
                sound.messages
            );
            // Garbage in the middle of a text can't be told from text.
            let is_hidden = way == Way::Sectors && other <= sound.at_stake(&hit);
            assert!(
                other == 0 || is_hidden || salvage.may_revive,
                "{name}: {other} messages that were not there: {salvage:?}"
            );
            let messages = salvage.table("messages").unwrap();
            assert_eq!(messages.saved, same + cut + other, "{name}");
            let is_cut = if way == Way::Sectors { messages.cut >= cut } else { messages.cut == cut };
            assert!(is_cut, "{name}: {cut} are cut: {salvage:?}");
            // Nobody knows what a truncated WAL held.
            if messages.is_certain && way != Way::CutLog {
                assert_eq!(
                    messages.lost,
                    sound.messages - same - cut - if is_hidden { other } else { 0 },
                    "{name}: {salvage:?}"
                );
            }
            // Verifying takes as long as repairing; one file of each way is enough.
            if round == 0 {
                let store = SqliteStore::open(&target, &idle()).unwrap();
                let report = store.verify().await.unwrap();
                assert!(report.is_sound(), "{name}: {report:?}");
            }

            files += 1;
            let share = |saved: u64| 100.0 * saved as f64 / sound.messages as f64;
            let [peer, newer, dump] = others.ask(&path, &sound.truth());
            let told = |saved: &Result<u64, String>| {
                saved.as_ref().map_or_else(|_| "fails".to_owned(), |saved| format!("{:.1}", share(*saved)))
            };
            for (sum, saved) in shares.iter_mut().zip([Ok(same), peer.clone(), newer.clone(), dump.clone()]) {
                *sum += saved.map_or(0.0, share);
            }
            let row = format!("{:.1} / {} / {} / {}", share(same), told(&peer), told(&newer), told(&dump));
            table.entry(format!("{way:?}")).or_default().push(row);
        }
    }
    assert!(files >= 100);
    println!("{files} damaged files, % of messages that are what they were: ours / {}", OTHERS.join(" / "));
    for way in WAYS {
        println!("{:10} {}", format!("{way:?}"), table[&format!("{way:?}")].join("   "));
    }
    let [ours, peer, newer, dump] = shares.map(|sum| sum / f64::from(files));
    println!("mean       {ours:.2} / {peer:.2} / {newer:.2} / {dump:.2}");
}

#[tokio::test]
async fn a_sound_file_is_saved_whole() {
    for log in [false, true] {
        let sound = Sound::make(4096, log).await;
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("new.db");
        let outcome = repaired(&sound.path(), &target).await;
        let judged = judge(&target, &sound.truth());
        assert_eq!((judged.same, judged.cut, judged.other), (sound.messages, 0, 0));
        let salvage = &outcome.salvage;
        assert_eq!(
            (salvage.damaged, salvage.stray_rows, salvage.recovered_sessions, salvage.rebuilt_sessions),
            (0, 0, 0, 0)
        );
        assert!(salvage.tables.iter().all(|table| table.lost == 0 && table.is_certain), "{salvage:?}");
        assert_eq!(salvage.wal_frames > 0, log);
        let columns = "SELECT count(*) FROM (SELECT id, source, title, parent_session_id, started_at, system_prompt, message_count FROM";
        let connection = Connection::open(&target).unwrap();
        connection.execute("ATTACH ? AS truth", [sound.truth().to_str().unwrap()]).unwrap();
        let rest = columns.trim_start_matches("SELECT count(*) FROM (");
        assert_eq!(number(&connection, &format!("{columns} main.sessions EXCEPT {rest} truth.sessions)")), 0);
        assert_eq!(number(&connection, &format!("{columns} truth.sessions EXCEPT {rest} main.sessions)")), 0);
        assert_eq!(number(&connection, "SELECT count(*) FROM state_meta WHERE key = 'kept' AND value = 'value'"), 1);
    }
}

#[tokio::test]
async fn sessions_whose_row_is_gone_come_back() {
    let sound = Sound::make(4096, false).await;
    let folder = tempfile::tempdir().unwrap();
    let mut bytes = std::fs::read(sound.path()).unwrap();
    let mut spoil = |pages: Vec<usize>| {
        for page in pages {
            bytes[(page - 1) * sound.page_size..page * sound.page_size].fill(0);
        }
        let path = folder.path().join("state.db");
        std::fs::write(&path, &bytes).unwrap();
        path
    };
    // Rebuilt from the indexes, with titles and sources.
    let path = spoil([sound.of("sessions", "leaf"), sound.of("sessions", "internal")].concat());
    let outcome = repaired(&path, &folder.path().join("first.db")).await;
    assert_eq!((outcome.salvage.rebuilt_sessions, outcome.salvage.recovered_sessions), (KEPT as u64, 0));
    let connection = Connection::open(folder.path().join("first.db")).unwrap();
    assert_eq!(
        number(
            &connection,
            "SELECT count(*) FROM sessions WHERE source = 'cli' AND title LIKE 'Title %' AND started_at < 1100"
        ),
        KEPT as u64
    );
    // Without those, recovered from their messages.
    let indexes =
        sound.pages.iter().filter(|page| page.owner.contains("session") && page.owner != "idx_messages_session");
    let path = spoil(indexes.map(|page| page.number).collect());
    let outcome = repaired(&path, &folder.path().join("second.db")).await;
    assert_eq!((outcome.salvage.rebuilt_sessions, outcome.salvage.recovered_sessions), (0, KEPT as u64));
    let connection = Connection::open(folder.path().join("second.db")).unwrap();
    assert_eq!(
        number(&connection, "SELECT count(*) FROM sessions WHERE source = 'recovered' AND message_count = 24"),
        KEPT as u64
    );
}

#[tokio::test]
async fn what_was_deleted_stays_so_as_long_as_that_is_known() {
    let sound = Sound::make(4096, false).await;
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    std::fs::copy(sound.path(), &path).unwrap();
    damage(&sound, &path, Way::Interior, &mut Dice(1));
    let outcome = repaired(&path, &target).await;
    assert!(outcome.salvage.stray_rows > 0 && !outcome.salvage.may_revive, "{:?}", outcome.salvage);
    assert_eq!(judge(&target, &sound.truth()).other, 0);
}

#[tokio::test]
async fn a_log_that_lies_where_the_new_store_goes_is_reported_and_read_once_it_is_moved_along() {
    let sound = Sound::make(4096, true).await;
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("state.db.bad"), folder.path().join("state.db"));
    std::fs::copy(sound.path(), &path).unwrap();
    // The file was renamed, and its WAL was left behind.
    let (left, along) = (folder.path().join("state.db-wal"), folder.path().join("state.db.bad-wal"));
    std::fs::copy(sound.path().with_file_name("state.db-wal"), &left).unwrap();
    let before = contents(folder.path());
    let error = repair(&path, &target, &mut |_, _, _| ControlFlow::Continue(())).await.unwrap_err();
    let TransferError::Store(error) = error else { panic!("{error}") };
    assert!(error.to_string().contains("would be read with the -wal file of another database"), "{error}");
    let StoreError::Refused { refusal: Refusal::Target { problem, .. }, .. } = error else { panic!("{error:?}") };
    let moves = vec![(left.clone(), along.clone())];
    assert_eq!(problem, TargetProblem::BesideOther { suffix: "-wal".into(), moves });
    assert!(before == contents(folder.path()));

    std::fs::rename(&left, &along).unwrap();
    // Also a file that appears while the new store is made.
    for (name, comes_first) in [("state.db-shm", true), ("state.db-journal", false)] {
        let stale = folder.path().join(name);
        let come = || std::fs::write(&stale, "stale").unwrap();
        if comes_first {
            come();
        }
        let watch = &mut |_, _, _| {
            come();
            ControlFlow::Continue(())
        };
        let error = repair(&path, &target, watch).await.unwrap_err();
        assert!(error.to_string().contains("file of another database"), "{name}: {error}");
        std::fs::remove_file(stale).unwrap();
    }
    repaired(&path, &target).await;
    assert_eq!(judge(&target, &sound.truth()).same, sound.messages);
}

#[tokio::test]
async fn what_is_no_store_is_refused_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("state.db"), folder.path().join("new.db"));
    std::fs::write(&path, "this is a letter".repeat(1_000)).unwrap();
    for (given, to, why) in [
        (path.clone(), target.clone(), "contains no data of a session store"),
        (folder.path().join("nowhere"), target.clone(), "does not exist"),
        (folder.path().to_owned(), target.clone(), "is a folder"),
        (path.clone(), path.clone(), "already exists"),
    ] {
        let error = repair(&given, &to, &mut |_, _, _| ControlFlow::Continue(())).await.unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(contents(folder.path()).len(), 1);
    std::fs::write(&path, "").unwrap();
    assert!(repair(&path, &target, &mut |_, _, _| ControlFlow::Continue(())).await.is_err());
}
