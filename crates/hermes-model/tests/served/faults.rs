//! Servers and networks that fail.

use crate::support::{TIMEOUTS, client, served};
use hermes_model::script::{Asked, Habits, Reply, Script, Sent, Step, render};
use hermes_model::{Call, ErrorKind, Event, Finish, NetworkFault, Request, Timeouts, WireMessage};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// Serves a failing reply and then a good one. Returns the progress, and the error if there was no second attempt.
async fn after(reply: Reply) -> (String, Option<ErrorKind>) {
    let (server, client) = served(Script::new([reply, Reply::text("good")])).await;
    let seen = client.say("hi").await;
    assert_eq!(server.violations(), Vec::<String>::new());
    match seen.outcome {
        Ok(answer) => {
            assert_eq!(answer.text, "good", "no text of the failed attempt is in the answer");
            (seen.progress, None)
        }
        Err(error) => (seen.progress, Some(error.kind)),
    }
}

#[tokio::test]
async fn each_status_is_tried_again_or_reported_at_once() {
    let again = ("<attempt 2>good".to_owned(), None);
    let at_once = |kind| (String::new(), Some(kind));
    for status in [408, 429, 500, 502, 503, 504, 529] {
        assert_eq!(after(Reply::error(status, "not now")).await, again, "{status}");
        assert_eq!(after(Reply::page(status, "Bad gateway")).await, again, "{status}");
    }
    for (status, kind) in [
        (400, ErrorKind::BadRequest),
        (401, ErrorKind::WrongKey),
        (402, ErrorKind::NoCredit),
        (403, ErrorKind::Forbidden),
        (404, ErrorKind::NotFound),
        (413, ErrorKind::ContextTooLong { window: None }),
        (422, ErrorKind::BadRequest),
    ] {
        assert_eq!(after(Reply::error(status, "no")).await, at_once(kind), "{status}");
    }
    let too_long = Reply::error(400, "This model's maximum context length is 8192 tokens.");
    assert_eq!(after(too_long).await, at_once(ErrorKind::ContextTooLong { window: Some(8192) }));
    // An error may also come with status 200.
    assert_eq!(
        after(Reply::bytes(200, "application/json", "{\"error\": {\"message\": \"x\", \"code\": 503}}")).await,
        again
    );
    let refused = Reply::bytes(200, "text/event-stream", "data: {\"error\": {\"message\": \"x\", \"code\": 400}}\n\n");
    assert_eq!(after(refused).await, at_once(ErrorKind::BadRequest));
}

#[tokio::test]
async fn answers_that_are_none_are_tried_again() {
    let again = ("<attempt 2>good".to_owned(), None);
    for reply in [
        Reply::page(200, "Sign in"),
        Reply::bytes(200, "text/event-stream", ""),
        Reply::bytes(200, "text/event-stream", vec![0xff; 5000]),
        Reply::bytes(200, "text/event-stream", "data: {\"choices\": [{\"delta\n\n"),
        Reply::bytes(200, "application/json", "{\"choices\": [{\"mess"),
        Reply::bytes(200, "application/json", "{}"),
        Reply::text("whole").habits(Habits { streams: false, ..Habits::default() }).cut_at(90),
    ] {
        assert_eq!(after(reply.clone()).await, again, "{reply:?}");
    }
}

#[tokio::test]
async fn a_stream_may_be_cut_at_any_byte() {
    let steps = || {
        let call = Call { id: "a".into(), name: "look".into(), arguments: "{\"x\": 1}".into() };
        [Step::Text("bad words".into()), Step::Call(call)]
    };
    let (server, client) = served(Script::default()).await;
    let (mut discarded, mut completed) = (0, 0);
    let stop = stop_of(&Reply::answer(steps()));
    for at in (0..1900).step_by(19) {
        server.push(Reply::answer(steps()).cut_at(at));
        server.push(Reply::text("good"));
        let seen = client.say("hi").await;
        let has_pieces = seen.progress.contains("bad");
        discarded += usize::from(seen.progress.contains("<discarded><attempt 2>"));
        assert_eq!(
            has_pieces && seen.progress.contains("<attempt 2>"),
            seen.progress.contains("<discarded>"),
            "at {at}"
        );
        let answer = seen.answer();
        assert_eq!(answer.finish == Finish::ToolCalls, at >= stop, "at {at} of {stop}");
        if answer.finish == Finish::ToolCalls {
            // The model had stopped: only the usage or the mark of the end is missing.
            assert_eq!((answer.text.as_str(), answer.calls.len()), ("bad words", 1), "at {at}");
            completed += 1;
            // The good reply is for the next request.
            assert_eq!(client.say("hi").await.answer().text, "good");
        } else {
            assert_eq!((answer.text.as_str(), answer.calls.len()), ("good", 0), "at {at}");
        }
    }
    assert!(discarded > 10 && completed > 3, "{discarded} {completed}");
    assert_eq!(server.violations(), Vec::<String>::new());
}

/// Returns the number of bytes after which a client knows that the model has stopped.
fn stop_of(reply: &Reply) -> usize {
    // The length of the request has three digits, which the answer repeats.
    let asked = Asked { model: "test-model".into(), is_streamed: true, wants_usage: true, length: 100 };
    let mut bytes = Vec::new();
    for piece in render(reply, &asked).pieces {
        bytes.extend(if let Sent::Bytes(piece) = piece { piece } else { Vec::new() });
    }
    let text = String::from_utf8(bytes).unwrap();
    let reason = text.find("\"finish_reason\":\"").unwrap();
    reason + text[reason..].find("\n\n").unwrap() + 2
}

