use super::*;
use crate::BaseUrl;

fn of(status: u16, body: &str) -> ModelError {
    from_answer(RawAnswer { status, body: body.as_bytes(), retry_after: None })
}

#[test]
fn errors_of_servers_are_told_apart() {
    let too_long = |window| ErrorKind::ContextTooLong { window };
    for (status, body, kind) in [
        (
            401,
            r#"{"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}"#,
            ErrorKind::WrongKey,
        ),
        (401, "", ErrorKind::WrongKey),
        (402, r#"{"error": {"message": "This request requires more credits", "code": 402}}"#, ErrorKind::NoCredit),
        (
            429,
            r#"{"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}"#,
            ErrorKind::NoCredit,
        ),
        (403, r#"{"error": {"message": "Country not supported"}}"#, ErrorKind::Forbidden),
        (
            404,
            r#"{"error": {"message": "The model `x` does not exist", "code": "model_not_found"}}"#,
            ErrorKind::UnknownModel,
        ),
        (404, r#"{"error": {"message": "model \"x\" not found, try pulling it first"}}"#, ErrorKind::UnknownModel),
        (400, r#"{"error": {"message": "x is not a valid model ID", "code": 400}}"#, ErrorKind::UnknownModel),
        (404, "404 page not found", ErrorKind::NotFound),
        (413, "", too_long(None)),
        (
            400,
            r#"{"error": {"code": "context_length_exceeded", "message": "This model's maximum context length is 8192 tokens. However, …"}}"#,
            too_long(Some(8192)),
        ),
        (
            400,
            r#"{"error": {"code": 400, "message": "request (4390 tokens) exceeds the available context size (4096 tokens)", "type": "exceed_context_size_error", "n_prompt_tokens": 4390, "n_ctx": 4096}}"#,
            too_long(Some(4096)),
        ),
        (
            500,
            r#"{"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}"#,
            too_long(None),
        ),
        (
            400,
            r#"{"object": "error", "message": "The decoder prompt (length 9000) is longer than the maximum model length of 4096.", "code": 400}"#,
            too_long(Some(4096)),
        ),
        (400, r#"{"object": "error", "message": "max_tokens must be at least 1, got -186."}"#, too_long(None)),
        (400, r#"{"error": "prompt too long; exceeded max context length by 12 tokens"}"#, too_long(None)),
        (
            400,
            r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            too_long(None),
        ),
        (
            429,
            r#"{"error": {"message": "Request too large: exceeds the context window of tokens per minute"}}"#,
            ErrorKind::RateLimited,
        ),
        (
            529,
            r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}"#,
            ErrorKind::Overloaded,
        ),
        (503, "upstream busy", ErrorKind::Overloaded),
        (502, "<html><head><title>502 Bad Gateway</title></head></html>", ErrorKind::ServerFault),
        (200, "<!doctype html><title>Sign in</title>", ErrorKind::WebPage),
        (403, "<html>blocked</html>", ErrorKind::Forbidden),
        (422, r#"{"detail": [{"msg": "extra fields not permitted", "loc": ["body"]}]}"#, ErrorKind::BadRequest),
        (200, r#"{"error": {"message": "Rate limit exceeded", "code": 429}}"#, ErrorKind::RateLimited),
        (200, r#"{"error": {"message": "Internal", "type": "server_error"}}"#, ErrorKind::ServerFault),
        (302, "", ErrorKind::NotFound),
    ] {
        assert_eq!(of(status, body).kind, kind, "{status} {body}");
    }
}

#[test]
fn only_what_may_pass_is_tried_again() {
    for (status, may_pass) in [
        (400, false),
        (401, false),
        (402, false),
        (403, false),
        (404, false),
        (413, false),
        (429, true),
        (500, true),
        (502, true),
        (503, true),
        (529, true),
    ] {
        assert_eq!(of(status, "").kind.may_pass(), may_pass, "{status}");
    }
    assert!(!ErrorKind::Network(NetworkFault::Tls).may_pass() && ErrorKind::Network(NetworkFault::Refused).may_pass());
}

#[test]
fn the_words_of_the_server_are_kept_in_one_line() {
    for (body, message) in [
        (r#"{"error": {"message": "a\nb\u001b[31m"}}"#, "a b [31m"),
        (r#"{"error": "plain"}"#, "plain"),
        (r#"{"detail": [{"msg": "one"}, {"msg": "two"}]}"#, "one; two"),
        (
            r#"{"error": {"message": "Provider returned error", "metadata": {"raw": "{\"error\": {\"message\": \"bad image\"}}"}}}"#,
            "Provider returned error: bad image",
        ),
        ("<title>No\nentry</title>", "a web page with the title \"No\\nentry\""),
        ("\u{feff}just text", "\u{feff}just text"),
    ] {
        assert_eq!(of(400, body).message, message, "{body}");
    }
    assert_eq!(of(401, r#"{"error": {"message": "no"}}"#).to_string(), "the API key was not accepted (status 401): no");
}

#[test]
fn keys_are_masked_before_the_message_is_shortened() {
    let origin = BaseUrl::parse("https://a.example/v1").unwrap().origin().clone();
    let key = Key::new(origin, "my-very-own-key").unwrap();
    let body = format!("{}my-very-own-key and sk-ant-REDACTED", "x ".repeat(245));
    let error = of(401, &body).redacted(Some(&key));
    assert!(!error.message.contains("my-very") && !error.message.contains("sk-ant"), "{error}");
    assert!(error.message.chars().count() <= MAX_MESSAGE + 1);
}

#[test]
fn pauses_are_read_in_every_form() {
    let pause = |headers: &'static [(&'static str, &'static str)]| {
        retry_after(|name| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value))
    };
    assert_eq!(pause(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
    assert_eq!(pause(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
    assert_eq!(pause(&[("retry-after-ms", "250"), ("retry-after", "9")]), Some(Duration::from_millis(250)));
    let at = ("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT");
    assert_eq!(retry_after(|name| (name == at.0).then_some(at.1)), None, "without a date there is nothing to compare");
    assert_eq!(
        pause(&[("retry-after", "Sun, 06 Nov 1994 08:49:40 GMT"), ("date", "Sun, 06 Nov 1994 08:49:37 GMT")]),
        Some(Duration::from_secs(3))
    );
    for odd in ["-1", "NaN", "soon", "1e99"] {
        assert_eq!(retry_after(|name| (name == "retry-after").then_some(odd)), None, "{odd}");
    }
}
