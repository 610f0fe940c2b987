//! Reads a Kubernetes object's JSON field by field, so that what is malformed can be named.

use serde_json::Value;
use zonewarden_bindings::types::{Label, Requirement, SelectorOperator, SelectorTerm};

/// A field of another type than Kubernetes gives it, as one sentence.
#[derive(Debug)]
pub(super) struct Malformed(pub(super) String);

/// A field of an object, or the object itself. One that is absent is `null`, as Kubernetes has it.
pub(super) struct Field<'a> {
    value: &'a Value,
    /// Where it stands: `spec.volumes[0]`.
    pub(super) path: String,
}

impl<'a> Field<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    /// The same value as an object of its own, whose fields' paths begin here.
    pub(super) fn root_of(field: &Self) -> Self {
        Self::root(field.value)
    }

    pub(super) fn is_absent(&self) -> bool {
        self.value.is_null()
    }

    /// A field of this object; of an absent object, an absent one.
    pub(super) fn get(&self, key: &str) -> Result<Self, Malformed> {
        let path = if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        match self.value {
            Value::Object(fields) => Ok(Self { value: fields.get(key).unwrap_or(&Value::Null), path }),
            Value::Null => Ok(Self { value: &Value::Null, path }),
            _ => Err(self.malformed("an object")),
        }
    }

    /// A field some levels down.
    pub(super) fn at(&self, keys: &[&str]) -> Result<Self, Malformed> {
        let mut field = Self { value: self.value, path: self.path.clone() };
        for key in keys {
            field = field.get(key)?;
        }
        Ok(field)
    }

    /// The names of this object's fields that are not absent, in ascending order: whether the parser keeps the text's order is
    /// not ours to say, since any crate of a build can turn that on, and it may not change an answer.
    pub(super) fn keys(&self) -> Result<Vec<&'a str>, Malformed> {
        match self.value {
            Value::Object(fields) => {
                let present = fields.iter().filter(|(_, value)| !value.is_null());
                let mut keys: Vec<&str> = present.map(|(key, _)| key.as_str()).collect();
                keys.sort_unstable();
                Ok(keys)
            }
            Value::Null => Ok(Vec::new()),
            _ => Err(self.malformed("an object")),
        }
    }

    /// The text; empty where there is none, as Kubernetes reads it.
    pub(super) fn text(&self) -> Result<&'a str, Malformed> {
        match self.value {
            Value::String(text) => Ok(text),
            Value::Null => Ok(""),
            _ => Err(self.malformed("a text")),
        }
    }

    /// The elements of the list; none where there is no list.
    pub(super) fn list(&self) -> Result<Vec<Self>, Malformed> {
        match self.value {
            Value::Array(elements) => {
                let element = |(position, value)| Self { value, path: format!("{}[{position}]", self.path) };
                Ok(elements.iter().enumerate().map(element).collect())
            }
            Value::Null => Ok(Vec::new()),
            _ => Err(self.malformed("a list")),
        }
    }

    /// The texts of the list.
    pub(super) fn texts(&self) -> Result<Vec<String>, Malformed> {
        self.list()?.iter().map(|element| element.text().map(str::to_owned)).collect()
    }

    /// Labels or annotations, in ascending order of their keys.
    pub(super) fn pairs(&self) -> Result<Vec<Label>, Malformed> {
        let pair = |key: &str| Ok(Label { key: key.to_owned(), value: self.get(key)?.text()?.to_owned() });
        self.keys()?.into_iter().map(pair).collect()
    }

    /// `nodeSelectorTerms`.
    pub(super) fn terms(&self) -> Result<Vec<SelectorTerm>, Malformed> {
        self.list()?.iter().map(Self::term).collect()
    }

    fn term(&self) -> Result<SelectorTerm, Malformed> {
        let requirements = self.get("matchExpressions")?.list()?;
        let requirements = requirements.iter().map(Self::requirement).collect::<Result<_, _>>()?;
        Ok(SelectorTerm { requirements, has_match_fields: !self.get("matchFields")?.list()?.is_empty() })
    }

    fn requirement(&self) -> Result<Requirement, Malformed> {
        let operator = match self.get("operator")?.text()? {
            "In" => SelectorOperator::In,
            "NotIn" => SelectorOperator::NotIn,
            "Exists" => SelectorOperator::Exists,
            "DoesNotExist" => SelectorOperator::DoesNotExist,
            "Gt" => SelectorOperator::Gt,
            "Lt" => SelectorOperator::Lt,
            other => SelectorOperator::Other(other.to_owned()),
        };
        Ok(Requirement { key: self.get("key")?.text()?.to_owned(), operator, values: self.get("values")?.texts()? })
    }

    fn malformed(&self, wanted: &str) -> Malformed {
        let path = if self.path.is_empty() { "the JSON" } else { &self.path };
        Malformed(format!("{path} is not {wanted}"))
    }
}
