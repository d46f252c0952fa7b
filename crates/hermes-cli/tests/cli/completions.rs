//! `hermes completions`, and the candidates that its scripts request.

use super::*;

fn complete(home: &Home, words: &[&str]) -> Vec<String> {
    let seen = home.hermes(&[&["__complete", "--"], words].concat()).stdout();
    seen.lines().map(|line| line.replace('\t', " | ")).collect()
}

#[test]
fn sessions_are_completed_by_id_and_title() {
    let home = several();
    assert_eq!(
        complete(&home, &["sessions", "show", "2025030"]),
        [
            "20250305_091523_a1b2c3 | refactoring auth",
            "20250304_150000_b0b0b0 | 大别山徒步计划",
            "20250303_101500_f1f2f3f4 | كيف أحضّر كبسة الدجاج لستة أشخاص؟",
        ]
    );
    assert_eq!(complete(&home, &["sessions", "delete", "refac"]), ["refactoring auth | 20250305_091523_a1b2c3"]);
    assert_eq!(
        complete(&home, &["sessions", "export", "--session", "大"]),
        ["大别山徒步计划 | 20250304_150000_b0b0b0"]
    );
    assert_eq!(complete(&home, &["sessions", "rename", "tool"]), ["tool_1 | "], "what is hidden is found by its id");
    assert_eq!(complete(&home, &["sessions", "show", "REFac"]), ["refactoring auth | 20250305_091523_a1b2c3"]);
    assert_eq!(complete(&home, &["sessions", "show", "nobody"]), [""; 0]);
    let url = home.database().display().to_string();
    let elsewhere = Home::empty();
    assert_eq!(complete(&elsewhere, &["sessions", "--url", &url, "show", "cron"]).len(), 1);
}

#[test]
fn what_is_hostile_is_not_offered() {
    let home = several();
    home.damage(
        "UPDATE sessions SET title = 'refac' || char(27) || '[2J' || char(10) || 'x' WHERE title = 'refactoring auth'",
    );
    assert_eq!(complete(&home, &["sessions", "show", "refac"]), [""; 0]);
    let output = home.hermes(&["__complete", "--", "sessions", "show", ""]).stdout();
    assert!(!output.contains('\u{1b}') && output.contains("20250305_091523_a1b2c3\trefac␛[2J x\n"), "{output:?}");
}

#[test]
fn pressing_a_key_takes_no_file_into_use() {
    let home = Home::empty();
    assert_eq!(complete(&home, &["sessions", "show", "x"]), [""; 0]);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    let home = several();
    std::fs::remove_file(home.path().join("state.db.queue")).unwrap();
    assert_eq!(complete(&home, &["sessions", "show", "2025"]).len(), 3);
    assert!(!home.path().join("state.db.queue").exists());
}

#[test]
fn values_of_options_come_from_the_store() {
    let home = several();
    home.write(async |store| {
        let create = |id: &str, source: &str, model: &str| NewSession {
            model: Some(model.into()),
            ..NewSession::new(SessionId::parse(id).unwrap(), Source::parse(source).unwrap())
        };
        let at = Request::at(Timestamp::from_seconds(ago(HOUR)).unwrap());
        store.create(&create("z", "zulip", "another/model"), &at).await.unwrap();
    });
    let expect = ["cli | ", "cron | ", "discord | ", "telegram | ", "tool | ", "zulip | "];
    assert_eq!(complete(&home, &["sessions", "list", "--source", ""]), expect);
    assert_eq!(complete(&home, &["list", "-s", "t"]), ["telegram | ", "tool | "]);
    assert_eq!(complete(&home, &["sessions", "list", "--source=te"]), ["--source=telegram | "]);
    assert_eq!(complete(&home, &["sessions", "list", "--source", "=", "te"]), ["telegram | "]);
    assert_eq!(complete(&home, &["sessions", "search", "x", "--model", ""]), ["another/model | ", "model-x | "]);
    home.see(&["sessions", "tag", "refactoring auth", "z", "--add", "work", "--add", "code"]);
    let expect = ["code | 2 conversations", "work | 2 conversations"];
    assert_eq!(complete(&home, &["sessions", "list", "--tag", ""]), expect);
    assert_eq!(complete(&home, &["sessions", "search", "--role", "a"]), ["assistant | The agent's answers"]);
    assert_eq!(complete(&home, &["sessions", "list", "--color", "a"]).len(), 2);
    home.see(&["sessions", "delete", "refactoring auth", "--yes"]);
    assert_eq!(complete(&home, &["sessions", "restore", "refac"]), ["refactoring auth | 20250305_091523_a1b2c3"]);
}

