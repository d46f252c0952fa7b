//! `docs/json.md` is generated from the types: `HERMES_WRITE_DOCS=1 cargo test -p hermes-wire --test docs` writes it,
//! without it the test compares.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

use hermes_wire::{
    archive, changes, config, doctor, erase, insights, owners, pins, repair, search, session, statistics, status,
    transfer, trash, verify,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// The start of the page.
const INTRODUCTION: &str = "\
<!-- Written from the types of hermes-wire: HERMES_WRITE_DOCS=1 cargo test -p hermes-wire --test docs -->

# What `--json` prints

One object on one line, with `\"schema\": 1` as its first key. Names are the columns of the tables, times are epoch seconds as doubles that
read back with the same bits, stored JSON is nested as JSON. Control, bidi and other characters that could affect a terminal come as `\\u`
escapes, so values are complete. A list is never `null`.

";

/// The commands with the types of their output, in the order of the page.
fn outputs() -> Vec<(&'static str, Vec<Schema>)> {
    vec![
        ("hermes sessions list", vec![schema::<session::Listing<'_>>()]),
        ("hermes sessions search", vec![schema::<search::SearchAnswer<'_>>()]),
        ("hermes sessions show", vec![schema::<session::Transcript<'_>>()]),
        ("hermes sessions stats", vec![schema::<statistics::Statistics<'_>>()]),
        ("hermes insights", vec![schema::<insights::Insights<'_>>()]),
        ("hermes sessions verify", vec![schema::<verify::VerifyReport<'_>>()]),
        ("hermes sessions backup", vec![schema::<verify::Backup>()]),
        ("hermes sessions restore-backup", vec![schema::<verify::BackupRestored>()]),
        ("hermes sessions optimize", vec![schema::<verify::Optimized>()]),
        ("hermes sessiondb migrate", vec![schema::<transfer::Migrated<'_>>()]),
        ("hermes sessions repair", vec![schema::<repair::Repaired<'_>>()]),
        ("hermes sessions rename", vec![schema::<changes::Renamed<'_>>()]),
        ("hermes sessions pin` and `hermes sessions unpin", vec![schema::<pins::Pins<'_>>()]),
        ("hermes sessions tag", vec![schema::<pins::Tagged<'_>>(), schema::<pins::Tags<'_>>()]),
        ("hermes sessions archive` and `hermes sessions unarchive", vec![schema::<archive::Archiving<'_>>()]),
        ("hermes sessions delete", vec![schema::<changes::Deleted<'_>>()]),
        ("hermes sessions trash list", vec![schema::<trash::Trash<'_>>()]),
        ("hermes sessions trash empty", vec![schema::<trash::Emptied<'_>>()]),
        ("hermes sessions restore", vec![schema::<trash::Restored<'_>>()]),
        ("hermes sessions erase", vec![schema::<erase::Erased<'_>>(), schema::<erase::Finished>()]),
        ("hermes sessions prune", vec![schema::<changes::PrunePlan<'_>>(), schema::<changes::Pruned>()]),
        ("hermes sessions export", vec![schema::<changes::Exported>()]),
        ("hermes sessions import", vec![schema::<changes::Imported<'_>>()]),
        ("hermes sessiondb adopt", vec![schema::<transfer::Adopted<'_>>()]),
        ("hermes sessiondb detach", vec![schema::<transfer::Detached<'_>>()]),
        ("hermes sessiondb status", vec![schema::<status::StoreStatus<'_>>()]),
        ("hermes sessiondb owners", vec![schema::<owners::Owners<'_>>()]),
        ("hermes config show", vec![schema::<config::Settings<'_>>()]),
        ("hermes doctor", vec![schema::<doctor::Diagnosis<'_>>()]),
    ]
}

fn schema<T: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>()
}

/// Writes the page, and keeps where each nested object was described.
#[derive(Default)]
struct Page {
    text: String,
    described: HashMap<String, String>,
}

impl Page {
    fn section(&mut self, command: &str, schemas: &[Schema]) {
        let commands: Vec<String> = command.split("` and `").map(|command| format!("`{command} --json`")).collect();
        self.text.push_str(&format!("## {}\n\n", commands.join(" and ")));
        for schema in schemas {
            let definitions = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
            self.object(command, schema.as_object().unwrap(), &definitions);
        }
    }

    /// Writes the description and the keys of an object, then the objects in it.
    fn object(&mut self, command: &str, object: &Map<String, Value>, definitions: &Map<String, Value>) {
        self.text.push_str(&format!("{}\n\n", description(object)));
        self.text.push_str("| key | value | meaning |\n|---|---|---|\n");
        let mut nested: Vec<(String, Vec<String>)> = Vec::new();
        for (key, value) in object["properties"].as_object().unwrap() {
            let (kind, name) = kind(value);
            let place = name.and_then(|name| self.described.get(name));
            let kind = place.map_or_else(|| kind.clone(), |place| format!("{kind}, as in `{place}`"));
            if let Some(name) = name.filter(|_| place.is_none()) {
                match nested.iter_mut().find(|(other, _)| other == name) {
                    Some((_, keys)) => keys.push(format!("`{key}`")),
                    None => nested.push((name.to_owned(), vec![format!("`{key}`")])),
                }
            }
            self.text.push_str(&format!("| `{key}` | {kind} | {} |\n", description(value.as_object().unwrap())));
        }
        self.text.push('\n');
        for (name, keys) in nested {
            if self.described.insert(name.clone(), command.to_owned()).is_none() {
                self.text.push_str(&format!("**{}.** ", keys.join(", ")));
                self.object(command, definitions[&name].as_object().unwrap(), definitions);
            }
        }
    }
}

/// Returns the doc comment of a type or a field, each paragraph on one line.
#[track_caller]
fn description(schema: &Map<String, Value>) -> String {
    let text =
        schema.get("description").and_then(Value::as_str).unwrap_or_else(|| panic!("no description: {schema:?}"));
    let paragraphs = text.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Returns the kind of a value in words, and the name of the object that it is or holds.
fn kind(schema: &Value) -> (String, Option<&str>) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        return ("object".into(), reference.rsplit('/').next());
    }
    if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
        let (kind, name) = kind(choices.iter().find(|choice| choice["type"] != "null").unwrap());
        return (format!("{kind} or null"), name);
    }
    let word = |kind: &str| {
        match kind {
            "string" => "text",
            "array" => "list",
            other => other,
        }
        .to_owned()
    };
    match &schema["type"] {
        Value::String(name) if name == "array" => match kind(&schema["items"]) {
            (of, name) if ["object", "text"].contains(&of.as_str()) => (format!("list of {of}s"), name),
            (_, name) => ("list".into(), name),
        },
        Value::String(name) => (word(name), None),
        Value::Array(names) => {
            (names.iter().map(|name| word(name.as_str().unwrap())).collect::<Vec<_>>().join(" or "), None)
        }
        _ => ("any".into(), None),
    }
}

#[test]
fn the_page_is_that_of_the_types() {
    let mut page = Page { text: INTRODUCTION.to_owned(), ..Page::default() };
    for (command, schemas) in outputs() {
        page.section(command, &schemas);
    }
    let text = format!("{}\n", page.text.trim_end());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    if std::env::var_os("HERMES_WRITE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(text == written, "docs/json.md is out of date: HERMES_WRITE_DOCS=1 cargo test -p hermes-wire --test docs");
}
