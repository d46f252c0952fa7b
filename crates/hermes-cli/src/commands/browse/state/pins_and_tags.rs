//! Pins and tags: the keys, the line that is typed, and what was changed.

use super::input::type_into;
use super::{Mode, State};
use crate::commands::browse::event::{Effect, Input, Notice};
use crate::commands::browse::line_editor::LineEditor;
use crate::commands::browse::rows::Row;
use crate::ui::pins_and_tags::listed;
use hermes_session::{Invalid, SessionId, Tag};
use hermes_terminal::figures::plural;
use std::collections::BTreeSet;

impl State {
    /// Pins the chosen conversations; if all of them are pinned, unpins them.
    pub(super) fn begin_pin(&self) -> Vec<Effect> {
        let ids = self.chosen();
        if ids.is_empty() {
            return Vec::new();
        }
        let is_pinned = |id: &SessionId| self.known(id).is_some_and(|row| row.is_pinned);
        let is_pinned = !ids.iter().all(is_pinned);
        vec![Effect::Pin { ids, is_pinned }]
    }

    pub(super) fn begin_tag(&mut self) {
        let ids = self.chosen();
        if !ids.is_empty() {
            self.mode = Mode::Tag { ids, line: LineEditor::default() };
        }
    }

    pub(super) fn in_tag(&mut self, ids: Vec<SessionId>, mut line: LineEditor, input: Input) -> Vec<Effect> {
        match input {
            Input::Escape => return Vec::new(),
            Input::Enter => match words(line.text()) {
                Ok((add, remove)) if add.is_empty() && remove.is_empty() => {
                    self.notice = Some(Notice::of("Nothing was changed"));
                    return Vec::new();
                }
                Ok((add, remove)) => return vec![Effect::Tag { ids, add, remove }],
                Err(invalid) => self.notice = Some(Notice::error(format!("{invalid}: {}", invalid.hint))),
            },
            input => type_into(&mut line, input),
        }
        self.mode = Mode::Tag { ids, line };
        Vec::new()
    }

    /// Returns all tags of these conversations in one line.
    pub(in crate::commands::browse) fn tags_of(&self, ids: &[SessionId]) -> String {
        let tags: BTreeSet<&Tag> = ids.iter().filter_map(|id| self.known(id)).flat_map(|row| &row.tags).collect();
        listed(&tags.into_iter().cloned().collect::<Vec<_>>())
    }

    /// Shows that conversations were pinned or unpinned, and moves their rows.
    pub(super) fn pinned(&mut self, ids: &[SessionId], is_pinned: bool, failed: Option<Notice>) {
        let what = match ids {
            [id] => self.known(id).map_or(id.as_str(), Row::name).to_owned(),
            ids => plural(ids.len() as u64, "conversations"),
        };
        self.tell(
            failed.unwrap_or_else(|| Notice::of(if is_pinned { "Pinned " } else { "Unpinned " }.to_owned() + &what)),
        );
        self.keeping_the_cursor(|state| {
            state.rows.pin(ids, is_pinned);
            let is_meant = |id: &SessionId| ids.contains(id);
            state.hits.iter_mut().filter(|hit| is_meant(&hit.row.id)).for_each(|hit| hit.row.is_pinned = is_pinned);
            state.filter_again();
        });
    }

    /// Shows the new tags of conversations.
    pub(super) fn tagged(&mut self, changed: &[(SessionId, Vec<Tag>)], failed: Option<Notice>) {
        let told = match changed {
            [(_, tags)] if tags.is_empty() => "No tags are left".to_owned(),
            [(_, tags)] => format!("The tags are {}", listed(tags)),
            changed => format!("Changed the tags of {}", plural(changed.len() as u64, "conversations")),
        };
        self.tell(failed.unwrap_or_else(|| Notice::of(told)));
        self.keeping_the_cursor(|state| {
            state.rows.tag(changed);
            for (id, tags) in changed {
                state.hits.iter_mut().filter(|hit| hit.row.id == *id).for_each(|hit| hit.row.tags.clone_from(tags));
            }
            state.filter_again();
        });
    }
}

