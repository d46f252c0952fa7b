use super::*;
use crate::{Content, Extra, Json, Message, MessageBody, MessageId, Role, Scalar, SessionId, Timestamp};
use proptest::prelude::*;

/// Masks a text, which must not change any more when it is masked again.
fn mask(text: &str) -> String {
    let mut counts = Counts::new();
    let masked = masked(text, &mut counts).into_owned();
    assert_eq!(super::masked(&masked, &mut Counts::new()), masked, "masked twice");
    assert_eq!(masked == text, counts.is_empty());
    masked
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(mask(text), expected);
}

/// Checks that exactly this part of a text is masked.
#[track_caller]
fn finds(before: &str, secret: &str, behind: &str, kind: Kind) {
    check(&format!("{before}{secret}{behind}"), &format!("{before}{}{behind}", kind.placeholder()));
}

#[track_caller]
fn stays(text: &str) {
    check(text, text);
}

/// Returns letters and digits, the same for the same length.
fn key(length: usize) -> String {
    "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY".chars().cycle().take(length).collect()
}

#[test]
fn keys_of_services_are_found_by_their_prefix() {
    for (prefix, length, kind) in [
        ("sk-", 48, Kind::ApiKey),
        ("sk-proj-", 80, Kind::ApiKey),
        ("sk-ant-api03-", 95, Kind::ApiKey),
        ("sk-or-v1-", 64, Kind::ApiKey),
        ("sk_live_", 24, Kind::ApiKey),
        ("AIza", 35, Kind::ApiKey),
        ("hf_", 34, Kind::ApiKey),
        ("glpat-", 20, Kind::ApiKey),
        ("ghp_", 36, Kind::GithubToken),
        ("gho_", 36, Kind::GithubToken),
        ("github_pat_", 82, Kind::GithubToken),
        ("xoxb-123456789012-", 24, Kind::SlackToken),
        ("xoxp-123456789012-", 24, Kind::SlackToken),
    ] {
        let secret = format!("{prefix}{}", key(length));
        for (before, behind) in [("", ""), ("use ", " now"), ("(", ")"), ("大", "。"), ("a\\n", "\\n"), ("x/", "\n")]
        {
            finds(before, &secret, behind, kind);
        }
        stays(&format!("a{secret}"));
        stays(prefix.trim_end_matches("123456789012-"));
    }
    finds("id ", "AKIAIOSFODNN7EXAMPLE", ".", Kind::AwsKey);
    finds("", "ASIAIOSFODNN7EXAMPLE", "", Kind::AwsKey);
    stays("AKIAIOSFODNN7EXAMPLEAKIA");
}

#[test]
fn what_only_looks_like_a_key_stays() {
    for text in [
        "sk-learn-pipelines-for-text-classification-2024",
        "task-3f2504e04f8911d39a0c0305e82c3301",
        "the risk-adjusted-returns-of-portfolio-number-12345",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "550e8400-e29b-41d4-a716-446655440000",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "eyJhbGciOiJIUzI1NiJ9",
        "bearer of bad news",
        "Bearer tokens are passed in the header",
        "12345678:30 and 1234567890:short",
        "git@github.com:owner/repository.git",
        "https://user@host/path",
        "https://host:8080/a@b",
        "https://user:***@host/",
        "postgresql://user:${PASSWORD}@host/db",
        "\"-----BEGIN PRIVATE KEY-----\" and \"-----END PRIVATE KEY-----\"",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBg\n-----END PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----\nMIIBIjANBg\n-----END CERTIFICATE-----",
        "2026-11-18T20:09:00Z process=12345678",
    ] {
        stays(text);
    }
}

