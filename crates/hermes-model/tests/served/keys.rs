//! Keys stay with their origin.

use crate::support::{TIMEOUTS, client};
use hermes_model::script::{Reply, Script};
use hermes_model::{BaseUrl, ErrorKind, Key};
use hermes_standins::{ModelServer, Rules};

const KEY: &str = "my-secret-key-0123456789";

fn key(url: &str) -> Key {
    Key::new(BaseUrl::parse(url).unwrap().origin().clone(), KEY).unwrap()
}

async fn server(script: Script, key: Option<&str>) -> ModelServer {
    ModelServer::start(script, Rules { key: key.map(str::to_owned), ..Rules::default() }).await.unwrap()
}

#[tokio::test]
async fn a_key_is_sent_to_its_origin() {
    let server = server(Script::new([Reply::text("good")]), Some(KEY)).await;
    let mut client = client(&server.base_url(), TIMEOUTS);
    assert_eq!(client.say("hi").await.error().kind, ErrorKind::WrongKey);
    assert_eq!(client.model.models().await.unwrap_err().kind, ErrorKind::WrongKey);
    client.model.key = Some(key("https://api.openai.com/v1"));
    assert_eq!(client.say("hi").await.error().kind, ErrorKind::WrongKey, "it is for another origin");
    client.model.key = Some(key(&server.base_url()));
    assert_eq!(client.say("hi").await.answer().text, "good");
}

#[tokio::test]
async fn no_error_shows_a_key() {
    let server = server(Script::default(), Some("another key")).await;
    let mut client = client(&server.base_url(), TIMEOUTS);
    client.model.key = Some(key(&server.base_url()));
    let error = client.say("hi").await.error();
    // The server quotes the key that it got.
    assert!(error.message.starts_with("Incorrect API key provided"), "{error}");
    for text in [error.to_string(), format!("{error:?}"), format!("{:?}", client.model)] {
        assert!(!text.contains(KEY), "{text}");
    }
    let refused = crate::support::client("http://127.0.0.1:9/v1", TIMEOUTS);
    let error = refused.say("hi").await.error();
    assert!(!format!("{error:?}").contains(KEY));
}

#[tokio::test]
async fn a_redirect_to_another_origin_does_not_carry_the_key() {
    // It objects to any key.
    let other = server(Script::new([Reply::text("moved").repeated()]), None).await;
    let location = format!("{}/chat/completions", other.base_url());
    let first = server(
        Script::new([
            Reply::bytes(307, "text/plain", "").header("Location", &location),
            Reply::bytes(308, "text/plain", "").header("Location", "/v1/chat/completions"),
            Reply::text("stayed"),
            Reply::bytes(307, "text/plain", "").header("Location", "/v1/chat/completions").repeated(),
        ]),
        Some(KEY),
    )
    .await;
    let mut client = client(&first.base_url(), TIMEOUTS);
    client.model.key = Some(key(&first.base_url()));
    client.model.headers = vec![("X-Secret".into(), KEY.into())];
    assert_eq!(client.say("hi").await.answer().text, "moved");
    let received = other.received();
    assert!(received[0].headers.iter().all(|(_, value)| !value.contains(KEY)), "{received:?}");
    assert_eq!(received[0].body["model"], "test-model", "the request itself is sent again");
    assert_eq!(client.say("hi").await.answer().text, "stayed");
    assert!(first.received().last().unwrap().headers.iter().any(|(name, _)| name == "x-secret"));
    assert_eq!(client.say("hi").await.error().kind, ErrorKind::NotFound, "redirects in a circle end");
}
