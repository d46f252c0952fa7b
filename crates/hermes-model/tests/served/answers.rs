//! Answers as servers give them.

use crate::support::{TIMEOUTS, client, served};
use hermes_model::script::{Habits, ReasoningField, Reply, Script, Step};
use hermes_model::{
    AssistantMessage, Call, CallIds, Finish, Image, Part, Quirks, Request, Tokens, ToolSpec, WireMessage, find_model,
};
use hermes_standins::{IdForm, ModelServer, Rules};
use serde_json::json;

#[tokio::test]
async fn a_text_is_streamed_and_counted() {
    let tokens = Tokens { input: 5, output: 7, cache_read: 3, billed: Some(0.25), ..Tokens::default() };
    let habits = Habits { tokens: Some(tokens), ..Habits::default() };
    let (server, client) = served(Script::new([Reply::text("Hello there, 大!").habits(habits)])).await;
    let seen = client.say("hi").await;
    assert_eq!(seen.progress, "Hello there, 大!");
    let answer = seen.answer();
    assert_eq!(
        (answer.text.as_str(), &answer.finish, answer.tokens),
        ("Hello there, 大!", &Finish::Stop, Some(tokens))
    );
    assert_eq!(answer.model.as_deref(), Some("test-model"));
    assert_eq!(server.violations(), Vec::<String>::new());
    let received = server.received();
    assert_eq!(received[0].body["messages"], json!([{"role": "user", "content": "hi"}]));
}

#[tokio::test]
async fn every_habit_of_a_server_yields_the_same_answer() {
    let steps = || {
        let call = Call { id: "a1".into(), name: "look".into(), arguments: "{\"at\": \"é\"}".into() };
        [Step::Reasoning("Hm, 大.".into()), Step::Text("One two".into()), Step::Call(call)]
    };
    let habits = Habits::default();
    let all = [
        habits.clone(),
        Habits { streams: false, ..habits.clone() },
        Habits { says_done: false, reports_usage: false, ..habits.clone() },
        Habits { says_finish: false, ..habits.clone() },
        Habits { reasoning: ReasoningField::Reasoning, has_crlf: true, ..habits.clone() },
        Habits { reasoning: ReasoningField::Tags, has_comments: true, ..habits.clone() },
        Habits { has_index: false, argument_piece: 1, ..habits },
    ];
    let (server, client) = served(Script::default()).await;
    for habits in all {
        for piece in [None, Some(1), Some(3), Some(100), Some(usize::MAX)] {
            for is_open_ended in [false, true] {
                let mut reply = Reply::answer(steps()).habits(habits.clone());
                reply.delivery.piece = piece;
                server.push(if is_open_ended { reply.header("connection", "close") } else { reply });
                let seen = client.say("hi").await;
                assert_eq!(seen.progress.replace(")(", ""), "(Hm, 大.)One two[look]", "{habits:?}");
                let answer = seen.answer();
                assert_eq!((answer.text.as_str(), answer.reasoning.as_deref()), ("One two", Some("Hm, 大.")));
                assert_eq!(
                    (answer.calls[0].id.as_str(), answer.calls[0].arguments.as_str()),
                    ("a1", "{\"at\": \"é\"}")
                );
                assert_eq!((answer.finish, answer.tokens.is_some()), (Finish::ToolCalls, habits.reports_usage));
            }
        }
    }
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn a_conversation_with_tools_goes_on() {
    let script =
        Script::new([Reply::call("c1", "look", &json!({"at": "the sky"})), Reply::text("It is blue.").when("clear")]);
    let (server, client) = served(script).await;
    let mut request = Request::new([WireMessage::System("Be brief.".into()), WireMessage::user("What colour?")]);
    request.tools =
        vec![ToolSpec { name: "look".into(), description: "Looks".into(), parameters: json!({"type": "object"}) }];
    let first = client.ask(request.clone()).await.answer();
    let call = first.calls[0].clone();
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("look", "{\"at\":\"the sky\"}"));
    request.messages.push(WireMessage::Assistant(AssistantMessage { calls: first.calls, ..Default::default() }));
    request.messages.push(WireMessage::result(call.id, "clear"));
    request.is_streamed = false;
    let seen = client.ask(request).await;
    assert_eq!(seen.progress, "It is blue.");
    assert_eq!(seen.answer().text, "It is blue.");
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn models_say_their_context() {
    let models = json!({"data": [{"id": "other"}, {"id": "test-model", "max_model_len": 8192}]});
    let (_server, client) = served(Script::default().with_models(models)).await;
    let list = client.model.models().await.unwrap();
    assert_eq!(find_model(&list, "test-model").unwrap().window, Some(8192));
}

/// A small generator, so that each list can be made again from its number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.roll(choices.len() as u64) as usize]
    }

    fn message(&mut self) -> WireMessage {
        let texts = ["", " ", "a", "long text", "\u{0}", "大"];
        let ids = ["", "a", "b", "call_0", "abcdefghi", "id with space", "äö"];
        match self.roll(8) {
            0 => WireMessage::System(self.pick(&texts).into()),
            1 | 2 => WireMessage::user(self.pick(&texts)),
            3 => {
                let image = Image { url: self.pick(&["https://a/b.png", "b.png", ""]).into(), detail: None };
                WireMessage::User(vec![Part::Text(self.pick(&texts).into()), Part::Image(image)])
            }
            4 | 5 => {
                let calls = (0..self.roll(3)).map(|_| Call {
                    id: self.pick(&ids).into(),
                    name: self.pick(&["look", "", "bad name", "x.y"]).into(),
                    arguments: self.pick(&["{}", "", "{\"a\": ", "[1]", "{\"a\": 1}", "null"]).into(),
                });
                let calls = calls.collect();
                let text = self.pick(&texts).into();
                WireMessage::Assistant(AssistantMessage { text, calls, ..Default::default() })
            }
            _ => WireMessage::result(self.pick(&ids), self.pick(&texts)),
        }
    }
}

#[tokio::test]
async fn no_conversation_breaks_a_rule_of_a_strict_server() {
    for (ids, call_ids) in [(IdForm::Any, CallIds::Any), (IdForm::Nine, CallIds::NineAlphanumeric)] {
        let script = Script::new([Reply::text("ok").repeated()]);
        let server = ModelServer::start(script, Rules { ids, ..Rules::default() }).await.unwrap();
        let mut client = client(&server.base_url(), TIMEOUTS);
        client.model.quirks = Quirks { call_ids, ..client.model.quirks };
        for number in 0..300 {
            let mut dice = Dice(number);
            let length = dice.roll(12);
            let list: Vec<WireMessage> = (0..length).map(|_| dice.message()).collect();
            let seen = client.ask(Request::new(list.clone())).await;
            assert!(seen.outcome.is_ok(), "{list:?}: {:?}", server.violations());
        }
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_strict_server_refuses_what_is_not_conformed() {
    let (server, _) = served(Script::new([Reply::text("ok").repeated()])).await;
    let list = [WireMessage::user("a"), WireMessage::user("b")];
    let body = hermes_model::chat::body("m", &Request::new(list), &Quirks::default());
    let request = hermes_model::HttpRequest {
        url: hermes_model::BaseUrl::parse(&server.base_url()).unwrap().join("/chat/completions"),
        body: Some(body.into()),
        key: None,
        headers: Vec::new(),
    };
    let response = hermes_model::Transport::send(&hermes_model::HttpTransport::default(), request).await.unwrap();
    assert_eq!((response.status, server.violations().len()), (400, 1));
}
