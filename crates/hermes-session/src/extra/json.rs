//! Values of columns as JSON.
//!
//! Numbers and texts stand for themselves; a number with a point or an exponent is a double. Bytes are
//! `{"base64": "…"}`. Doubles that JSON has no number for are `{"real": "inf"}`.

use super::{Extra, Scalar};
use crate::export::base64;
use crate::json::{ObjectWriter, parts, split_member};
use crate::{Invalid, Json, JsonKind};

fn wrong(why: &'static str) -> Invalid {
    Invalid::new("column", why, "give a number, a text or an object as an export has it")
}

impl Scalar {
    /// Writes the value as a member of an object.
    pub(crate) fn write(&self, column: &str, object: &mut ObjectWriter) {
        match self {
            Self::Null => object.raw(column, "null"),
            Self::Integer(number) => object.integer(column, Some(*number)),
            Self::Real(number) if number.is_finite() => object.double(column, Some(*number)),
            Self::Real(number) => object.raw(column, &format!("{{\"real\": {}}}", Json::string(&number.to_string()))),
            Self::Text(text) => object.text(column, Some(text)),
            Self::Bytes(bytes) => {
                object.raw(column, &format!("{{\"base64\": {}}}", Json::string(&base64::encode(bytes))))
            }
        };
    }

    /// Reads a value from JSON in its canonical spelling.
    ///
    /// # Errors
    /// If the value is a list, another object, or a text with a lone surrogate.
    pub(crate) fn read(spelled: &str) -> Result<Self, Invalid> {
        let json = Json::of_spelled(spelled);
        match json.kind() {
            JsonKind::Null => Ok(Self::Null),
            JsonKind::Bool => Ok(Self::Integer(i64::from(spelled == "true"))),
            JsonKind::String => json.to_plain_string().map(Self::Text).ok_or_else(|| wrong("holds a lone surrogate")),
            JsonKind::Number => match spelled.parse::<i64>() {
                Ok(number) => Ok(Self::Integer(number)),
                Err(_) => spelled.parse::<f64>().map(Self::Real).map_err(|_| wrong("is not a number")),
            },
            JsonKind::Object => {
                let member = |key: &str| match parts(spelled)[..] {
                    [member] => {
                        let value = member.strip_prefix(&format!("\"{key}\": "))?;
                        Json::of_spelled(value).to_plain_string()
                    }
                    _ => None,
                };
                let bytes = member("base64").and_then(|text| base64::decode(&text)).map(Self::Bytes);
                let real = || member("real").and_then(|text| text.parse().ok()).map(Self::Real);
                bytes.or_else(real).ok_or_else(|| wrong("is an object"))
            }
            JsonKind::Array => Err(wrong("is a list")),
        }
    }
}

impl Extra {
    /// Returns the values as one JSON object.
    pub fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        self.iter().for_each(|(column, value)| value.write(column, &mut object));
        object.finish()
    }

    /// Reads the output of [`Extra::to_json`].
    ///
    /// # Errors
    /// If the text is not an object of such values.
    pub fn from_json(text: &str) -> Result<Self, Invalid> {
        let json = Json::parse(text)?;
        if json.kind() != JsonKind::Object {
            return Err(wrong("is not an object"));
        }
        let mut values = Self::new();
        for member in parts(json.as_str()) {
            let (key, value) = split_member(member);
            let name =
                Json::of_spelled(key).to_plain_string().ok_or_else(|| wrong("has a name with a lone surrogate"))?;
            values.0.insert(name, Scalar::read(value)?);
        }
        Ok(values)
    }
}
