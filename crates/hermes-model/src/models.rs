//! A server's list of models.

use crate::chat::{parsed, some_text};
use crate::{ErrorKind, ModelError, Prices};
use serde_json::Value;

/// A model of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelInfo {
    /// The name that requests use.
    pub id: String,
    /// The context in tokens, if the server says it.
    pub window: Option<u64>,
    /// The prices, if the server says them.
    pub prices: Option<Prices>,
}

/// Fields that hold the context, at the top or within `meta`. The one that the server really runs with comes first.
const WINDOWS: [&str; 10] = [
    "loaded_context_length",
    "max_model_len",
    "n_ctx",
    "context_length",
    "context_window",
    "max_context_length",
    "max_input_tokens",
    "max_context_window",
    "inputTokenLimit",
    "n_ctx_train",
];

/// Reads the answer to `/models`. Entries without a name are left out.
///
/// # Errors
/// If it is not a list of models.
pub fn read_models(body: &[u8]) -> Result<Vec<ModelInfo>, ModelError> {
    let value = parsed(body).unwrap_or_default();
    let list = [Some(&value), value.get("data"), value.get("models")].into_iter().flatten().find_map(Value::as_array);
    let Some(list) = list else {
        return Err(ModelError::new(ErrorKind::GarbledStream, "the answer is not a list of models"));
    };
    Ok(list.iter().filter_map(info).collect())
}

fn info(model: &Value) -> Option<ModelInfo> {
    let id = some_text(model, "id").or_else(|| some_text(model, "name"))?;
    let number = |key: &str| {
        let places = [Some(model), model.get("meta"), model.get("top_provider")];
        places.into_iter().flatten().find_map(|place| place.get(key)?.as_u64().filter(|tokens| *tokens > 0))
    };
    let window = WINDOWS.iter().find_map(|key| number(key));
    Some(ModelInfo { id: id.to_owned(), window, prices: model.get("pricing").and_then(prices) })
}

/// Reads prices in USD per token, as OpenRouter lists them. A negative one stands for a price that varies.
fn prices(pricing: &Value) -> Option<Prices> {
    let price = |key: &str| {
        let per_token: f64 = match pricing.get(key)? {
            Value::String(text) => text.parse().ok()?,
            number => number.as_f64()?,
        };
        Some(per_token * 1e6).filter(|price| price.is_finite() && *price >= 0.0)
    };
    Some(Prices {
        input: price("prompt")?,
        output: price("completion")?,
        cache_read: price("input_cache_read"),
        cache_write: price("input_cache_write"),
    })
}

/// Returns the entry of a model: by its name, or the only one that a server has.
pub fn find_model<'a>(list: &'a [ModelInfo], name: &str) -> Option<&'a ModelInfo> {
    let named = list.iter().find(|model| model.id == name);
    named.or_else(|| list.first().filter(|_| list.len() == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_context_is_found_in_every_form() {
        for (entry, window) in [
            (r#"{"id": "m", "context_length": 200000, "top_provider": {"context_length": 100000}}"#, Some(200_000)),
            (r#"{"id": "m", "max_model_len": 4096}"#, Some(4096)),
            (r#"{"id": "m", "meta": {"n_ctx_train": 131072, "n_ctx": 8192}}"#, Some(8192)),
            (r#"{"id": "m", "max_context_length": 32768, "loaded_context_length": 4096}"#, Some(4096)),
            (r#"{"id": "m", "max_model_len": 0}"#, None),
            (r#"{"id": "m"}"#, None),
        ] {
            let list = read_models(format!("{{\"data\": [{entry}]}}").as_bytes()).unwrap();
            assert_eq!(list[0].window, window, "{entry}");
        }
    }

    #[test]
    fn prices_are_per_million() {
        let body =
            br#"[{"id": "a", "pricing": {"prompt": "0.000002", "completion": "0.00001", "input_cache_read": 5e-7}},
            {"id": "b", "pricing": {"prompt": "-1", "completion": "-1"}}, {"id": 5}]"#;
        let list = read_models(body).unwrap();
        let prices = list[0].prices.unwrap();
        assert!(
            (prices.input - 2.0).abs() < 1e-9 && (prices.output - 10.0).abs() < 1e-9 && prices.cache_write.is_none()
        );
        assert_eq!((list.len(), list[1].prices), (2, None));
        assert_eq!(find_model(&list, "b").map(|model| model.id.as_str()), Some("b"));
        assert_eq!(find_model(&list, "c"), None);
        assert_eq!(find_model(&list[..1], "alias").map(|model| model.id.as_str()), Some("a"));
    }

    #[test]
    fn what_is_not_a_list_is_an_error() {
        for body in ["", "<html>", "{}", r#"{"data": 5}"#] {
            assert!(read_models(body.as_bytes()).is_err(), "{body}");
        }
    }
}
