//! The document of `doctor`.

use crate::reports::{Degree, Diagnosis};
use hermes_wire::{doctor as wire, document};

/// Returns everything that was checked.
pub(crate) fn diagnosis(diagnosis: &Diagnosis) -> String {
    let items = diagnosis.items.iter().map(|item| wire::Item {
        name: item.name,
        degree: match item.degree {
            Degree::Fine => "fine",
            Degree::Note => "note",
            Degree::Warning => "warning",
            Degree::Problem => "problem",
        },
        what: &item.what,
        remedy: item.remedy.as_deref(),
        fixable: item.fix.is_some(),
    });
    let mended = diagnosis.fixed.iter().map(|(what, failed)| wire::Mended { what, failed: failed.as_deref() });
    document(&wire::Diagnosis {
        problems: diagnosis.count(Degree::Problem),
        warnings: diagnosis.count(Degree::Warning),
        items: items.collect(),
        mended: mended.collect(),
    })
}
