use super::*;
use hermes_session::search::Way;
use hermes_session::{Source, Timestamp};
use jiff::tz::TimeZone;

impl SearchArgs {
    /// Returns a search for a text with no other option.
    fn new(text: &str) -> Self {
        Self { query: vec![text.to_owned()], limit: i64::from(PageRequest::default().limit()), ..Self::default() }
    }
}

fn now() -> Now {
    Now { at: Timestamp::from_seconds(1_741_166_123.0).unwrap(), zone: TimeZone::UTC }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn every_option_is_asked_of_the_store() {
    let at = |text| when::range(Some(text), None, &now()).unwrap().0.unwrap();
    let tag = Source::from_stored;
    let args = SearchArgs {
        query: texts(&["a", "b c"]),
        source: texts(&["cli"]),
        exclude_source: texts(&["cron"]),
        role: texts(&["user", "tool"]),
        since: Some("3d".into()),
        until: Some("2025-03-04".into()),
        user: Some("u".into()),
        session: None,
        title: Some("t".into()),
        model: Some("m".into()),
        tag: Vec::new(),
        newest: true,
        exact: true,
        limit: 5,
        offset: 10,
        after: None,
        context: false,
        json: false,
    };
    let expect = SearchRequest {
        filter: SearchFilter {
            sources: Some(vec![tag("cli")]),
            exclude_sources: vec![tag("cron")],
            roles: Some(vec![Role::User, Role::Tool]),
            since: Some(at("3d")),
            before: Some(at("2025-03-05")),
            user_id: Some("u".into()),
            title: Some("t".into()),
            model: Some("m".into()),
            ..SearchFilter::default()
        },
        order: SearchOrder::Newest,
        page: PageRequest::new(5, 10).unwrap(),
        relax: false,
        with_neighbours: false,
        ..SearchRequest::new(Query::parse("a b c"))
    };
    assert_eq!(args.request(&now()).unwrap(), expect);
}

#[test]
fn nothing_but_a_query_asks_for_everything_but_tools() {
    let request = SearchArgs::new("x").request(&now()).unwrap();
    let filter = SearchFilter { exclude_sources: vec![Source::from_stored("tool")], ..SearchFilter::default() };
    assert_eq!(request, SearchRequest { filter, with_neighbours: false, ..SearchRequest::new(Query::parse("x")) });
    let named = SearchArgs { session: Some("s".into()), ..SearchArgs::new("x") };
    assert_eq!(named.request(&now()).unwrap().filter, SearchFilter::default());
}

#[test]
fn the_next_page_is_asked_for_with_the_same_options() {
    assert_eq!(SearchArgs::new("x").command(("--offset", "20".into()), ""), "hermes sessions search --offset 20 x");
    let args = SearchArgs {
        query: texts(&["rm", "-rf", "it's"]),
        source: texts(&["cli", "cron"]),
        exclude_source: texts(&["x"]),
        role: texts(&["user"]),
        since: Some("3d".into()),
        until: Some("2026-01-31 10:00".into()),
        user: Some("u".into()),
        session: Some("a b".into()),
        title: Some("t".into()),
        model: Some("m".into()),
        tag: texts(&["w"]),
        newest: true,
        exact: true,
        limit: 5,
        offset: 5,
        after: None,
        context: true,
        json: false,
    };
    let command = args.command(("--offset", "10".into()), " --home h");
    assert_eq!(
        command,
        "hermes sessions search --home h --source cli --source cron --exclude-source x --role user --tag w --since 3d \
         --until '2026-01-31 10:00' --user u --session 'a b' --title t --model m --limit 5 --offset 10 --newest --exact --context \
         -- rm -rf \"it's\""
    );
}

#[test]
fn time_that_ran_out_is_not_the_same_as_nothing() {
    let args = SearchArgs::new("x");
    let request = args.request(&now()).unwrap();
    let served = Served { way: Way::Scan, is_relaxed: false, is_partial: true, unindexed: 0, needs_adoption: false };
    let late = nothing(&args, &request, &served, Existing::default());
    assert_eq!((late.kind(), late.text().as_str()), (Kind::Store, "found nothing that matches \"x\" within 2 s"));
    assert_eq!(
        nothing(&args, &request, &Served { is_partial: false, ..served }, Existing::default()).kind(),
        Kind::User
    );
}
