//! Stored JSON inside an answer.

use hermes_session::Json;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A stored JSON value, written exactly as stored, including `NaN`, lone surrogates and numbers of any size.
///
/// It is written as bytes, which only [`to_string`](crate::to_string) turns back into JSON; other serialisers would
/// write a list of numbers.
#[derive(Debug, Clone, Copy)]
pub struct Stored<'a>(pub &'a Json);

impl Serialize for Stored<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_str().as_bytes())
    }
}

impl JsonSchema for Stored<'_> {
    fn schema_name() -> Cow<'static, str> {
        "Stored".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        true.into()
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    #[test]
    fn stored_json_is_written_as_it_is() {
        #[derive(Serialize)]
        struct Row<'a> {
            model_config: Option<Stored<'a>>,
        }
        let text = r#"{"a": NaN, "b": "\ud800", "c": 123456789012345678901234567890}"#;
        let json = Json::parse(text).unwrap();
        let row = document(&Row { model_config: Some(Stored(&json)) });
        assert_eq!(row, format!(r#"{{"schema": 1, "model_config": {text}}}"#));
        assert_eq!(document(&Row { model_config: None }), r#"{"schema": 1, "model_config": null}"#);
    }
}
