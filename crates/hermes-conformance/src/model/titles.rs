//! Titles: each belongs to one session, and numbers are allocated in order.

use super::State;
use hermes_session::live::Kinds;
use hermes_session::title::split_number;
use hermes_session::{Conflict, NewChild, Session, SessionId, StoreError, Title, Titled};

impl State {
    pub(super) fn set_title(&mut self, id: &SessionId, title: Option<&Title>) -> Result<(), StoreError> {
        self.existing(id)?;
        if let Some(title) = title {
            self.title_is_free(title, Some(id))?;
        }
        self.existing_mut(id)?.title = title.map(|title| title.as_str().to_owned());
        self.note(id, Kinds::SESSION);
        Ok(())
    }

    pub(super) fn allocate_title(&mut self, id: &SessionId, base: &Title) -> Result<Title, StoreError> {
        self.existing(id)?;
        let others = self.sessions.values().filter(|session| session.id != *id);
        let title = base.next(others.filter_map(|session| session.title.as_deref()));
        self.set_title(id, Some(&title))?;
        Ok(title)
    }

    /// Returns the title of a child: the requested one, or the next in its parent's lineage.
    pub(super) fn child_title(&self, parent: &Session, child: &NewChild) -> Result<Option<Title>, StoreError> {
        let inherited = || parent.title.as_deref().and_then(|title| Title::clean(title).ok().flatten());
        let taken = || self.sessions.values().filter_map(|session| session.title.as_deref());
        let title = child.title.clone().or_else(|| Some(inherited()?.next(taken())));
        if let Some(title) = &title {
            self.title_is_free(title, None)?;
        }
        Ok(title)
    }

    pub(super) fn titled(&self, title: &str) -> Vec<Titled> {
        let in_lineage =
            |other: &str| other == title || matches!(split_number(other), (base, Some(_)) if base == title);
        let found = self.sessions.values().filter_map(|session| {
            let title = session.title.clone().filter(|other| in_lineage(other))?;
            Some(Titled { id: session.id.clone(), title, started_at: session.started_at })
        });
        found.collect()
    }

    fn title_is_free(&self, title: &Title, for_session: Option<&SessionId>) -> Result<(), StoreError> {
        let holder = self
            .sessions
            .values()
            .find(|other| Some(&other.id) != for_session && other.title.as_deref() == Some(title.as_str()));
        match holder {
            Some(holder) => {
                Err(Conflict::TitleTaken { title: title.as_str().to_owned(), holder: holder.id.clone() }.into())
            }
            None => Ok(()),
        }
    }
}
