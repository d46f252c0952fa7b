//! The preview: the end of a conversation, or the messages around a hit.

use super::Painter;
use crate::commands::browse::areas::Pane;
use crate::commands::browse::event::{Preview, Wanted};
use crate::commands::browse::state::State;
use anstyle::{AnsiColor, Style};
use hermes_terminal::Line;
use hermes_terminal::layout::{cut, width, wrap};
use hermes_terminal::time::Now;
use hermes_terminal::transcript::{Detail, Transcript};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// A conversation laid out in lines, for one width.
pub(super) struct Laid {
    wanted: Wanted,
    columns: u16,
    lines: Vec<Line>,
    /// The first line of the hit; the number of lines if there is no hit.
    meant: usize,
}

impl Painter {
    pub(super) fn preview(&mut self, state: &State, pane: &Pane, now: &Now, buffer: &mut Buffer) {
        self.rule(state, pane.rule, buffer);
        let Some((wanted, preview)) = state.preview() else { return };
        let messages = match preview {
            Some(Preview::Messages(messages)) if messages.is_empty() => {
                return self.say("Nothing was said yet.", Style::new().dimmed(), pane.text, buffer);
            }
            Some(Preview::Messages(messages)) => messages,
            Some(Preview::Failed(why)) => {
                return self.say(why, Style::new().fg_color(Some(AnsiColor::Red.into())), pane.text, buffer);
            }
            // It arrives in a moment; a text would only flicker.
            None => return,
        };
        let is_laid = self.laid.as_ref().is_some_and(|laid| laid.wanted == *wanted && laid.columns == pane.text.width);
        if !is_laid {
            let mut transcript = Transcript::new(Detail::Folded, true, usize::from(pane.text.width));
            let (mut lines, mut meant): (Vec<Line>, Option<usize>) = (Vec::new(), None);
            for message in messages {
                let is_meant = wanted.place.as_ref().is_some_and(|(_, id)| *id == message.id);
                if is_meant {
                    meant = Some(lines.len());
                }
                // The match may be anywhere in the message, so all of it is shown.
                transcript.show(if is_meant { Detail::Full } else { Detail::Folded });
                lines.extend(transcript.message(message, now));
            }
            let meant = meant.unwrap_or(lines.len());
            self.laid = Some(Laid { wanted: wanted.clone(), columns: pane.text.width, lines, meant });
        }
        let Some(laid) = &self.laid else { return };
        let mark = |text: &str| if self.matcher.0.is_empty() { Vec::new() } else { self.matcher.1.marks(text) };
        let height = usize::from(pane.text.height);
        // The line with the match is a third down, so that the text before it is visible.
        let is_match = |line: &Line| !mark(&line.plain()).is_empty();
        let matching = laid.lines[laid.meant..].iter().position(is_match);
        let first = match wanted.place {
            Some(_) => (laid.meant + matching.unwrap_or(0)).saturating_sub(height / 3),
            None => laid.lines.len(),
        };
        let most = laid.lines.len().saturating_sub(height);
        let first = first.min(most).saturating_add_signed(state.preview_scroll as isize).min(most);
        for (line, y) in laid.lines[first..].iter().zip(pane.text.y..pane.text.bottom()) {
            self.paint.line(buffer, Rect { y, height: 1, ..pane.text }, line, &mark);
        }
    }

    /// Draws the separator: a bar beside the list, or a line with the conversation's name under it.
    fn rule(&self, state: &State, area: Rect, buffer: &mut Buffer) {
        let dim = Style::new().dimmed();
        if area.width == 1 {
            for y in area.top()..area.bottom() {
                self.paint.text(buffer, Rect { y, height: 1, ..area }, &"│".into(), dim, &[]);
            }
            return;
        }
        let columns = usize::from(area.width);
        let name = state.current().map_or("", |row| row.name());
        let name = cut(&name.into(), columns.saturating_sub(6));
        let dashes = columns.saturating_sub(width(&name) + 4);
        let line =
            Line::styled("── ", dim).with(name, Style::new().bold()).with(format!(" {}", "─".repeat(dashes)), dim);
        self.paint.line(buffer, area, &line, &|_| Vec::new());
    }

    /// Draws a text instead of the usual content.
    pub(super) fn say(&self, text: &str, style: Style, area: Rect, buffer: &mut Buffer) {
        for (line, y) in wrap(&text.into(), usize::from(area.width)).iter().zip(area.y..area.bottom()) {
            self.paint.text(buffer, Rect { y, height: 1, ..area }, line, style, &[]);
        }
    }
}
