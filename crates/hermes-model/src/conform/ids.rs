//! Ids of calls: unique within a request, and in the form that a provider asks for.

use crate::CallIds;
use crate::digest::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// Gives out ids. The same calls get the same ids in every request, so that providers' caches still match.
pub(super) struct Ids {
    form: CallIds,
    used: BTreeSet<String>,
    /// Number of ids that were derived from an id.
    derived: BTreeMap<String, u64>,
}

impl Ids {
    pub(super) const fn new(form: CallIds) -> Self {
        Self { form, used: BTreeSet::new(), derived: BTreeMap::new() }
    }

    /// Returns the id itself if it may be used, otherwise one that is derived from it.
    pub(super) fn assign(&mut self, id: String) -> String {
        if self.form.allows(&id) && self.used.insert(id.clone()) {
            return id;
        }
        let next = self.derived.entry(id.clone()).or_default();
        loop {
            let candidate = derived(self.form, &id, *next);
            *next += 1;
            if self.used.insert(candidate.clone()) {
                return candidate;
            }
        }
    }
}

fn derived(form: CallIds, id: &str, number: u64) -> String {
    let digest = Digest::of([id.as_bytes(), &number.to_le_bytes()]);
    match form {
        CallIds::Any => format!("call_{}", digest.letters(12)),
        CallIds::NineAlphanumeric => digest.letters(9),
    }
}
