use super::*;
use crate::WireMessage::{Assistant, System, User};
use crate::{AssistantMessage, Call, CallIds, Image, Part, Reasoning, ReturnedReasoning};

fn calls(text: &str, calls: &[(&str, &str, &str)]) -> WireMessage {
    let call = |(id, name, arguments): &(&str, &str, &str)| Call {
        id: (*id).into(),
        name: (*name).into(),
        arguments: (*arguments).into(),
    };
    Assistant(AssistantMessage { text: text.into(), calls: calls.iter().map(call).collect(), ..Default::default() })
}

fn user(text: &str) -> WireMessage {
    WireMessage::user(text)
}

fn assistant(text: &str) -> WireMessage {
    WireMessage::assistant(text)
}

fn result(id: &str, text: &str) -> WireMessage {
    WireMessage::result(id, text)
}

#[track_caller]
fn check<const N: usize, const M: usize>(list: [WireMessage; N], expect: [WireMessage; M]) {
    assert_eq!(conform(list, &Quirks::default()), expect);
}

#[test]
fn roles_alternate() {
    check(
        [user("a"), user("b"), assistant("c"), assistant("d"), user("e")],
        [user("a\n\nb"), assistant("c\n\nd"), user("e")],
    );
    check([assistant("a"), user("b")], [user(OPENING), assistant("a"), user("b")]);
    check([user("a"), assistant("b")], [user("a"), assistant("b"), user(CONTINUE)]);
    check([], [user(CONTINUE)]);
}

#[test]
fn instructions_are_at_the_start_alone() {
    let system = |text: &str| System(text.into());
    check([system("a"), system("b"), user("c")], [system("a\n\nb"), user("c")]);
    check([user("a"), system("b"), assistant("c")], [user("a\n\nb"), assistant("c"), user(CONTINUE)]);
}

#[test]
fn empty_messages_are_dropped() {
    check([user("a"), assistant(" \n"), user(""), assistant("b"), user("c")], [user("a"), assistant("b"), user("c")]);
}

#[test]
fn a_bridge_is_between_results_and_the_user() {
    let call = || calls("", &[("a", "ls", "{}")]);
    check(
        [user("q"), call(), result("a", "r"), user("go on")],
        [user("q"), call(), result("a", "r"), assistant(BRIDGE), user("go on")],
    );
    check([user("q"), call(), result("a", "r")], [user("q"), call(), result("a", "r")]);
}

#[test]
fn every_call_is_answered_once() {
    check(
        [
            user("q"),
            calls("", &[("a", "ls", "{}"), ("b", "ls", "{}")]),
            user("wait"),
            result("b", "late"),
            result("b", "twice"),
            result("ghost", "orphan"),
        ],
        [
            user("q"),
            calls("", &[("a", "ls", "{}"), ("b", "ls", "{}")]),
            result("a", INTERRUPTED),
            result("b", "late"),
            assistant(BRIDGE),
            user("wait"),
        ],
    );
    check(
        [user("q"), calls("", &[("a", "ls", "{}")]), result("a", " ")],
        [user("q"), calls("", &[("a", "ls", "{}")]), result("a", EMPTY_RESULT)],
    );
}

#[test]
fn broken_arguments_become_an_empty_object_and_are_quoted() {
    for (broken, note) in [
        ("{\"path\": \"/tm", "[The arguments of this call were not a JSON object: {\"path\": \"/tm]\nr"),
        ("[1]", "[The arguments of this call were not a JSON object: [1]]\nr"),
        ("{\"x\": \"\\ud800\"}", "[The arguments of this call were not a JSON object: {\"x\": \"\\ud800\"}]\nr"),
        ("", "r"),
        ("null", "r"),
    ] {
        check(
            [user("q"), calls("", &[("a", "ls", broken)]), result("a", "r")],
            [user("q"), calls("", &[("a", "ls", "{}")]), result("a", note)],
        );
    }
}