#[test]
fn files_are_completed_where_they_are_expected() {
    let home = several();
    let asked = |words: &[&str]| home.hermes(&[&["__complete", "--files", "--"], words].concat()).output();
    for words in [&["sessions", "export", ""][..], &["--home", ""], &["sessions", "list", "--url", "s"]] {
        let output = asked(words);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{words:?}");
    }
    for words in [&["sessions", "list", "--source", "nothing"][..], &["sessions", "list", "--since", ""], &["x", "y"]] {
        let output = asked(words);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(0), 0), "{words:?}");
    }
}

/// Runs a script in a shell. Returns `None` if the shell is not installed.
fn shell(home: &Home, name: &str, script: &str) -> Option<String> {
    let mut command = Command::new(name);
    command.arg("-c").arg(script).env("HERMES_HOME", home.path()).env("HOME", "/nonexistent").current_dir(home.path());
    let output = command.output().ok()?;
    Some(format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn bash_completes_a_title_with_a_blank() {
    let home = several();
    let script = home.hermes(&["completions", "bash"]).stdout();
    let run = format!(
        "{script}\nCOMP_WORDS=(hermes sessions show 'refactoring\\ a'); COMP_CWORD=3; _hermes; printf '%s\\n' \"${{COMPREPLY[@]}}\"; complete -p hermes"
    );
    let Some(seen) = shell(&home, "bash", &run) else { return };
    assert_eq!(seen, "refactoring\\ auth\ncomplete -o default -F _hermes hermes\n");
}

#[test]
fn bash_inserts_plain_text_inside_quotes() {
    let home = Home::empty();
    home.talk("s", "cli", Some("Refactor the \"$parser\" #3, it's"), LONG_AGO, &[]);
    let script = home.hermes(&["completions", "bash"]).stdout();
    std::fs::write(home.path().join("completion"), script).unwrap();
    let completed = |typed: &str| {
        let run = format!(
            ". ./completion\nread -r word <<'END'\n{typed}\nEND\nCOMP_WORDS=(hermes sessions show \"$word\"); COMP_CWORD=3; _hermes; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        shell(&home, "bash", &run)
    };
    let Some(seen) = completed("\"Ref") else { return };
    assert_eq!(seen, "Refactor the \\\"\\$parser\\\" #3, it's\n");
    assert_eq!(completed("'ref").unwrap(), "Refactor the \"$parser\" #3, it'\\''s\n");
    assert_eq!(completed("ref").unwrap(), "Refactor\\ the\\ \\\"\\$parser\\\"\\ #3\\,\\ it\\'s\n");
}

#[test]
fn bash_completes_values_and_files_only_where_they_are_expected() {
    let home = several();
    std::fs::write(home.path().join("telegram-notes"), "").unwrap();
    let script = home.hermes(&["completions", "bash"]).stdout();
    let completed = |line: &str| {
        // Outside a completion, the builtin only fails.
        let run = format!(
            "{script}\nline='{line}'; COMP_WORDS=($line); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
             compopt() {{ echo \"compopt $*\"; }}; _hermes; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        shell(&home, "bash", &run)
    };
    let Some(seen) = completed("hermes sessions list --source te") else { return };
    assert_eq!(seen, "compopt +o default\ntelegram\n");
    assert_eq!(completed("hermes sessions list --since te").unwrap(), "compopt +o default\n\n");
    assert_eq!(completed("hermes sessions export te").unwrap(), "\n", "readline completes the file");
}

#[test]
fn every_script_names_this_program() {
    let home = Home::empty();
    for name in ["bash", "zsh", "fish"] {
        let script = home.hermes(&["completions", name]).stdout();
        assert!(script.contains(env!("CARGO_BIN_EXE_hermes")) && script.contains("__complete"), "{script}");
        if let Some(seen) = shell(&home, name, &format!("exit 0\n{script}")) {
            assert_eq!(seen, "", "{name} can read it");
        }
    }
    assert!(home.see(&["completions", "csh"]).ends_with("--- exit 2"));
}
