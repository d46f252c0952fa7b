//! Connections are kept, and replaced when a server has closed them.

use crate::support::served;
use hermes_model::script::{Reply, Script};

#[tokio::test]
async fn a_connection_is_used_again() {
    let (server, client) = served(Script::new([Reply::text("good").repeated()])).await;
    for _ in 0..5 {
        assert_eq!(client.say("hi").await.answer().text, "good");
    }
    client.model.models().await.unwrap();
    let connections: Vec<usize> = server.received().iter().map(|received| received.connection).collect();
    assert_eq!(connections, [0; 6]);
}

#[tokio::test]
async fn a_connection_that_was_closed_is_replaced() {
    let close = || Reply::text("good").header("Connection", "close");
    let (server, client) = served(Script::new([close(), close(), Reply::text("good")])).await;
    for _ in 0..3 {
        let seen = client.say("hi").await;
        assert_eq!(seen.progress, "good", "without a second attempt");
    }
    let connections: Vec<usize> = server.received().iter().map(|received| received.connection).collect();
    assert_eq!(connections, [0, 1, 2]);
}
