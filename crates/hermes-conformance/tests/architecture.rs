//! Rules for the workspace: one-way dependencies, no forgotten case, limited file sizes, licences we can ship.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

use hermes_conformance::CASES;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Maximum length of a source file. One that comes close should be split.
const MAX_LINES: usize = 600;

/// Maximum number of third-party packages. May be raised by hand, with a reason: the PostgreSQL driver, its pool and
/// TLS brought ninety; the MySQL driver sixty, twenty of them for host names in any script; the MCP server with HTTP
/// thirty; full-screen drawing and key input seventeen; writing the log four; the HTTP client two.
const MAX_PACKAGES: usize = 346;

const LICENCES: [&str; 12] = [
    "MIT",
    "Apache-2.0",
    "ISC",
    "BSD-3-Clause",
    "BSD-2-Clause",
    "Zlib",
    "Unicode-3.0",
    "Unlicense",
    "0BSD",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
];

/// Programs: they may depend on anything, and nothing depends on them.
const FRONT_ENDS: [&str; 2] = ["hermes-cli", "hermes-bench"];

/// The modules of this crate that hold cases.
const CASE_MODULES: [&str; 34] = [
    "carry",
    "changes",
    "leases",
    "turns",
    "undo",
    "archive",
    "sessions",
    "states",
    "titles",
    "topics",
    "transfer",
    "trash",
    "lineage",
    "messages",
    "usage",
    "listing",
    "pins_and_tags",
    "meta",
    "recorded",
    "requests",
    "maintenance",
    "deletion",
    "import",
    "insights",
    "ordering",
    "pieces",
    "scope",
    "search",
    "text",
    "concurrency",
    "functions",
    "gateway",
    "mail",
    "routes",
];

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(workspace()).output().unwrap();
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn packages(arguments: &[&str]) -> Vec<Value> {
    let metadata: Value = serde_json::from_str(&cargo(arguments)).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Returns the dependencies among our crates, without those of tests.
fn arrows() -> BTreeMap<String, BTreeSet<String>> {
    let dependencies = |package: &Value| {
        let all = package["dependencies"].as_array().unwrap().iter();
        let shipped = all.filter(|dependency| dependency["kind"] != "dev");
        shipped.map(|dependency| dependency["name"].as_str().unwrap().to_owned()).collect()
    };
    let packages = packages(&["metadata", "--format-version", "1", "--offline", "--no-deps"]);
    packages.iter().map(|package| (package["name"].as_str().unwrap().to_owned(), dependencies(package))).collect()
}

#[test]
fn arrows_point_one_way() {
    let arrows = arrows();
    let allowed = BTreeMap::from([
        ("hermes-session", vec![]),
        ("hermes-search", vec!["hermes-session"]),
        ("hermes-sql", vec!["hermes-session", "hermes-search"]),
        ("hermes-sqlite", vec!["hermes-session", "hermes-search", "hermes-sql"]),
        ("hermes-rescue", vec!["hermes-session", "hermes-sqlite"]),
        ("hermes-postgres", vec!["hermes-session", "hermes-search", "hermes-sql"]),
        ("hermes-mysql", vec!["hermes-session", "hermes-search", "hermes-sql"]),
        ("hermes-store", vec!["hermes-session", "hermes-sqlite", "hermes-postgres", "hermes-mysql"]),
        ("hermes-app", vec!["hermes-session", "hermes-store", "hermes-config"]),
        ("hermes-wire", vec!["hermes-session"]),
        ("hermes-mcp", vec!["hermes-session", "hermes-recall", "hermes-wire"]),
        ("hermes-recall", vec!["hermes-session", "hermes-wire"]),
        ("hermes-rpc", vec!["hermes-session", "hermes-recall", "hermes-wire", "hermes-app"]),
        ("hermes-config", vec![]),
        ("hermes-model", vec!["hermes-session"]),
        ("hermes-standins", vec!["hermes-model"]),
        ("hermes-terminal", vec!["hermes-config", "hermes-session"]),
        ("hermes-conformance", vec!["hermes-session"]),
    ]);
    for (name, dependencies) in &arrows {
        let Some(allowed) = allowed.get(name.as_str()) else {
            assert!(FRONT_ENDS.contains(&name.as_str()), "{name} needs its place in this table");
            continue;
        };
        let ours = dependencies.iter().filter(|dependency| dependency.starts_with("hermes-"));
        for dependency in ours {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not build on {dependency}");
        }
    }
    for outside in ["rusqlite", "tokio", "clap"] {
        for name in ["hermes-session", "hermes-search", "hermes-terminal"] {
            assert!(!arrows[name].contains(outside), "{name} must not build on {outside}");
        }
    }
    for (name, dependencies) in &arrows {
        assert!(!dependencies.contains("hermes-standins"), "{name} must use the stand-ins in tests alone");
    }
    for outside in ["clap", "crossterm", "anstream", "indicatif", "tokio"] {
        assert!(!arrows["hermes-app"].contains(outside), "the application layer must not build on {outside}");
    }
}

/// Code that commands share is in `hermes-app` or in a module of its own, and `ui` only prints what it is given.
#[test]
fn commands_and_ui_stand_alone() {
    let source = workspace().join("crates/hermes-cli/src");
    let mut files = Vec::new();
    rust_files(&source.join("commands"), &mut files);
    rust_files(&source.join("ui"), &mut files);
    assert!(files.len() > 60, "the sources were found");
    let siblings: BTreeSet<String> = std::fs::read_dir(source.join("commands"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    for file in files {
        let inside = file.strip_prefix(&source).unwrap().with_extension("");
        let parts: Vec<&str> = inside.iter().map(|part| part.to_str().unwrap()).collect();
        let is_top = parts.len() == 2;
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let path =
                line.trim_start().strip_prefix("use ").or_else(|| line.trim_start().strip_prefix("pub(crate) use "));
            let other = path.and_then(|path| match path.strip_prefix("crate::commands::") {
                Some(rest) => Some(rest),
                None => path.strip_prefix("super::").filter(|_| is_top && parts[0] == "commands"),
            });
            let Some(other) = other else { continue };
            let named = other.split([':', ';', '{']).next().unwrap();
            let is_own = parts[0] == "commands" && parts[1] == named;
            let is_sibling = named.is_empty() || siblings.contains(named);
            assert!(is_own || !is_sibling, "{} imports from another command: {line}", file.display());
        }
    }
}

#[test]
fn every_case_is_on_the_list() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut written = BTreeSet::new();
    for module in CASE_MODULES {
        let mut files = vec![source.join(format!("{module}.rs"))];
        if source.join(module).is_dir() {
            rust_files(&source.join(module), &mut files);
        }
        for file in files {
            let text = std::fs::read_to_string(file).unwrap();
            let names = text.lines().filter_map(|line| line.strip_prefix("pub async fn ")?.split('(').next());
            written.extend(names.map(|name| format!("{module}::{name}")));
        }
    }
    let listed: BTreeSet<String> = CASES.iter().map(|case| case.name.to_owned()).collect();
    assert_eq!(written, listed);
    assert_eq!(listed.len(), CASES.len(), "a case is listed twice");
}

/// Returns the names after `//  Cases:` in the contract, over as many lines as they take.
fn promised(contract: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut is_list = false;
    for line in contract.lines().map(str::trim) {
        let list = line.strip_prefix("//  Cases:").or_else(|| line.strip_prefix("// ").filter(|_| is_list));
        is_list = list.is_some();
        names.extend(list.into_iter().flat_map(|list| list.split(',')).map(|name| name.trim().to_owned()));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// Returns the methods of the traits in a source file, each with its trait, and whether a `//  Cases:` comment is above
/// it.
fn methods(source: &str) -> Vec<(String, bool)> {
    let mut methods = Vec::new();
    let (mut contract, mut has_cases) = (None, false);
    for line in source.lines() {
        if let Some(name) = line.strip_prefix("pub trait ").filter(|_| line.ends_with('{')) {
            contract = name.split([':', ' ', '<']).next();
        } else if line == "}" {
            contract = None;
        }
        let Some(contract) = contract else { continue };
        let code = line.trim_start();
        let name = code.strip_prefix("async fn ").or_else(|| code.strip_prefix("fn "));
        if let Some(name) = name {
            methods.push((format!("{contract}::{}", name.split('(').next().unwrap()), has_cases));
        }
        has_cases = code.starts_with("//  Cases:") || (has_cases && code.starts_with("// "));
    }
    methods
}

#[test]
fn every_promise_has_its_cases() {
    let mut files = Vec::new();
    rust_files(&workspace().join("crates/hermes-session/src"), &mut files);
    let sources: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    // The traits of the contract are the asynchronous ones.
    let contract: Vec<&String> = sources.iter().filter(|source| source.contains("#[async_trait]")).collect();
    let methods: Vec<(String, bool)> = contract.iter().flat_map(|source| methods(source)).collect();
    assert!(methods.len() > 55, "the contract was found: {methods:?}");
    let without: Vec<&str> = methods.iter().filter(|(_, has)| !has).map(|(name, _)| name.as_str()).collect();
    assert!(without.is_empty(), "these methods name no cases: {without:?}");
    for promise in sources.iter().flat_map(|source| promised(source)) {
        let is_kept = match promise.strip_suffix('*') {
            Some(start) => CASES.iter().any(|case| case.name.starts_with(start)),
            None => CASES.iter().any(|case| case.name == promise),
        };
        assert!(is_kept, "there is no case {promise}");
    }
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn no_file_is_too_long() {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(workspace().join("crates")).unwrap() {
        rust_files(&entry.unwrap().path().join("src"), &mut files);
    }
    assert!(files.len() > 30, "the sources were found");
    for file in files {
        let lines = std::fs::read_to_string(&file).unwrap().lines().count();
        assert!(lines <= MAX_LINES, "{} has {lines} lines", file.display());
    }
}

/// Returns whether an SPDX expression allows using a package under licences of the list. `AND` binds tighter than `OR`.
fn is_allowed(expression: &str) -> bool {
    let words = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = words.split_whitespace().collect();
    let (allowed, rest) = any(&words);
    allowed && rest.is_empty()
}

fn any<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    let (mut allowed, mut rest) = all(words);
    while let ["OR", tail @ ..] = rest {
        let (other, after) = all(tail);
        (allowed, rest) = (allowed | other, after);
    }
    (allowed, rest)
}

fn all<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    let (mut allowed, mut rest) = one(words);
    while let ["AND", tail @ ..] = rest {
        let (other, after) = one(tail);
        (allowed, rest) = (allowed & other, after);
    }
    (allowed, rest)
}

fn one<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    match words {
        ["(", tail @ ..] => match any(tail) {
            (allowed, [")", rest @ ..]) => (allowed, rest),
            (_, rest) => (false, rest),
        },
        // An exception only gives more rights.
        [licence, "WITH", _, rest @ ..] | [licence, rest @ ..] => (LICENCES.contains(licence), rest),
        [] => (false, words),
    }
}

#[test]
fn licences_are_read_as_they_are_meant() {
    for good in [
        "MIT",
        "MIT OR GPL-3.0",
        "(GPL-2.0 OR MIT) AND ISC",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        "MIT/Apache-2.0",
    ] {
        assert!(is_allowed(good), "{good}");
    }
    for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "GPL-2.0 OR MIT AND GPL-3.0", "(MIT", "MIT )"] {
        assert!(!is_allowed(bad), "{bad}");
    }
}

#[test]
fn packages_are_few_and_free() {
    let about = cargo(&["-Vv"]);
    // Only packages for this platform have been fetched; others can't be inspected.
    let host = about.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let packages = packages(&["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", host]);
    assert!(packages.len() > 20, "the packages were found");
    for package in &packages {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence), "{} is under {licence:?}", package["name"]);
    }
    let lock = std::fs::read_to_string(workspace().join("Cargo.lock")).unwrap();
    let count = lock.lines().filter(|line| line.starts_with("source = ")).count();
    assert!(count <= MAX_PACKAGES, "{count} packages in Cargo.lock");
}
