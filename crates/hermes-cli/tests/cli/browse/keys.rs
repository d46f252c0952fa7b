//! Keys as a terminal sends them, pins and tags, and characters that terminals draw in different ways.

use super::*;

/// The control character of a letter.
fn ctrl(letter: char) -> String {
    char::from(letter as u8 & 0x1f).to_string()
}

/// Returns the name of the row under the cursor, the first word of it.
fn current(sitting: &Sitting) -> String {
    let text = sitting.screen.text();
    let line = text.lines().find_map(|line| line.strip_prefix('→')).unwrap_or_default();
    line.split_whitespace().next().unwrap_or_default().to_owned()
}

#[test]
fn the_keys_of_other_pickers_move() {
    let home = several();
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations");
    assert_eq!(current(&sitting), "refactoring");
    // Ctrl-J is a line feed and not Enter.
    for (key, expect) in [('n', "大 别"), ('j', "كيف"), ('k', "大 别"), ('p', "refactoring"), ('p', "Größe")] {
        sitting.press(&ctrl(key)).see(&format!("→  {expect}"));
    }
    // Neither moves nor deletes anything, and the empty filter is the end of the input.
    sitting.press("auth").see("1 of 4").press(&ctrl('d')).press("x").see("› authx").press(&ctrl('u'));
    sitting.see("4 conversations").press(&ctrl('d'));
    let (sent, code) = sitting.end();
    assert!(!sent.contains("to the trash") && !sent.contains("--resume") && code == 0, "{sent:?}");
    for (key, expect) in
        [(ctrl('x'), "Move refactoring auth to the trash? [y/N]"), (ctrl('o'), "● You"), ("\u{1f}".into(), "● You")]
    {
        let mut sitting = sit(&home, &[]);
        sitting.see("4 conversations").press(&key).see(expect).press(&ctrl('c'));
        assert_eq!(sitting.end().1, 0);
    }
    let mut sitting = sit(&home, &[]);
    sitting.see("4 conversations").press(&ctrl('g'));
    assert_eq!(sitting.end().1, 0);
}

#[test]
fn pins_are_set_and_listed_first() {
    let home = several();
    home.see(&["sessions", "pin", "cron_job1"]);
    let mut sitting = sit(&home, &[]);
    sitting.see("→  * Größe").press(&ctrl('n')).press(&ctrl('n')).see("→  大 别").press(&ctrl('s'));
    // It moves up, and the cursor with it.
    sitting.see("Pinned 大 别").see("→  * 大 别").press("\u{1b}OS").see("Unpinned 大 别");
    sitting.see("→  大 别").press("\t\t").see("2 marked").press("\u{1b}OS").see("Pinned 2 conversations").press("q");
    assert_eq!(sitting.end().1, 0);
    let list = home.see(&["sessions", "list", "--pinned"]);
    assert!(["* 大别山徒步计划", "* Größe", "* كيف"].iter().all(|row| list.contains(row)), "{list}");
    // The numbered list has the same order.
    let listed = answered(home.hermes(&["sessions", "browse"]), "q\n");
    assert!(listed.contains("1. * 大别山") && listed.contains("4. refactoring auth"), "{listed}");
    let listed = answered(home.hermes(&["sessions", "browse", "--limit", "1"]), "q\n");
    assert!(listed.contains("1. * 大别山") && !listed.contains("2. "), "{listed}");
    let all = answered(home.hermes(&["sessions", "browse", "--limit", "0"]), "q\n");
    assert!(all.contains("4. refactoring auth"), "{all}");
}

#[test]
fn tags_are_added_and_removed() {
    let home = several();
    home.see(&["sessions", "tag", "20250305_091523_a1b2c3", "--add", "old"]);
    let mut sitting = sit(&home, &[]);
    sitting.see("→  refactoring auth  old").press(&ctrl('t')).see("Tags: old. TAG adds, -TAG removes.");
    sitting.press("Work, home -old\r").see("The tags are home, work").see("→  refactoring auth  home, wo…");
    sitting.press("work").see("1 of 4").press("\u{1b}[15~").see("Tag:").press("x y z -\r").see("tag is empty");
    sitting.press(&ctrl('u')).press("-home\r").see("The tags are work").press(&ctrl('c'));
    assert_eq!(sitting.end().1, 0);
    let tags = home.see(&["sessions", "tag", "20250305_091523_a1b2c3"]);
    assert!(tags.contains("20250305_091523_a1b2c3  work\n"), "{tags}");
}

#[test]
fn a_change_that_fails_is_told() {
    let home = several();
    for keys in [ctrl('s'), format!("{}work\r", ctrl('t'))] {
        let mut sitting = sit(&home, &["--read-only"]);
        sitting.see("4 conversations").press(&keys).see("read-only").press(&ctrl('c'));
        assert_eq!(sitting.end().1, 0);
        // A failure that was not shown is printed after leaving. On a busy machine it may be shown before Ctrl-C is read.
        let is_printed = || {
            let mut sitting = sit(&home, &["--read-only"]);
            sitting.see("4 conversations").press(&format!("{keys}{}", ctrl('c')));
            let (sent, code) = sitting.end();
            let is_printed = sent.rsplit_once(LEFT).unwrap().1.contains("error: ");
            assert_eq!(code, i32::from(is_printed), "{sent:?}");
            is_printed
        };
        assert!((0..20).any(|_| is_printed()), "it was shown before each time");
    }
}

#[test]
fn no_half_of_a_flag_stays_on_the_screen() {
    let home = several();
    home.talk("flags", "cli", Some("To 🇩🇪 and 🇫🇷"), ago(2.0 * DAY), &[(Role::User, "hello")]);
    for columns in [40, 80, 200] {
        let mut sitting = Sitting::down(home.hermes(&["sessions", "browse"]), columns);
        sitting.see("To 🇩🇪 and 🇫🇷").see("Größe").press("refactoring").see("1 of 5").see("→  refactoring auth");
        sitting.see_no("Größe");
        let text = sitting.screen.text();
        assert!(!text.chars().any(|character| ('🇦'..='🇿').contains(&character)), "{columns}:\n{text}");
        sitting.press(&ctrl('u')).see("To 🇩🇪 and 🇫🇷").press("q");
        assert_eq!(sitting.end().1, 0);
    }
}