#[test]
fn tokens_headers_and_blocks_are_found() {
    let jwt =
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
    finds("a ", jwt, " b", Kind::Jwt);
    finds("Authorization: Bearer ", jwt, "\n", Kind::Authorization);
    finds("authorization: basic ", "dXNlcjpwYXNz", "\"", Kind::Authorization);
    finds("-H 'Authorization: Bearer ", "short1", "'", Kind::Authorization);
    finds("Bearer ", "a1b2c3d4e5f6g7h8i9", " x", Kind::Authorization);
    finds(
        "https://api.telegram.org/bot",
        "123456789:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc",
        "/getMe",
        Kind::TelegramToken,
    );
    finds("it is ", "1234567890:AAEhBOweik6ad9r_QXMENQjcrGbqCr4K-bc", ".", Kind::TelegramToken);
    finds("postgresql://ada:", "p@ss:w0rd", "@db:5432/x", Kind::UrlPassword);
    finds("redis://:", "hunter2", "@cache", Kind::UrlPassword);
    let block = format!("-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", key(64));
    finds("a\n", &block, "\nb", Kind::PrivateKey);
    finds("", &block.replace('\n', "\\n"), "\\nb", Kind::PrivateKey);
    finds("cut: ", &block[..block.len() - 33], "", Kind::PrivateKey);
    finds("cut: ", &block[..block.len() - 33], " (more)", Kind::PrivateKey);
    stays("search for -----BEGIN PRIVATE KEY----- in the file, please");
    finds(
        "",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----",
        "",
        Kind::PrivateKey,
    );
}

#[test]
fn values_are_found_by_the_name_they_are_assigned_to() {
    for (before, secret, behind, kind) in [
        ("password=", "hunter2", "", Kind::Password),
        ("password = \"", "correct horse", "\"", Kind::Password),
        ("DB_PASSWORD='", "a\"b", "'", Kind::Password),
        ("export OPENAI_API_KEY=", "abcdef", "\necho", Kind::Secret),
        ("api-key: ", "a1b2c3d4", ", x", Kind::Secret),
        ("x?access_token=", "abc.def1", "&y=1", Kind::Secret),
        ("{\"password\": \"", "hunter2", "\"}", Kind::Password),
        ("{\"client_secret\":\"", "abc", "\"}", Kind::Secret),
        ("{\\\"password\\\": \\\"", "hunter2", "\\\", \\\"a\\\": 1}", Kind::Password),
        ("{\\\\\\\"token\\\\\\\": \\\\\\\"", "hunter2", "\\\\\\\"}", Kind::Secret),
        ("db:\n  password: ", "correcthorse", "\n  user: ada", Kind::Password),
        (":password => '", "hunter2", "'", Kind::Password),
        ("password := \"", "hunter2", "\"", Kind::Password),
        ("The password: ", "hunter22", ".", Kind::Password),
        ("password=", "über大1", " x", Kind::Password),
    ] {
        finds(before, secret, behind, kind);
    }
    for text in [
        "max_tokens=4096, token_count: 17",
        "token=token, password=password",
        "password = input()",
        "password: str",
        "token: Optional[str] = None",
        "password == \"hunter2\"",
        "secret=os.environ[\"A\"]",
        "api_key=config.api_key",
        "API_KEY=$OPENAI_API_KEY",
        "API_KEY=<your key>",
        "password=********",
        "the password: a word that only you know",
        "tokens: 12345678",
        "passwords=2 keyboard=abc123",
        "\"password\": null, \"token\": 7",
        "password=",
        "password",
        "sha256=e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ] {
        stays(text);
    }
}

#[test]
fn names_of_secrets_are_known_in_every_spelling() {
    for name in
        ["password", "DB_PASSWD", "apiKey", "X-API-Key", "aws_secret_access_key", "auth.token", "AWS_ACCESS_KEY_ID"]
    {
        assert!(assigned::kind_of(name.as_bytes()).is_some(), "{name}");
    }
    for name in ["", "tokens", "max_tokens", "passwords", "key", "public_key", "secretary"] {
        assert!(assigned::kind_of(name.as_bytes()).is_none(), "{name}");
    }
}

fn in_json(text: &str) -> (Option<String>, Counts) {
    let mut counts = Counts::new();
    let masked = json::masked_json(&Json::parse(text).unwrap(), &mut counts);
    (masked.map(|json| json.to_string()), counts)
}

