//! The form of answers: order of keys, null values, keys that are left out.

use hermes_session::{Listing, SessionId, SessionSummary, Source, Timestamp, Usage};
use hermes_wire::config::{Setting, Settings};
use hermes_wire::erase::{Erased, ErasureProof};
use hermes_wire::rpc::{AutoPruned, Indexes, SearchAnswer};
use hermes_wire::search::Served;
use hermes_wire::{document, session, to_string};

#[test]
fn a_page_of_a_list_has_its_keys_in_order() {
    let id = SessionId::parse("a").unwrap();
    let at = |seconds| Timestamp::from_seconds(seconds).unwrap();
    let row = SessionSummary {
        id: id.clone(),
        conversation: id,
        segments: 2,
        source: Source::parse("cli").unwrap(),
        user_id: None,
        model: Some("m".into()),
        parent_session_id: None,
        relation: hermes_session::Relation::Root,
        started_at: at(1_794_767_912.0),
        ended_at: None,
        end_reason: None,
        message_count: 9,
        tool_call_count: 9,
        messages: 3,
        tool_calls: 1,
        usage: Usage { input_tokens: 5, actual_cost_usd: Some(0.25), ..Usage::default() },
        title: Some("大 \"x\"".into()),
        last_active: at(1_794_767_912.5),
        preview: "hi\n".into(),
        pinned_at: None,
        tags: Vec::new(),
        is_archived: false,
    };
    let listing = Listing { rows: vec![row], ..Listing::default() };
    assert_eq!(
        document(&session::Listing::new(&listing, false)),
        r#"{"schema": 1, "sessions": [{"id": "a", "conversation": "a", "segments": 2, "source": "cli", "user_id": null, "model": "m", "#
            .to_owned()
            + r#""parent_session_id": null, "relation": "root", "started_at": 1794767912.0, "ended_at": null, "end_reason": null, "#
            + r#""message_count": 3, "tool_call_count": 1, "title": "大 \"x\"", "input_tokens": 5, "output_tokens": 0, "#
            + r#""cache_read_tokens": 0, "cache_write_tokens": 0, "reasoning_tokens": 0, "api_call_count": 0, "#
            + r#""estimated_cost_usd": null, "actual_cost_usd": 0.25, "cost_status": null, "cost_source": null, "#
            + r#""pricing_version": null, "billing_provider": null, "billing_base_url": null, "billing_mode": null, "#
            + r#""last_active": 1794767912.5, "preview": "hi\n", "pinned_at": null, "tags": [], "archived": false}], "unreadable": [], "more": false}"#
    );
}

#[test]
fn keys_that_are_left_out_are_not_null() {
    let erased = |proof: Option<ErasureProof<'static>>| {
        let clean = proof.as_ref().map(|_| true);
        document(&Erased { id: "a", sessions: 1, messages: 2, files: 0, elsewhere: Vec::new(), clean, proof })
    };
    assert_eq!(
        erased(None),
        r#"{"schema": 1, "id": "a", "sessions": 1, "messages": 2, "files": 0, "elsewhere": [], "clean": null}"#
    );
    let proof = ErasureProof {
        rewritten: "done",
        needles: 1,
        words: 2,
        scanned_bytes: 3,
        left: Vec::new(),
        words_left: 0,
        tables_left: vec!["t"],
    };
    assert!(erased(Some(proof)).ends_with(
        r#""clean": true, "rewritten": "done", "needles": 1, "words": 2, "scanned_bytes": 3, "left": [], "words_left": 0, "tables_left": ["t"]}"#
    ));
    let setting = Setting { key: "k", value: "v", origin: "flag", variable: None, file: None, error: None };
    assert_eq!(
        document(&Settings { settings: vec![setting] }),
        r#"{"schema": 1, "settings": [{"key": "k", "value": "v", "origin": "flag"}]}"#
    );
}

#[test]
fn answers_over_rpc_have_no_version() {
    let served = Served { way: "scan", relaxed: false, partial: true, unindexed: 7 };
    let answer = |served| to_string(&SearchAnswer { hits: Vec::new(), served });
    assert_eq!(answer(None), r#"{"hits": []}"#);
    assert_eq!(
        answer(Some(served)),
        r#"{"hits": [], "way": "scan", "relaxed": false, "partial": true, "unindexed": 7}"#
    );
    assert_eq!(to_string(&Indexes::Whole), r#"{"state": "whole"}"#);
    assert_eq!(to_string(&Indexes::Behind { messages: 2 }), r#"{"state": "behind", "messages": 2}"#);
    assert_eq!(to_string(&Indexes::Broken { why: "x" }), r#"{"state": "broken", "why": "x"}"#);
    assert_eq!(to_string(&AutoPruned::default()), r#"{"skipped": false, "pruned": 0, "vacuumed": false}"#);
}
