//! The previous release and this one by turns on one file. It may read a file that this one has written, and writes none.

use super::*;

/// Returns the program of the previous release; `None`, which is printed, if `HERMES_TEST_PREVIOUS` names none.
fn previous() -> Option<String> {
    let program = std::env::var("HERMES_TEST_PREVIOUS").ok();
    if program.is_none() {
        #[expect(clippy::print_stdout, reason = "who reads the output should know that nothing was tested")]
        {
            println!("skipped: HERMES_TEST_PREVIOUS names no program of the previous release");
        }
    }
    program
}

fn rounds() -> usize {
    std::env::var("HERMES_TORTURE").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(3)
}

/// Writes an export with one conversation of this number. The previous release imports it as well.
fn export(home: &Home, number: usize) -> String {
    let file = home.path().join(format!("{number}.jsonl"));
    let session = serde_json::json!({
        "id": format!("session_{number}"), "source": "cli", "started_at": LONG_AGO + number as f64,
        "title": format!("Conversation {number}"),
        "messages": [{"role": "user", "content": format!("word{number} 大别山 🦀"), "timestamp": LONG_AGO + number as f64}],
    });
    std::fs::write(&file, format!("{session}\n")).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn by_turns_on_one_file() {
    let Some(previous) = previous() else { return };
    for round in 0..rounds() {
        let home = Home::empty();
        let old = |args: &[&str]| home.program(&previous, args).see();
        let both = |args: &[&str]| {
            let (theirs, ours) = (old(args), home.see(args));
            assert_eq!(theirs.replace("note: a newer hermes", "note: "), theirs, "{args:?}");
            assert_eq!(theirs, ours, "{args:?} in round {round}");
            ours
        };
        let reads = |count: usize| {
            let listed = both(&["sessions", "list", "--json"]);
            assert_eq!(listed.matches("\"title\"").count(), count, "{listed}");
            for number in 0..count {
                let found = both(&["sessions", "search", &format!("word{number}"), "--json"]);
                assert!(found.contains(&format!("session_{number}")), "{found}");
                both(&["sessions", "show", &format!("session_{number}"), "--json"]);
            }
        };
        // A file of the previous release: reading it leaves it as it is, and both write it in turn.
        let made = old(&["sessions", "import", &export(&home, 0)]);
        assert!(made.ends_with("--- exit 0"), "{made}");
        reads(1);
        let again = old(&["sessions", "import", &export(&home, 1)]);
        assert!(again.ends_with("--- exit 0"), "{again}");
        reads(2);
        // The first write of this release raises the revision.
        let raised = home.see(&["sessions", "import", &export(&home, 2)]);
        assert!(raised.ends_with("--- exit 0"), "{raised}");
        let revision: i64 = home.foreign().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(revision, 2);
        let files = || std::fs::read(home.database()).unwrap();
        let before = files();
        for args in [&["sessions", "import", &export(&home, 3)][..], &["sessions", "rename", "session_0", "other"]] {
            let refused = old(args);
            assert!(refused.contains("a newer hermes (revision 2)") && refused.ends_with("--- exit 3"), "{refused}");
        }
        assert!(files() == before, "the previous release has written");
        for number in 0..3 {
            for args in [
                vec!["sessions".to_owned(), "list".to_owned(), "--json".to_owned()],
                vec!["sessions".to_owned(), "search".to_owned(), format!("word{number}"), "--json".to_owned()],
                vec!["sessions".to_owned(), "show".to_owned(), format!("session_{number}"), "--json".to_owned()],
            ] {
                let args: Vec<&str> = args.iter().map(String::as_str).collect();
                let theirs = home.program(&previous, &args).stdout();
                assert_eq!(theirs, home.hermes(&args).stdout(), "{args:?} in round {round}");
            }
        }
        let more = home.see(&["sessions", "import", &export(&home, 3)]);
        assert!(more.ends_with("--- exit 0"), "{more}");
        let theirs = home.program(&previous, &["sessions", "list", "--json"]).stdout();
        assert_eq!(theirs.matches("\"title\"").count(), 4, "{theirs}");
        let sound = home.see(&["sessions", "verify"]);
        assert!(sound.ends_with("--- exit 0"), "{sound}");
    }
}
