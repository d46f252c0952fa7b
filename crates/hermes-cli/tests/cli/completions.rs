//! `hermes completions`, and what its scripts ask for.

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
        complete(&home, &["sessions", "export", "--session-id", "大"]),
        ["大别山徒步计划 | 20250304_150000_b0b0b0"]
    );
    assert_eq!(complete(&home, &["sessions", "rename", "tool"]), ["tool_1 | "], "what is hidden is found by its id");
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

/// Runs a script in a shell; nothing if the shell is not there.
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
