//! The same scripts without a network.

use crate::support::{FastClock, line};
use hermes_model::script::{Reply, Script, Step};
use hermes_model::{BaseUrl, Finish, Model, Request, Scripted, WireMessage};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_script_is_followed_in_process() {
    let clock = Arc::new(FastClock::default());
    let script = Script::new([
        Reply::error(503, "busy"),
        Reply::text("bad").cut_at(390),
        Reply::answer([Step::Text("one".into()), Step::Pause(Duration::from_secs(3)), Step::Text(" two".into())])
            .paced(Duration::from_millis(10)),
    ]);
    let scripted = Arc::new(Scripted::new(script, Arc::<FastClock>::clone(&clock)));
    let base_url = BaseUrl::parse("http://scripted/v1").unwrap();
    let model = Model::new("m", base_url, Arc::<Scripted>::clone(&scripted), Arc::<FastClock>::clone(&clock));
    let mut progress = String::new();
    let request = Request::new([WireMessage::user("hi")]);
    let answer = model.answer(request, &mut |event| progress.push_str(&line(event))).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.finish, answer.tokens.is_some()), ("one two", Finish::Stop, true));
    assert_eq!(progress, "<attempt 2>bad<discarded><attempt 3>one two");
    assert!(clock.waits().contains(&Duration::from_secs(3)), "pauses are on the caller's clock");
    assert_eq!((scripted.requests().len(), model.models().await.unwrap()[0].id.as_str()), (3, "scripted"));
}
