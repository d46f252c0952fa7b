//! All commands, with calls that only read and calls that write. DB, IN and OUT stand for the file, an export and a new
//! file elsewhere.

/// A command.
pub(super) struct Row {
    /// The words of the command.
    pub(super) words: &'static [&'static str],
    /// Calls that change nothing.
    pub(super) looks: &'static [&'static [&'static str]],
    /// Calls that write to the store, or may write to it while they run.
    pub(super) writes: &'static [&'static [&'static str]],
    /// Those of the writing calls that work on any store with conversations, and adopt a file.
    pub(super) adopts: &'static [&'static [&'static str]],
}

const fn looks(words: &'static [&'static str], looks: &'static [&'static [&'static str]]) -> Row {
    Row { words, looks, writes: &[], adopts: &[] }
}

const fn adopts(words: &'static [&'static str], adopts: &'static [&'static [&'static str]]) -> Row {
    Row { words, looks: &[], writes: adopts, adopts }
}

pub(super) const COMMANDS: &[Row] = &[
    looks(
        &["__complete"],
        &[
            &["__complete", "--", "sessions", "show", ""],
            &["__complete", "--", "sessions", "list", "--tag", ""],
            &["__complete", "--", "sessions", "list", "--source", ""],
            &["__complete", "--", "sessions", "list", "--model", ""],
            &["__complete", "--", "sessions", "restore", ""],
        ],
    ),
    looks(&["completions"], &[&["completions", "bash"]]),
    looks(&["config", "show"], &[&["config", "show"]]),
    Row { words: &["demo"], looks: &[], writes: &[&["demo", "--url", "DB"]], adopts: &[] },
    Row {
        words: &["doctor"],
        looks: &[&["doctor"], &["doctor", "--json"]],
        writes: &[&["doctor", "--fix"]],
        adopts: &[],
    },
    looks(&["insights"], &[&["insights", "--days", "36500"], &["insights", "--days", "36500", "--html", "-"]]),
    looks(&["man"], &[&["man", "sessions", "list"]]),
    Row { words: &["mcp"], looks: &[&["mcp", "--all"]], writes: &[&["mcp", "--all", "--write"]], adopts: &[] },
    looks(
        &["sessions", "list"],
        &[&["sessions", "list"], &["sessions", "list", "--all", "--json"], &["--read-only", "sessions", "list"]],
    ),
    looks(&["sessions", "browse"], &[&["sessions", "browse"]]),
    looks(&["sessions", "search"], &[&["sessions", "search", "harbour"], &["sessions", "search", "harbour", "--json"]]),
    looks(
        &["sessions", "show"],
        &[
            &["sessions", "show", "@last"],
            &["sessions", "show", "one", "--json"],
            &["sessions", "show", "one", "--all", "--full"],
        ],
    ),
    adopts(&["sessions", "rename"], &[&["sessions", "rename", "one", "another title"]]),
    adopts(&["sessions", "pin"], &[&["sessions", "pin", "one"]]),
    Row { words: &["sessions", "unpin"], looks: &[], writes: &[&["sessions", "unpin", "one"]], adopts: &[] },
    Row {
        words: &["sessions", "tag"],
        looks: &[&["sessions", "tag"], &["sessions", "tag", "one"]],
        writes: &[&["sessions", "tag", "one", "--add", "work"]],
        adopts: &[&["sessions", "tag", "one", "--add", "work"]],
    },
    adopts(&["sessions", "archive"], &[&["sessions", "archive", "one"]]),
    Row { words: &["sessions", "unarchive"], looks: &[], writes: &[&["sessions", "unarchive", "one"]], adopts: &[] },
    Row {
        words: &["sessions", "delete"],
        looks: &[&["sessions", "delete", "one", "--dry-run"], &["sessions", "delete", "one", "--dry-run", "--json"]],
        writes: &[&["sessions", "delete", "one", "--yes"]],
        adopts: &[&["sessions", "delete", "one", "--yes"]],
    },
    Row { words: &["sessions", "restore"], looks: &[], writes: &[&["sessions", "restore", "one"]], adopts: &[] },
    looks(&["sessions", "trash", "list"], &[&["sessions", "trash", "list"]]),
    Row {
        words: &["sessions", "trash", "empty"],
        looks: &[],
        writes: &[&["sessions", "trash", "empty", "--yes"]],
        adopts: &[],
    },
    adopts(&["sessions", "erase"], &[&["sessions", "erase", "one", "--yes"]]),
    Row {
        words: &["sessions", "prune"],
        looks: &[&["sessions", "prune", "--dry-run"]],
        writes: &[&["sessions", "prune", "--older-than", "0d", "--yes"]],
        adopts: &[],
    },
    looks(
        &["sessions", "export"],
        &[
            &["sessions", "export", "-"],
            &["sessions", "export", "OUT"],
            &["sessions", "export", "OUT", "--format", "markdown"],
        ],
    ),
    Row {
        words: &["sessions", "import"],
        looks: &[&["sessions", "import", "IN", "--dry-run"]],
        writes: &[&["sessions", "import", "IN"]],
        adopts: &[&["sessions", "import", "IN"]],
    },
    looks(&["sessions", "stats"], &[&["sessions", "stats"], &["sessions", "stats", "--sizes", "--json"]]),
    looks(&["sessions", "verify"], &[&["sessions", "verify"]]),
    looks(&["sessions", "backup"], &[&["sessions", "backup", "OUT"]]),
    Row {
        words: &["sessions", "restore-backup"],
        looks: &[],
        writes: &[&["sessions", "restore-backup", "IN", "--yes"]],
        adopts: &[],
    },
    adopts(&["sessions", "optimize"], &[&["sessions", "optimize"]]),
    looks(&["sessions", "repair"], &[&["sessions", "repair", "DB", "--out", "OUT"]]),
    adopts(&["sessiondb", "adopt"], &[&["sessiondb", "adopt"]]),
    Row { words: &["sessiondb", "detach"], looks: &[], writes: &[&["sessiondb", "detach", "--yes"]], adopts: &[] },
    Row {
        words: &["sessiondb", "migrate"],
        looks: &[
            &["sessiondb", "migrate", "--from", "config", "--to", "OUT"],
            &["sessiondb", "migrate", "--from", "OTHER", "--to", "DB", "--merge", "--dry-run"],
        ],
        writes: &[&["sessiondb", "migrate", "--from", "OTHER", "--to", "DB", "--merge"]],
        adopts: &[&["sessiondb", "migrate", "--from", "OTHER", "--to", "DB", "--merge"]],
    },
    looks(&["sessiondb", "owners"], &[&["sessiondb", "owners"], &["sessiondb", "owners", "--json"]]),
    looks(&["sessiondb", "rpc"], &[&["sessiondb", "rpc"], &["sessiondb", "rpc", "--read-only"]]),
    looks(&["sessiondb", "status"], &[&["sessiondb", "status"], &["sessiondb", "status", "--json"]]),
];