#[test]
fn ids_are_unique_and_in_the_form_of_the_provider() {
    let list = || {
        [
            user("q"),
            calls("", &[("call_0", "ls", "{}"), ("", "ls", "{}")]),
            result("call_0", "one"),
            result("", "two"),
            calls("", &[("call_0", "ls", "{}"), ("with space", "a.b c", "{}")]),
            result("call_0", "three"),
            result("with space", "four"),
        ]
    };
    for (form, first) in [(CallIds::Any, "call_0"), (CallIds::NineAlphanumeric, "")] {
        let quirks = Quirks { call_ids: form, ..Quirks::default() };
        let conformed = conform(list(), &quirks);
        let Assistant(message) = &conformed[1] else { panic!("not the assistant's") };
        assert!(message.calls[0].id.starts_with(first), "{message:?}");
        let texts: Vec<&str> = conformed
            .iter()
            .filter_map(
                |message| if let WireMessage::Result(result) = message { Some(result.text.as_str()) } else { None },
            )
            .collect();
        assert_eq!(texts, ["one", "two", "three", "four"]);
        assert_eq!(validate(&conformed, &quirks), Ok(()));
        let longer = list().into_iter().chain([assistant("done"), user("more")]);
        assert_eq!(conform(longer, &quirks)[..conformed.len()], conformed, "the start stays as it was");
    }
}

#[test]
fn reasoning_goes_back_only_where_it_is_wanted() {
    let details = hermes_session::Json::parse("[{\"type\": \"reasoning.text\"}]").unwrap();
    let thought = |text: Option<&str>, has_details: bool| {
        let reasoning = Reasoning { text: text.map(str::to_owned), details: has_details.then(|| details.clone()) };
        Assistant(AssistantMessage { text: "a".into(), calls: Vec::new(), reasoning })
    };
    for (wanted, expect) in [
        (ReturnedReasoning::None, thought(None, false)),
        (ReturnedReasoning::Content, thought(Some(""), false)),
        (ReturnedReasoning::Details, thought(None, true)),
    ] {
        let quirks = Quirks { reasoning: wanted, ..Quirks::default() };
        assert_eq!(conform([user("q"), thought(Some(""), true), user("r")], &quirks)[1], expect);
    }
    let quirks = Quirks { reasoning: ReturnedReasoning::Content, ..Quirks::default() };
    let Assistant(message) = &conform([user("q"), calls("", &[("a", "ls", "{}")])], &quirks)[1] else { panic!() };
    assert_eq!(message.reasoning.text.as_deref(), Some(""), "calls of another model have none");
}

#[test]
fn images_are_sent_where_they_are_valid() {
    let image = |url: &str| Part::Image(Image { url: url.into(), detail: None });
    let list = || [User(vec![Part::Text("look".into()), image("https://a/b.png"), image("file:///etc/passwd")])];
    let kept = User(vec![Part::Text("look".into()), image("https://a/b.png"), Part::Text("[image]".into())]);
    assert_eq!(conform(list(), &Quirks::default()), [kept]);
    let blind = Quirks { images: false, ..Quirks::default() };
    assert_eq!(conform(list(), &blind), [user("look\n\n[image]\n\n[image]")]);
}

#[test]
fn violations_are_named() {
    for (list, why) in [
        (vec![], "message 0 is missing: the list does not end with the user or with results"),
        (vec![assistant("a")], "message 0 is the model's, after which comes First"),
        (vec![user("")], "message 0 has an empty text"),
        (vec![user("a"), user("b")], "message 1 is the user's, after which comes Assistant"),
        (vec![user("a"), assistant("b")], "message 2 is missing: the list does not end with the user or with results"),
        (vec![user("a"), calls("", &[("x", "ls", "{}")])], "message 2 is missing: the result of Some(\"x\")"),
        (
            vec![user("a"), calls("", &[("x", "ls", "{")])],
            "message 1 calls ls with arguments that are not a JSON object",
        ),
        (vec![user("a"), calls("", &[("", "ls", "{}")])], "message 1 has a call id in the wrong form: \"\""),
        (vec![user("a"), calls("", &[("x", "l s", "{}")])], "message 1 calls a tool with the name \"l s\""),
        (
            vec![user("a"), calls("", &[("x", "ls", "{}")]), result("y", "r")],
            "message 2 is a result of \"y\", which is not open",
        ),
        (vec![user("a"), calls("", &[("x", "ls", "{}"), ("x", "ls", "{}")])], "message 1 reuses the call id \"x\""),
    ] {
        assert_eq!(validate(&list, &Quirks::default()).unwrap_err().to_string(), why);
    }
}
