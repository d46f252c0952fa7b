use super::*;
use proptest::prelude::*;

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn link(name: &str, parent: Option<&str>, relation: Relation, started: f64) -> Link {
    Link { id: id(name), parent: parent.map(id), relation, started_at: Timestamp::from_seconds(started).unwrap() }
}

fn names(ids: Vec<SessionId>) -> String {
    ids.iter().map(SessionId::as_str).collect::<Vec<_>>().join(" ")
}

/// root → c1 → c2, a delegate under root and one (itself compressed) under c1, a branch from c1.
fn family() -> Lineage {
    use Relation::{Branch, Continuation, Delegate, Root};
    Lineage::new([
        link("c2", Some("c1"), Continuation, 30.0),
        link("root", None, Root, 0.0),
        link("d1", Some("root"), Delegate, 5.0),
        link("d2", Some("c1"), Delegate, 25.0),
        link("d2b", Some("d2"), Continuation, 26.0),
        link("c1", Some("root"), Continuation, 20.0),
        link("b", Some("c1"), Branch, 40.0),
        link("b2", Some("b"), Continuation, 50.0),
    ])
}

#[test]
fn a_conversation_is_the_chain_and_its_delegates() {
    for member in ["root", "c1", "c2", "d1", "d2", "d2b"] {
        assert_eq!(names(family().conversation(&id(member))), "root c1 c2 d2 d2b d1", "{member}");
    }
    assert_eq!(names(family().conversation(&id("b2"))), "b b2");
}

#[test]
fn a_chain_is_whole_from_wherever_it_is_named_and_a_delegate_has_its_own() {
    for member in ["root", "c1", "c2"] {
        assert_eq!(names(family().chain(&id(member))), "root c1 c2 d2 d2b d1", "{member}");
    }
    for (member, chain) in [("d1", "d1"), ("d2", "d2 d2b"), ("d2b", "d2 d2b"), ("b", "b b2"), ("b2", "b b2")] {
        assert_eq!(names(family().chain(&id(member))), chain, "{member}");
    }
}

#[test]
fn a_later_branch_is_not_the_tip() {
    for (from, tip) in [("root", "c2"), ("c1", "c2"), ("c2", "c2"), ("d2", "d2b"), ("b", "b2"), ("ghost", "ghost")] {
        assert_eq!(family().tip(&id(from)).as_str(), tip, "{from}");
    }
}

#[test]
fn ancestors_come_oldest_first() {
    assert_eq!(names(family().ancestors(&id("b2"))), "root c1 b");
    assert_eq!(names(family().compressed_into(&id("b2"))), "b");
    assert_eq!(names(family().compressed_into(&id("c2"))), "root c1");
    assert_eq!(family().root(&id("b2")).as_str(), "root");
    assert_eq!(names(family().descendants(&id("c1"))), "c2 d2 d2b b b2");
}

#[test]
fn a_missing_parent_ends_the_way_up() {
    let lineage = Lineage::new([link("x", Some("gone"), Relation::Continuation, 0.0)]);
    assert_eq!(names(lineage.conversation(&id("x"))), "x");
    assert_eq!(lineage.root(&id("x")).as_str(), "x");
}

#[test]
fn the_parent_tells_what_a_child_is_at_birth() {
    let born = |end_reason, has_continuation, config: &str| {
        let config = Json::parse(config).unwrap();
        relation_at_birth(ParentAtBirth { end_reason, has_continuation }, Some(&config))
    };
    assert_eq!(born(Some("compression"), false, "{}"), Relation::Continuation);
    assert_eq!(born(Some("compression"), true, "{}"), Relation::Branch);
    assert_eq!(born(Some("branched"), false, "{}"), Relation::Branch);
    assert_eq!(born(None, false, "{}"), Relation::Delegate);
    assert_eq!(born(None, false, r#"{"_branched_from": "x"}"#), Relation::Branch);
    assert_eq!(born(Some("compression"), false, r#"{"_delegate_from": "x"}"#), Relation::Delegate);
}

#[test]
fn a_branch_is_marked_and_what_carries_it_on_is_not() {
    let settings = Json::parse(r#"{"t": 0.7, "_branched_from": "older"}"#).unwrap();
    let branch = settings_of_branch(Some(&settings), &id("p")).unwrap();
    assert_eq!(branch.as_str(), r#"{"t": 0.7, "_branched_from": "p"}"#);
    assert_eq!(settings_of_continuation(Some(&branch)).unwrap().as_str(), r#"{"t": 0.7}"#);
    let only = settings_of_branch(None, &id("p")).unwrap();
    assert_eq!((only.as_str(), settings_of_continuation(Some(&only))), (r#"{"_branched_from": "p"}"#, None));
    let text = Json::string("no object");
    assert_eq!(settings_of_branch(Some(&text), &id("p")), Some(text));
}

#[test]
fn ten_thousand_links_are_one_chain() {
    let name = |n: usize| format!("s{n:05}");
    let lineage = Lineage::new((0..10_000_usize).map(|n| {
        let parent = n.checked_sub(1).map(name);
        let relation = if n == 0 { Relation::Root } else { Relation::Continuation };
        // The clock runs backwards along the chain.
        link(&name(n), parent.as_deref(), relation, -(n as f64))
    }));
    assert_eq!(lineage.tip(&id("s00000")).as_str(), "s09999");
    assert_eq!(lineage.ancestors(&id("s09999")).len(), 9_999);
    assert_eq!(lineage.conversation(&id("s05000")).len(), 10_000);
}

proptest! {
    /// Any graph a foreign writer could leave, cycles and self-parents included.
    #[test]
    fn every_walk_ends_and_repeats_nothing(edges in prop::collection::vec((0..8_u8, 0..4_u8, 0..4_u8), 1..9)) {
        let relations = [Relation::Root, Relation::Continuation, Relation::Branch, Relation::Delegate];
        let lineage = Lineage::new(edges.iter().enumerate().map(|(n, (parent, relation, at))| {
            link(&n.to_string(), Some(&parent.to_string()), relations[usize::from(*relation)], f64::from(*at))
        }));
        for start in lineage.links() {
            for walk in [lineage.ancestors(&start.id), lineage.conversation(&start.id), lineage.descendants(&start.id)] {
                let distinct: BTreeSet<_> = walk.iter().collect();
                prop_assert_eq!(distinct.len(), walk.len());
            }
            prop_assert!(lineage.link(&lineage.tip(&start.id)).is_some());
            let conversation = lineage.conversation(&start.id);
            prop_assert!(conversation.contains(&start.id));
            for member in &conversation {
                prop_assert_eq!(&lineage.conversation_root(member), &conversation[0]);
            }
        }
    }
}
