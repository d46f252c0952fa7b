//! `reasoning_details`: blocks that a provider wants back unchanged, and that arrive in pieces.

use super::value::some_text;
use serde_json::{Map, Value};

/// Members whose pieces are joined; the others are taken from the last piece that has them.
const JOINED: [&str; 4] = ["text", "summary", "data", "signature"];

/// Number of blocks, from the last one back, among which that of a piece is looked for.
const NEAR: usize = 16;

/// The blocks so far.
#[derive(Debug, Default)]
pub(super) struct Details {
    blocks: Vec<Map<String, Value>>,
}

impl Details {
    /// Takes the pieces in the `reasoning_details` of a delta.
    pub(super) fn push(&mut self, pieces: &Value) {
        let Value::Array(pieces) = pieces else { return };
        for piece in pieces.iter().filter_map(Value::as_object) {
            match self.blocks.iter_mut().rev().take(NEAR).find(|block| is_same(block, piece)) {
                Some(block) => extend(block, piece),
                None => self.blocks.push(piece.clone()),
            }
        }
    }

    /// Returns the readable text in the pieces of a delta.
    pub(super) fn text(pieces: &Value) -> String {
        let pieces = pieces.as_array().map(Vec::as_slice).unwrap_or_default();
        pieces.iter().filter_map(|piece| some_text(piece, "text").or_else(|| some_text(piece, "summary"))).collect()
    }

    /// Returns the blocks as a list; `None` if there are none.
    pub(super) fn finish(self) -> Option<Value> {
        let blocks: Vec<Value> = self.blocks.into_iter().map(Value::Object).collect();
        (!blocks.is_empty()).then_some(Value::Array(blocks))
    }
}

/// Returns whether a piece continues a block: only a piece with an index can.
fn is_same(block: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let index = piece.get("index").filter(|index| index.is_number());
    index.is_some() && block.get("index") == index && block.get("type") == piece.get("type")
}

fn extend(block: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (key, value) in piece {
        match (block.get_mut(key), value) {
            (Some(Value::String(before)), Value::String(text)) if JOINED.contains(&key.as_str()) => {
                before.push_str(text)
            }
            (_, Value::Null) => {}
            _ => _ = block.insert(key.clone(), value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_block_are_joined() {
        let mut details = Details::default();
        for pieces in [
            r#"[{"type": "reasoning.text", "text": "a", "index": 0, "format": "f"}]"#,
            r#"[{"type": "reasoning.text", "text": "b", "index": 0, "signature": null}]"#,
            r#"[{"type": "reasoning.text", "signature": "s", "index": 0}, {"type": "reasoning.encrypted", "data": "d", "index": 1}]"#,
            r#"[{"type": "x"}, {"type": "x"}, 5]"#,
            r#""no list""#,
        ] {
            details.push(&serde_json::from_str(pieces).unwrap());
        }
        assert_eq!(
            details.finish().unwrap().to_string(),
            r#"[{"type":"reasoning.text","text":"ab","index":0,"format":"f","signature":"s"},{"type":"reasoning.encrypted","data":"d","index":1},{"type":"x"},{"type":"x"}]"#
        );
        assert_eq!(Details::default().finish(), None);
    }
}