#[tokio::test]
async fn the_last_error_is_reported_after_four_attempts() {
    let (server, client) = served(Script::new([Reply::text("bad").cut_at(400).repeated()])).await;
    let seen = client.say("hi").await;
    assert_eq!(
        seen.progress,
        "bad<discarded><attempt 2>bad<discarded><attempt 3>bad<discarded><attempt 4>bad<discarded>"
    );
    assert_eq!(seen.error().kind, ErrorKind::CutStream);
    assert_eq!(client.clock.waits(), [1, 2, 4].map(Duration::from_secs));
    assert_eq!(server.received().len(), 4);
}

#[tokio::test]
async fn the_pause_that_a_server_asks_for_is_kept() {
    let limited = |pause: &str| Reply::error(429, "slow down").header("Retry-After", pause);
    let (_server, client) = served(Script::new([limited("7"), limited("20"), Reply::text("good")])).await;
    assert_eq!(client.say("hi").await.answer().text, "good");
    assert_eq!(client.clock.waits(), [7, 20].map(Duration::from_secs));
    let (server, client) = served(Script::new([limited("3600")])).await;
    let error = client.say("hi").await.error();
    assert_eq!((error.kind, error.retry_after), (ErrorKind::RateLimited, Some(Duration::from_secs(3600))));
    assert_eq!((server.received().len(), client.clock.waits().len()), (1, 0));
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let timeouts = Timeouts { idle: Duration::from_millis(1000), ..TIMEOUTS };
    let silent = || Reply::answer([Step::Text("bad".into()), Step::Pause(Duration::from_secs(30))]);
    let (server, _) = served(Script::new([silent(), Reply::text("good")])).await;
    let seen = client(&server.base_url(), timeouts).say("hi").await;
    assert_eq!(seen.progress, "bad<discarded><attempt 2>good");

    // It accepts connections, and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let timeouts = Timeouts { answer: Duration::from_millis(100), ..TIMEOUTS };
    let error = client(&url, timeouts).say("hi").await.error();
    assert_eq!(error.kind, ErrorKind::Network(NetworkFault::IdleTimeout));
}

#[tokio::test]
async fn a_slow_stream_is_an_answer() {
    // It takes longer than the limit as a whole, but never between two pieces.
    let timeouts = Timeouts { idle: Duration::from_millis(1500), ..TIMEOUTS };
    let slow = Reply::text("one two").in_pieces(20).paced(Duration::from_millis(40));
    let (server, _) = served(Script::new([slow])).await;
    let seen = client(&server.base_url(), timeouts).say("hi").await;
    assert_eq!(seen.progress, "one two");
    assert_eq!(seen.answer().text, "one two");
}

#[tokio::test]
async fn servers_that_cannot_be_reached_are_told_apart() {
    let closed = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let fault = async |url: &str| {
        let client = client(url, TIMEOUTS);
        let error = client.say("hi").await.error();
        let ErrorKind::Network(fault) = error.kind else { panic!("{error}") };
        (fault, client.clock.waits().len())
    };
    assert_eq!(fault(&closed).await, (NetworkFault::Refused, 3));
    assert_eq!(fault("http://no-such-host.invalid/v1").await.0, NetworkFault::Dns);
    // A certificate stays as it is: there is one attempt. Here the server does not speak TLS at all.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/v1", listener.local_addr().unwrap());
    let plain = tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    assert_eq!(fault(&url).await, (NetworkFault::Tls, 0));
    plain.abort();
}

#[tokio::test]
async fn a_large_answer_and_a_large_question_arrive() {
    let large = "0123456789abcde ".repeat(10 << 16);
    let (server, client) = served(Script::new([Reply::text(large.replace(' ', "_")), Reply::text("ok")])).await;
    assert_eq!(client.say("hi").await.answer().text.len(), 10 << 20);
    assert_eq!(client.say(&large).await.answer().text, "ok");
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[tokio::test]
async fn the_user_interrupts() {
    let half = || {
        let call = Call { id: "a".into(), name: "look".into(), arguments: "{\"x\": 1}".into() };
        Reply::answer([Step::Text("so far".into()), Step::Pause(Duration::from_secs(30)), Step::Call(call)])
    };
    let (server, client) = served(Script::new([half(), Reply::error(503, "busy").repeated()])).await;
    let request = || Request::new([WireMessage::user("hi")]);
    let said = Notify::new();
    let mut on_event = |_: Event<'_>| said.notify_one();
    let answer = client.model.answer_until(request(), said.notified(), &mut on_event).await.unwrap();
    assert_eq!((answer.text.trim(), answer.finish, answer.calls.len()), ("so", Finish::Interrupted, 0));
    // Between two attempts, too.
    let is_waiting = |event: &Event<'_>| matches!(event, Event::Retrying { .. });
    let mut on_event = |event: Event<'_>| {
        if is_waiting(&event) {
            said.notify_one()
        }
    };
    let error = client.model.answer_until(request(), said.notified(), &mut on_event).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Interrupted);
    assert_eq!(hung_up(&server).await, 1);
}

/// Returns the number of clients that hung up, once there is one.
async fn hung_up(server: &hermes_standins::ModelServer) -> usize {
    for _ in 0..500 {
        if server.hang_ups() > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.hang_ups()
}

#[tokio::test]
async fn dropping_a_request_ends_it() {
    let endless = Reply::answer([Step::Text("so far".into()), Step::Pause(Duration::from_secs(30))]);
    let (server, client) = served(Script::new([endless, Reply::text("good")])).await;
    let said = Notify::new();
    let mut on_event = |_: Event<'_>| said.notify_one();
    tokio::select! {
        _ = client.model.answer(Request::new([WireMessage::user("hi")]), &mut on_event) => panic!("it ends"),
        () = said.notified() => {}
    }
    assert_eq!(hung_up(&server).await, 1);
    assert_eq!(client.say("hi").await.answer().text, "good");
}