/// Returns the tags to add and those to remove: words, the latter with a dash in front.
fn words(text: &str) -> Result<(Vec<Tag>, Vec<Tag>), Invalid> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for word in text.split(|character: char| character.is_whitespace() || character == ',') {
        match word.strip_prefix('-') {
            Some(word) => remove.push(Tag::parse(word)?),
            None if word.is_empty() => {}
            None => add.push(Tag::parse(word)?),
        }
    }
    Ok((add, remove))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::browse::event::Event;
    use crate::commands::browse::rows::tests::row;

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    fn tags(texts: &[&str]) -> Vec<Tag> {
        texts.iter().map(|text| Tag::parse(text).unwrap()).collect()
    }

    fn loaded() -> State {
        let mut state = State::new((80, 24));
        let rows = ["a", "b", "c"].map(|name| row(name, Some(&format!("title {name}")), "", "cli"));
        state.update(Event::Rows { rows: rows.into(), is_last: true });
        state
    }

    fn press(state: &mut State, inputs: impl IntoIterator<Item = Input>) -> Vec<Effect> {
        inputs.into_iter().map(|input| state.update(Event::Input(input))).last().unwrap_or_default()
    }

    fn shown(state: &State) -> String {
        (0..state.len()).filter_map(|place| state.row(place)).map(|(row, _)| row.id.as_str()).collect()
    }

    fn told(state: &State) -> &str {
        state.notice.as_ref().map_or("", |notice| &notice.text)
    }

    #[test]
    fn a_pinned_row_goes_to_the_top_and_the_cursor_with_it() {
        let mut state = loaded();
        let pin = |is_pinned| Effect::Pin { ids: vec![id("c")], is_pinned };
        assert_eq!(press(&mut state, [Input::End, Input::Pin]), [pin(true)]);
        state.update(Event::Pinned { ids: vec![id("c")], is_pinned: true, failed: None });
        assert_eq!((shown(&state).as_str(), state.cursor, told(&state)), ("cab", 0, "Pinned title c"));
        // A row that is pinned is unpinned; of several, only if all are pinned.
        assert_eq!(press(&mut state, [Input::Pin]), [pin(false)]);
        let both = Effect::Pin { ids: vec![id("c"), id("a")], is_pinned: true };
        assert_eq!(press(&mut state, [Input::Mark, Input::Mark, Input::Pin]), [both]);
        state.update(Event::Pinned { ids: vec![id("a"), id("c")], is_pinned: false, failed: None });
        assert_eq!(told(&state), "Unpinned 2 conversations");
        let failed = Some(Notice::error("the disk is full"));
        state.update(Event::Pinned { ids: vec![id("b")], is_pinned: true, failed });
        assert_eq!((&shown(&state)[..1], told(&state)), ("b", "the disk is full"));
        // Without a row, nothing is pinned.
        press(&mut state, [Input::Mark, Input::Home, Input::Text("zzz".into())]);
        assert_eq!(press(&mut State::new((80, 24)), [Input::Pin, Input::Tag, Input::Enter]), []);
    }

    #[test]
    fn words_add_tags_and_a_dash_removes_them() {
        let mut state = loaded();
        press(&mut state, [Input::Tag, Input::Text("Work -home, q".into())]);
        let effects = press(&mut state, [Input::Enter]);
        let effect = Effect::Tag { ids: vec![id("a")], add: tags(&["work", "q"]), remove: tags(&["home"]) };
        assert_eq!((effects, state.mode.clone()), (vec![effect], Mode::List));
        state.update(Event::Tagged { tags: vec![(id("a"), tags(&["q", "work"]))], failed: None });
        assert_eq!((told(&state), state.tags_of(&[id("a"), id("b")])), ("The tags are q, work", "q, work".into()));
        press(&mut state, [Input::Text("work".into())]);
        assert_eq!(shown(&state), "a");
        state.update(Event::Tagged { tags: vec![(id("a"), vec![])], failed: None });
        assert_eq!((told(&state), shown(&state)), ("No tags are left", String::new()));
    }

    #[test]
    fn a_word_that_is_not_a_tag_is_told_and_can_be_corrected() {
        let mut state = loaded();
        for wrong in ["-", "work -", &"x".repeat(51)] {
            assert_eq!(press(&mut state, [Input::Tag, Input::Clear, Input::Text(wrong.into()), Input::Enter]), []);
            let is_told = state.notice.as_ref().is_some_and(|notice| notice.is_error);
            assert!(is_told && matches!(state.mode, Mode::Tag { .. }), "{wrong}");
            press(&mut state, [Input::Escape]);
        }
        assert_eq!((press(&mut state, [Input::Tag, Input::Enter]), state.mode.clone()), (vec![], Mode::List));
        assert_eq!(told(&state), "Nothing was changed");
        assert_eq!((press(&mut state, [Input::Tag, Input::Escape]), state.mode.clone()), (vec![], Mode::List));
    }
}
