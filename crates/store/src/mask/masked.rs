//! Strings and JSON values without secrets.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use rusqlite::ToSql;
use rusqlite::types::ToSqlOutput;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{mask, mask_fields, mask_json};

/// A string without secrets. Masking is the only way to create one. Names, ids and digests are stored unmasked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Masked<'t>(Cow<'t, str>);

impl<'t> Masked<'t> {
    pub(super) fn new(masked: Cow<'t, str>) -> Self {
        Self(masked)
    }

    /// Masks a value and returns it as JSON.
    pub fn json(value: &Value) -> Masked<'static> {
        mask_json(value).to_text()
    }

    /// Masks an object and returns it as JSON; none if it is empty.
    pub fn json_of_fields(fields: &Map<String, Value>) -> Option<Masked<'static>> {
        let json = (!fields.is_empty()).then(|| serde_json::to_string(&mask_fields(fields)).ok())?;
        json.map(|json| Masked(Cow::Owned(json)))
    }

    /// Masks a list of strings and returns it as JSON; none if it is empty.
    pub fn json_of_list(texts: &[String]) -> Option<Masked<'static>> {
        let masked: Vec<Masked<'_>> = texts.iter().map(|text| mask(text)).collect();
        let json = (!masked.is_empty()).then(|| serde_json::to_string(&masked).ok())?;
        json.map(|json| Masked(Cow::Owned(json)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_static(self) -> Masked<'static> {
        Masked(Cow::Owned(self.0.into_owned()))
    }

    pub fn into_owned(self) -> String {
        self.0.into_owned()
    }

    /// Returns the original string if it contained no secret.
    pub fn unchanged(self) -> Option<&'t str> {
        match self.0 {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        }
    }
}

/// A JSON value whose strings contain no secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskedValue<'v>(Cow<'v, Value>);

impl<'v> MaskedValue<'v> {
    pub(super) fn new(masked: Cow<'v, Value>) -> Self {
        Self(masked)
    }

    pub fn as_value(&self) -> &Value {
        &self.0
    }

    pub fn to_text(&self) -> Masked<'static> {
        Masked(Cow::Owned(self.0.to_string()))
    }
}

impl Deref for Masked<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Masked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq<str> for Masked<'_> {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Masked<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Masked<'_> {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl ToSql for Masked<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_str().to_sql()
    }
}

/// Masks the string again, because another program may have written the file that the string is read from.
impl<'de> Deserialize<'de> for Masked<'static> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(mask(&String::deserialize(deserializer)?).into_static())
    }
}
