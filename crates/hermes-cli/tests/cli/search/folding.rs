//! Hits folded by conversation, totals, and the command that opens a hit.

use super::*;

/// Returns a store in which one conversation has ten of the hits for "needle", and three others one each.
fn unequal() -> Home {
    let home = Home::empty();
    let said: Vec<String> = (0..10).map(|number| format!("needle number {number}")).collect();
    let said: Vec<(Role, &str)> = said.iter().map(|text| (Role::User, text.as_str())).collect();
    home.talk("much", "cli", Some("much of it"), LONG_AGO + 100.0, &said);
    for number in 1..=3 {
        home.talk(&format!("s{number}"), "cli", None, LONG_AGO + f64::from(number), &[(Role::User, "one needle")]);
    }
    home
}

#[test]
fn of_each_conversation_three_hits_are_shown_and_the_others_counted() {
    let home = unequal();
    assert_snapshot!(home.see(&["sessions", "search", "--newest", "needle"]), @r#"
    1 (no title)  2025-03-05 · cli · s3
      ● You  2025-03-05  #13  one >>>needle<<<

    2 (no title)  2025-03-05 · cli · s2
      ● You  2025-03-05  #12  one >>>needle<<<

    3 (no title)  2025-03-05 · cli · s1
      ● You  2025-03-05  #11  one >>>needle<<<

    4 much of it  2025-03-05 · cli · much
      ● You  2025-03-05  #10  >>>needle<<< number 9
      ● You  2025-03-05  #9   >>>needle<<< number 8
      ● You  2025-03-05  #8   >>>needle<<< number 7
      +7 more: hermes sessions search --session much --newest needle

    6 of 13 hits in 4 conversations
    --- stderr
    note: open a hit by its number: hermes sessions show s3 --around 13
    --- exit 0
    "#);
    assert_snapshot!(home.see(&["sessions", "search", "--newest", "needle", "--limit", "4"]), @r#"
    1 (no title)  2025-03-05 · cli · s3
      ● You  2025-03-05  #13  one >>>needle<<<

    2 (no title)  2025-03-05 · cli · s2
      ● You  2025-03-05  #12  one >>>needle<<<

    3 (no title)  2025-03-05 · cli · s1
      ● You  2025-03-05  #11  one >>>needle<<<

    4 much of it  2025-03-05 · cli · much
      ● You  2025-03-05  #10  >>>needle<<< number 9

    4 hits shown, from 4 conversations; there are more
    --- stderr
    note: open a hit by its number: hermes sessions show s3 --around 13
    note: there are more: hermes sessions search --limit 4 --offset 4 --newest needle
    --- exit 0
    "#);
    let all = home.see(&["sessions", "search", "needle", "--session", "much"]);
    assert_eq!((all.matches(">>>needle<<<").count(), all.matches(" more").count()), (10, 0), "{all}");
    assert!(all.contains("\n10 hits in 1 conversation\n"), "{all}");
    // The numbers are rows for later commands.
    assert!(home.see(&["sessions", "show", "@1"]).contains("id          much\n"));
    assert_eq!(found(&home, &["needle"]).len(), 13, "JSON has every hit of a page");
    assert_eq!(found(&home, &["needle", "--limit", "0"]).len(), 13);
}

#[test]
fn totals_give_no_number_that_was_not_counted() {
    let seen = unequal().see(&["sessions", "search", "needle", "--limit", "1"]);
    assert!(seen.contains("\n1 hit shown, from 1 conversation; there are more\n"), "{seen}");
    let run = unequal().hermes(&["sessions", "search", "needle", "--limit", "1"]).env("COLUMNS", "40").see();
    assert!(run.contains("\n1 hit shown, from 1 conversation; there\nare more\n"), "broken between words: {run}");
}

#[test]
fn a_page_short_by_folding_goes_on_behind_the_folded_hits() {
    let home = Home::empty();
    let said: Vec<_> = (0..9).map(|_| (Role::User, "billing")).collect();
    home.talk("one", "cli", None, LONG_AGO, &[(Role::User, "billing")]);
    home.talk("two", "cli", None, LONG_AGO + 1.0, &[(Role::User, "billing")]);
    home.talk("much", "cli", None, LONG_AGO + 100.0, &said);
    let seen = home.see(&["sessions", "search", "--newest", "billing", "-n", "4"]);
    assert!(seen.contains("\n  +6 more: hermes sessions search --session much --newest billing\n"), "{seen}");
    assert!(seen.contains("\n4 hits shown, from 2 conversations; there are more\n"), "{seen}");
    assert!(seen.contains(" --limit 4 --offset 10 --newest billing\n"), "{seen}");
    let seen = home.see(&["sessions", "search", "--newest", "billing", "-n", "5"]);
    assert!(seen.contains("\n5 of 11 hits in 3 conversations\n") && !seen.contains("there are more"), "{seen}");
    for limit in ["1", "2", "3", "4", "5", "6"] {
        check_pages(&home, &["sessions", "search", "--limit", limit, "billing"], 11);
    }
}

/// Follows the printed commands from page to page, and asserts that each of `all` hits is shown once or folded once.
#[track_caller]
fn check_pages(home: &Home, first: &[&str], all: usize) {
    let (mut shown, mut folded) = (Vec::new(), 0);
    let mut command: Vec<String> = first.iter().map(|word| (*word).to_owned()).collect();
    loop {
        let seen = home.see(&command.iter().map(String::as_str).collect::<Vec<_>>());
        let ids = seen.lines().filter(|line| line.contains("You  ")).filter_map(|line| line.split('#').nth(1));
        let page: Vec<i64> = ids.map(|rest| rest.split(' ').next().unwrap().parse().unwrap()).collect();
        assert!(!page.is_empty() && page.len() <= first[3].parse().unwrap(), "{seen}");
        shown.extend(page);
        let more = seen.lines().filter_map(|line| line.trim().strip_prefix('+')?.split(' ').next());
        folded += more.map(|count| count.parse::<usize>().unwrap()).sum::<usize>();
        let Some((_, next)) = seen.split_once("there are more: hermes ") else { break };
        command = next.lines().next().unwrap().split(' ').map(str::to_owned).collect();
    }
    let distinct: std::collections::BTreeSet<i64> = shown.iter().copied().collect();
    assert_eq!((distinct.len(), shown.len() + folded), (shown.len(), all), "{first:?}: {shown:?}");
}

#[test]
fn pages_with_folded_hits_neither_skip_nor_repeat() {
    let home = unequal();
    for limit in ["1", "2", "3", "5"] {
        check_pages(&home, &["sessions", "search", "--limit", limit, "needle"], 13);
    }
}

#[test]
fn pages_after_a_cursor_fold_hits_as_well() {
    let home = unequal();
    let first = home.hermes(&["sessions", "search", "--json", "--limit", "5", "--newest", "needle"]).stdout();
    let first: Value = serde_json::from_str(&first).unwrap();
    let search =
        ["sessions", "search", "--limit", "4", "--newest", "needle", "--after", first["next"].as_str().unwrap()];
    let second = home.see(&search);
    let rest = "+5 more: hermes sessions search --session much --newest needle";
    assert!(second.contains(&format!("\n  {rest}\n\n3 hits shown, from 1 conversation\n")), "{second}");
    assert!(!second.contains("there are more"), "{second}");
    let third = home.see(&[&search[..3], &["2"], &search[4..]].concat());
    assert!(third.contains("\n2 hits shown, from 1 conversation; there are more\n"), "{third}");
    let (_, next) = third.split_once("there are more: hermes ").unwrap();
    let fourth = home.see(&next.lines().next().unwrap().split(' ').collect::<Vec<_>>());
    assert!(fourth.contains("\n2 hits shown, from 1 conversation; there are more\n"), "{fourth}");
}

#[test]
fn the_printed_command_opens_a_hit_in_its_place() {
    let home = unequal();
    let seen = home.see(&["sessions", "search", "number 7"]);
    let (_, command) = seen.split_once("open a hit by its number: hermes ").unwrap();
    let command: Vec<&str> = command.lines().next().unwrap().split(' ').collect();
    assert_eq!(command, ["sessions", "show", "much", "--around", "8"]);
    assert!(home.see(&command).contains("◀ message 8\n  needle number 7\n"));
}
