use super::*;
use hermes_session::search::matching::Tier;
use hermes_session::{MessageId, Role, SessionId, Source, Timestamp};
use insta::assert_snapshot;
use jiff::tz::TimeZone;

fn now() -> Now {
    Now { at: Timestamp::from_seconds(1_741_166_123.0).unwrap(), zone: TimeZone::UTC }
}

pub(super) fn hit(session: &str, title: Option<&str>, role: Role, hours_ago: f64, snippet: &str) -> Hit {
    let id = SessionId::parse(session).unwrap();
    let said_at = now().at.plus(-3_600.0 * hours_ago);
    Hit {
        message: MessageId(1),
        session: id.clone(),
        conversation: id,
        role,
        said_at,
        tool_name: None,
        source: Source::parse("telegram").unwrap(),
        model: None,
        title: title.map(Into::into),
        started_at: said_at,
        tier: Tier::Words,
        score: 1.0,
        snippet: snippet.into(),
        before: None,
        after: None,
        is_archived: false,
    }
}

/// Returns hits of two alternating conversations, in several scripts. Matches are between `[` and `]`.
fn several() -> Vec<Hit> {
    let beside = |role, text: &str| Some(Neighbour { role, text: text.into() });
    let plan = Some("大别山徒步计划：两天一夜，别太累，带上孩子和狗");
    let mut hits = vec![
        hit(
            "20250305_071523_a1b2c3d4",
            plan,
            Role::User,
            2.0,
            "…周末想去[大别山]徒步，两天一夜，帮我排个路线，别太累。住山上客栈，[大别山]的早晚温差大，记得带一件薄羽绒服 🧥。",
        ),
        hit(
            "s2",
            None,
            Role::Assistant,
            30.0,
            "The [Dabie] 👨\u{200d}👩\u{200d}👧 mountains are\n\n  [大别山] in Chinese.",
        ),
        hit("20250305_071523_a1b2c3d4", plan, Role::Tool, 1.0, "[大别山] 多云 12–19℃"),
        hit("s2", None, Role::User, 24.0 * 30.0, "كيف أحضّر كبسة [الدجاج] لستة أشخاص؟"),
    ];
    hits[2].tool_name = Some("web_search_with_a_long_name".into());
    hits[2].before = beside(Role::Assistant, "我先查一下天气。");
    hits[2].after = beside(
        Role::Assistant,
        "第一天：天堂寨景区 → 哲人峰，约 9 公里，住山上客栈。\n第二天：白马大峡谷慢慢走下来，约 7 公里，下午三点前能到停车场。",
    );
    hits
}

fn screen(columns: usize, with_context: bool, is_styled: bool) -> String {
    let delimiters = Delimiters::random();
    let style = delimiters.style(200);
    let hits: Vec<Hit> = several()
        .into_iter()
        .map(|hit| Hit { snippet: hit.snippet.replace('[', &style.open).replace(']', &style.close), ..hit })
        .collect();
    let page = Page::new(&hits, 20, PER_CONVERSATION);
    let look = Look { with_context, is_styled, columns, title_columns: columns };
    let lines = list(&page, &delimiters, look, |_| String::new(), &now());
    let lines: Vec<String> = lines.iter().map(Line::plain).collect();
    let widest = lines.iter().map(|line| width(&line.as_str().into())).max().unwrap();
    assert!(widest <= columns.max(26), "{columns}: {widest}\n{}", lines.join("\n"));
    assert!(lines.iter().all(|line| line.trim_end() == line), "{lines:?}");
    lines.join("\n")
}

