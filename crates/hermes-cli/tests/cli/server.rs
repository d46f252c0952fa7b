//! The commands on a PostgreSQL server, and the way there and back.

use super::import::{rich, rows};
use super::migrate::long_work;
use super::*;
use hermes_conformance::servers::{Postgres, is_skipped};
use std::time::{Duration, Instant};

/// A server of the test's own; nothing if it is not to be tested here.
fn server() -> Option<Postgres> {
    (!is_skipped("postgres")).then(|| Postgres::start(&[]))
}

/// Runs a command on a store of the server; what it prints. Errors and other exit codes than 0 fail.
fn done(home: &Home, url: &str, args: &[&str]) -> String {
    let output = home.hermes(args).env("HERMES_SESSIONDB_URL", url).output();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{args:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_works_on_a_server() {
    let Some(server) = server() else { return };
    let (home, url) = (Home::empty(), format!("{}?schema=work", server.url()));
    let run = |args: &[&str]| done(&home, &url, args);
    let toured = run(&["demo", "--url", &url]);
    assert!(toured.contains("大别山徒步计划"), "{toured}");
    let listed = run(&["sessions", "list"]);
    assert!(listed.contains("大别山徒步计划") && listed.contains("Flaky login test"), "{listed}");
    assert!(run(&["sessions", "search", "大别山"]).contains(">>>大别山<<<"));
    assert!(run(&["sessions", "search", "placemen"]).contains(">>>placemen<<<"), "pieces of words");
    assert!(run(&["sessions", "show", "Flaky login test"]).contains("200 runs"));
    assert!(run(&["sessions", "show", "@last", "--recap"]).contains("Previous Conversation"));
    assert!(run(&["sessions", "stats"]).contains("telegram"));
    run(&["sessions", "rename", "Flaky login test", "Steady login test"]);
    run(&["sessions", "export", "all.jsonl"]);
    assert!(run(&["sessions", "import", "all.jsonl"]).contains("9"), "all are there");
    assert!(run(&["sessions", "verify"]).contains("The store is sound."));
    run(&["sessions", "backup", "copy.jsonl"]);
    assert_eq!(
        std::fs::read(home.path().join("copy.jsonl")).unwrap(),
        std::fs::read(home.path().join("all.jsonl")).unwrap()
    );
    run(&["sessions", "optimize", "--rebuild"]);
    run(&["sessions", "delete", "Steady login test", "--yes"]);
    run(&["sessions", "prune", "--older-than", "0d", "--yes"]);
    assert!(run(&["sessions", "verify"]).contains("The store is sound."));
    let status = run(&["sessiondb", "status"]);
    assert!(status.contains("postgresql 1") && status.contains("11 in work"), "{status}");
    assert!(run(&["config", "show"]).contains("postgresql://"));
}

#[test]
fn what_a_server_refuses_is_told_and_nothing_takes_its_place() {
    let home = Home::with_store();
    let url = "postgresql://ada:hunter2@127.0.0.1:1/hermes";
    let seen = home.hermes(&["sessions", "list"]).env("HERMES_SESSIONDB_URL", url).see();
    assert!(seen.contains("error: postgresql://ada@127.0.0.1:1/hermes can't be used:"), "{seen}");
    assert!(seen.contains("hint: see that the server runs") && seen.ends_with("--- exit 3"), "{seen}");
    assert!(!seen.contains("hunter2"), "{seen}");
}

#[test]
fn there_and_back_every_byte_is_the_same() {
    let Some(server) = server() else { return };
    let (from, back) = (rich(), Home::empty());
    from.write(async |store| store.set_meta("goal:first", Some("a\0b")).await.unwrap());
    let (source, target) = (from.database(), back.database());
    let (source, target) = (source.to_str().unwrap(), target.to_str().unwrap());
    let there = from.see(&["sessiondb", "migrate", "--from", source, "--to", &server.url()]);
    assert!(
        there.contains("proof       4 of 4 sessions with 5 messages are the same") && there.ends_with("exit 0"),
        "{there}"
    );
    let again = back.see(&["sessiondb", "migrate", "--from", &server.url(), "--to", target]);
    assert!(
        again.contains("proof       4 of 4 sessions with 5 messages are the same") && again.ends_with("exit 0"),
        "{again}"
    );
    assert_eq!(rows(&back), rows(&from));
}

#[test]
fn killed_on_the_way_it_loses_and_doubles_nothing() {
    let Some(server) = server() else { return };
    let from = long_work();
    let source = from.database();
    let to = |schema: &str, more: &[&str]| {
        let url = format!("{}?schema={schema}", server.url());
        let args = ["sessiondb", "migrate", "--from", source.to_str().unwrap(), "--to", &url];
        from.hermes(&[&args[..], more].concat())
    };
    let start = Instant::now();
    assert!(to("trial", &[]).output().status.success());
    let whole = start.elapsed();
    let (mut killed, mut seed) = (0, 11_u64);
    while killed < 20 {
        let mut run = to("work", &["--resume"]);
        let mut child = run.command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The moment of death is what is tried here.
        std::thread::sleep(whole.mul_f64((seed >> 33) as f64 / (1_u64 << 31) as f64).max(Duration::from_millis(1)));
        child.kill().unwrap();
        killed += u32::from(!child.wait().unwrap().success());
    }
    let seen = to("work", &["--resume"]).see();
    assert!(seen.contains("254 of 254 sessions") && seen.ends_with("exit 0"), "{seen}");
    let count =
        |schema: &str| server.sql(&format!("SELECT count(*), sum(hashtext(content)::int8) FROM {schema}.messages"));
    assert_eq!(count("work"), count("trial"));
    let verified = from.see(&["sessions", "verify", "--url", &format!("{}?schema=work", server.url())]);
    assert!(verified.contains("The store is sound."), "{verified}");
}
