//! Bounds on the number of instructions that frequent commands take, counted by valgrind: the same on a busy machine and
//! on an idle one. The margins are wide; they are for a change that makes a command several times as slow, or makes its
//! cost grow with the store.

#![expect(clippy::print_stdout, reason = "counts are shown, and a skip says why")]

use super::*;
use std::io::Write as _;

/// Millions of instructions of a debug build, as measured with the large store.
const START: f64 = 26.0;
const LIST: f64 = 59.0;
const SEARCH: f64 = 111.0;
const APPENDS: f64 = 106.0;

/// Factor by which a count may exceed the one that was measured when the bound was set.
const MARGIN: f64 = 1.6;
/// Factor by which a command may take more in a store of ten times the size.
const GROWTH: f64 = 1.5;

/// Returns the path of valgrind; `None`, with the reason printed, if it is not installed.
fn valgrind() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("valgrind")).find(|program| program.is_file());
    if found.is_none() {
        println!("skipped: valgrind is not installed, so instructions are not counted");
    }
    found
}

/// Returns a home with this many conversations of twenty messages each. A message of each of the
/// first 25 has the word `rare`.
fn with_conversations(count: usize) -> Home {
    let home = Home::empty();
    home.write(async |store| {
        for session in 0..count {
            let id = SessionId::parse(format!("session_{session:05}")).unwrap();
            let at = Timestamp::from_seconds(LONG_AGO + session as f64 * HOUR).unwrap();
            store.create(&NewSession::new(id.clone(), Source::parse("cli").unwrap()), &Request::at(at)).await.unwrap();
            let text = |place: usize| {
                let rare = if session < 25 && place == 3 { "rare" } else { "usual" };
                format!("message {place} of {session}: {rare} words about topic{}", (session * 7 + place) % 50)
            };
            let messages: Vec<NewMessage> =
                (0..20).map(|place| NewMessage::new(Role::User, text(place)).said_at(at.plus(place as f64))).collect();
            store.append(&id, &messages, &Request::at(at)).await.unwrap();
        }
    });
    home
}

/// Returns how many instructions a command takes, in millions.
fn millions(home: &Home, valgrind: &Path, args: &[&str], input: &str) -> f64 {
    let count_in = tempfile::NamedTempFile::new().unwrap();
    let log = format!("--log-file={}", count_in.path().display());
    let mut run = home.program(
        valgrind.to_str().unwrap(),
        &[&["--tool=callgrind", "--callgrind-out-file=/dev/null", &log, env!("CARGO_BIN_EXE_hermes")], args].concat(),
    );
    run.command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = run.command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let log = std::fs::read_to_string(count_in.path()).unwrap();
    let collected = log.lines().find_map(|line| line.split_once("Collected : ")).expect("valgrind prints a count").1;
    collected.trim().parse::<f64>().unwrap() / 1e6
}

#[test]
fn frequent_commands_take_a_bounded_number_of_instructions() {
    let Some(valgrind) = valgrind() else { return };
    let (small, large) = (with_conversations(30), with_conversations(300));
    let appends: String = (0..50)
        .map(|place| {
            let call = serde_json::json!({"id": place, "m": "append_message", "a": ["session_00001", "user", format!("appended {place}")]});
            format!("{call}\n")
        })
        .collect();
    for (name, measured, args, input) in [
        ("start", START, &["--version"][..], ""),
        ("list", LIST, &["sessions", "list"], ""),
        ("search", SEARCH, &["sessions", "search", "rare"], ""),
        ("50 appends", APPENDS, &["sessiondb", "rpc"], &appends),
    ] {
        let [few, many] = [&small, &large].map(|home| millions(home, &valgrind, args, input));
        println!("{name}: {few:.0} and {many:.0} million instructions");
        assert!(many <= measured * MARGIN, "{name} takes {many:.0} million instructions; {measured:.0} were measured");
        assert!(many <= few * GROWTH, "{name} grows with the store: {few:.0} and {many:.0} million instructions");
    }
}
