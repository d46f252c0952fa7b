//! Topics of chats.

use super::State;
use hermes_session::topics::{BindingPlace, judge_binding, judge_mode};
use hermes_session::{Topics, TopicsImported};

impl State {
    pub(super) fn topics(&self) -> Topics {
        Topics {
            modes: self.modes.values().cloned().collect(),
            bindings: self.bindings.values().cloned().collect(),
            unreadable: Vec::new(),
        }
    }

    pub(super) fn import_topics(&mut self, topics: &Topics) -> TopicsImported {
        let mut imported = TopicsImported::default();
        for mode in &topics.modes {
            if imported.count_mode(mode, judge_mode(mode, self.modes.get(&mode.chat_id))) {
                self.modes.insert(mode.chat_id.clone(), mode.clone());
            }
        }
        for binding in &topics.bindings {
            let key = (binding.chat_id.clone(), binding.thread_id.clone());
            let bound = self.bindings.values().find(|other| other.session_id == binding.session_id);
            let place = BindingPlace {
                there: self.bindings.get(&key).cloned(),
                has_session: self.sessions.contains_key(&binding.session_id),
                bound_to: bound.map(|other| (other.chat_id.clone(), other.thread_id.clone())),
            };
            if imported.count_binding(binding, judge_binding(binding, &place)) {
                self.bindings.insert(key, binding.clone());
            }
        }
        imported
    }
}