#[test]
fn strings_of_json_are_masked_and_the_rest_stays() {
    let arguments =
        r#"[{"function": {"arguments": "{\"url\": \"https://a:b1@c\", \"password\": \"hunter2\"}"}, "n": 1.50}]"#;
    let (masked, counts) = in_json(arguments);
    assert_eq!(
        masked.unwrap(),
        r#"[{"function": {"arguments": "{\"url\": \"https://a:[redacted: url password]@c\", \"password\": \"[redacted: password]\"}"}, "n": 1.50}]"#
    );
    assert_eq!(counts, Counts::from([(Kind::UrlPassword, 1), (Kind::Password, 1)]));
    let (masked, _) =
        in_json(r#"{"API_KEY": "abc", "password": ["not it"], "token": {"a": "b"}, "Authorization": "Basic abc"}"#);
    assert_eq!(
        masked.unwrap(),
        r#"{"API_KEY": "[redacted: secret]", "password": ["not it"], "token": {"a": "b"}, "Authorization": "[redacted: authorization]"}"#
    );
    assert_eq!(in_json(r#"{"a": ["\ud800", "b", null, {"password": "***"}]}"#), (None, Counts::new()));
    let (masked, _) = in_json(r#"["\ud800 password=hunter2"]"#);
    assert_eq!(masked.unwrap(), "[\"\u{fffd} password=[redacted: password]\"]");
}

#[test]
fn every_text_of_a_message_is_masked_and_counted_by_session() {
    let secret = || "password=hunter2".to_owned();
    let id = SessionId::parse("s").unwrap();
    let json = Json::parse(r#"["password=hunter2"]"#).unwrap();
    let body = MessageBody {
        content: Some(Content::Text(secret())),
        tool_calls: Some(json.clone()),
        reasoning: Some(secret()),
        reasoning_content: Some(secret()),
        reasoning_details: Some(json.clone()),
        codex_reasoning_items: Some(json.clone()),
        codex_message_items: Some(json),
        ..MessageBody::empty(Role::Assistant)
    };
    let mut message = Message::new(MessageId(1), id.clone(), Timestamp::EPOCH, body);
    message.extra = Extra::from_iter([
        ("api_content", Scalar::Text(r#"{"a": "password=hunter2"}"#.to_owned())),
        ("platform_message_id", Scalar::Bytes(b"\xff password=hunter2".to_vec())),
    ]);
    let mut redactor = Redactor::default();
    redactor.message(&mut message);
    assert!(!format!("{message:?}").contains("hunter2"), "{message:?}");
    let found: Vec<Masked<'_>> = redactor.found().collect();
    assert_eq!(found, [Masked { session: &id, kind: Kind::Password, count: 9 }]);
    let bytes = Content::Bytes(b"\xff password=hunter2".to_vec());
    let mut message = Message::new(MessageId(2), id, Timestamp::EPOCH, MessageBody::new(Role::User, bytes));
    redactor.message(&mut message);
    assert_eq!(message.body.content, Some(Content::Text("\u{fffd} password=[redacted: password]".into())));
}

#[test]
fn a_placeholder_is_not_the_name_of_a_header() {
    let once = masked("Bearer aB3dE5fG7hJ9kL1m:Bearer password", &mut Counts::new()).into_owned();
    assert_eq!(once, "Bearer [redacted: authorization]:Bearer password");
    assert_eq!(masked(&once, &mut Counts::new()), once);
}

#[test]
fn a_secret_inside_another_is_masked_too() {
    let once = masked("://password=sk-:@@", &mut Counts::new()).into_owned();
    assert_eq!(masked(&once, &mut Counts::new()), once);
}

#[test]
fn a_large_or_hostile_text_takes_few_passes() {
    let start = "-----BEGIN RSA PRIVATE KEY-----";
    for piece in [
        "sk-",
        "token=\"",
        "eyJ-",
        "://:",
        "-----BEGIN ",
        start,
        "password: ",
        "Bearer ",
        "bearer/",
        "a=",
        "\\\"",
        "大",
    ] {
        let text = piece.repeat(200_000);
        let masked = masked(&text, &mut Counts::new()).into_owned();
        assert!(masked.len() <= text.len() * 8, "{piece}");
    }
}

proptest! {
    #[test]
    fn masking_is_stable_and_keeps_json_valid(
        text in "(password|token|=|:| |\"|\\\\|\n|sk-|aB3dE5fG7hJ9kL1m|://|@|大|eyJ|\\.|Bearer |-----BEGIN PRIVATE KEY-----){0,30}"
    ) {
        let once = masked(&text, &mut Counts::new()).into_owned();
        prop_assert_eq!(&masked(&once, &mut Counts::new()), &once);
        let nested = Json::string(&Json::string(&text).to_string());
        let masked = masked(nested.as_str(), &mut Counts::new()).into_owned();
        prop_assert!(Json::parse(&masked).is_ok(), "{}", masked);
    }
}