#[test]
fn a_screen_of_80_columns() {
    assert_snapshot!(screen(80, false, false), @r#"
    1 大别山徒步计划：两天一夜，别太…  2h ago · telegram · 20250305_071523_a1b2c3d4
      ● You           2h ago      #1  …周末想去>>>大别山<<<徒步，两天一夜，帮我排个
                                      路线，别太累。住山上客栈，>>>大别山<<<的早晚温
                                      差大，记得带一件薄羽绒服 🧥。
      ↳ web_search_…  1h ago      #1  >>>大别山<<< 多云 12–19℃

    2 (no title)  yesterday · telegram · s2
      ◆ Hermes        yesterday   #1  The >>>Dabie<<< 👨‍👩‍👧 mountains are >>>大别山<<<
                                      in Chinese.
      ● You           2025-02-03  #1  كيف أحضّر كبسة >>>الدجاج<<< لستة أشخاص؟
    "#);
}

#[test]
fn a_screen_of_80_columns_with_context() {
    assert_snapshot!(screen(80, true, true), @r#"
    1 大别山徒步计划：两天一夜，别太…  2h ago · telegram · 20250305_071523_a1b2c3d4
      ● You           2h ago      #1  …周末想去大别山徒步，两天一夜，帮我排个路线，
                                      别太累。住山上客栈，大别山的早晚温差大，记得带
                                      一件薄羽绒服 🧥。
      ◆ Hermes                        我先查一下天气。
      ↳ web_search_…  1h ago      #1  大别山 多云 12–19℃
      ◆ Hermes                        第一天：天堂寨景区 → 哲人峰，约 9 公里，住山…

    2 (no title)  yesterday · telegram · s2
      ◆ Hermes        yesterday   #1  The Dabie 👨‍👩‍👧 mountains are 大别山 in Chinese.
      ● You           2025-02-03  #1  كيف أحضّر كبسة الدجاج لستة أشخاص؟
    "#);
}

#[test]
fn a_narrow_screen() {
    assert_snapshot!(screen(40, true, false), @r#"
    1 大别山徒步计划：两天一夜，别太累，带…
      2h ago · telegram
      20250305_071523_a1b2c3d4
      ● You · 2h ago · #1
        …周末想去>>>大别山<<<徒步，两天一
        夜，帮我排个路线，别太累。住山上客
        栈，>>>大别山<<<的早晚温差大，记得带
        一件…
      ◆ Hermes
        我先查一下天气。
      ↳ web_search_with_a_lon… · 1h ago · #1
        >>>大别山<<< 多云 12–19℃
      ◆ Hermes
        第一天：天堂寨景区 → 哲人峰，约 9…

    2 (no title)  yesterday · telegram · s2
      ◆ Hermes · yesterday · #1
        The >>>Dabie<<< 👨‍👩‍👧 mountains are
        >>>大别山<<< in Chinese.
      ● You · 2025-02-03 · #1
        كيف أحضّر كبسة >>>الدجاج<<< لستة
        أشخاص؟
    "#);
}

#[test]
fn a_wide_screen() {
    assert_snapshot!(screen(200, true, false), @r#"
    1 大别山徒步计划：两天一夜，别太累，带上孩子和狗  2h ago · telegram · 20250305_071523_a1b2c3d4
      ● You                          2h ago      #1  …周末想去>>>大别山<<<徒步，两天一夜，帮我排个路线，别太累。住山上客栈，>>>大别山<<<的早晚温差大，记得带一件薄羽绒服 🧥。
      ◆ Hermes                                       我先查一下天气。
      ↳ web_search_with_a_long_name  1h ago      #1  >>>大别山<<< 多云 12–19℃
      ◆ Hermes                                       第一天：天堂寨景区 → 哲人峰，约 9 公里，住山上客栈。 第二天：白马大峡谷慢慢走下来，约 7 公里，下午三点前能到停车场。

    2 (no title)  yesterday · telegram · s2
      ◆ Hermes                       yesterday   #1  The >>>Dabie<<< 👨‍👩‍👧 mountains are >>>大别山<<< in Chinese.
      ● You                          2025-02-03  #1  كيف أحضّر كبسة >>>الدجاج<<< لستة أشخاص؟
    "#);
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for columns in 20..210 {
        screen(columns, columns % 2 == 0, columns % 3 == 0);
    }
}

#[test]
fn what_matched_is_in_a_style_of_its_own() {
    let delimiters = Delimiters::random();
    let style = delimiters.style(200);
    let found = hit("s", None, Role::User, 1.0, &format!("a {}b{} >>>c<<<", style.open, style.close));
    let rendered = |is_styled| {
        let look = Look { with_context: false, is_styled, columns: 80, title_columns: 80 };
        let line = list(&Page::new(std::slice::from_ref(&found), 1, 1), &delimiters, look, |_| String::new(), &now())
            .pop()
            .unwrap();
        let strong = |(text, style): &(Visible, Style)| {
            style.get_fg_color().is_some_and(|color| color == AnsiColor::Red.into()).then(|| text.to_string())
        };
        (line.plain().split("1h ago  #1  ").last().unwrap().to_owned(), line.pieces().iter().find_map(strong))
    };
    assert_eq!(rendered(true), ("a b >>>c<<<".into(), Some("b".into())));
    assert_eq!(rendered(false), ("a >>>b<<< >>>c<<<".into(), Some(">>>b<<<".into())));
}

#[test]
fn the_command_for_folded_hits_is_whole_and_has_its_own_line_where_it_does_not_fit() {
    let told = |columns| {
        folded(27, "hermes sessions search --session s x", columns).iter().map(Line::plain).collect::<Vec<_>>()
    };
    assert_eq!(told(80), ["  +27 more: hermes sessions search --session s x"]);
    assert_eq!(told(48), told(80));
    assert_eq!(told(47), ["  +27 more:", "    hermes sessions search --session s x"]);
}
