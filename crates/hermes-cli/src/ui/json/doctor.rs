//! What is wrong and what mends it, for programs.

use super::{SCHEMA, array, boolean};
use crate::reports::{Degree, Diagnosis};
use hermes_session::json::ObjectWriter;

/// Everything that was looked at.
pub(crate) fn diagnosis(diagnosis: &Diagnosis) -> String {
    let items = diagnosis.items.iter().map(|item| {
        let degree = match item.degree {
            Degree::Fine => "fine",
            Degree::Note => "note",
            Degree::Warning => "warning",
            Degree::Problem => "problem",
        };
        let mut object = ObjectWriter::new();
        object
            .text("name", Some(item.name))
            .text("degree", Some(degree))
            .text("what", Some(&item.what))
            .text("remedy", item.remedy.as_deref())
            .raw("fixable", boolean(item.mend.is_some()));
        object.finish()
    });
    let mended = diagnosis.mended.iter().map(|(what, why_not)| {
        let mut object = ObjectWriter::new();
        object.text("what", Some(what)).text("failed", why_not.as_deref());
        object.finish()
    });
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("problems", &diagnosis.count(Degree::Problem).to_string())
        .raw("warnings", &diagnosis.count(Degree::Warning).to_string())
        .raw("items", &array(items))
        .raw("mended", &array(mended));
    object.finish()
}
