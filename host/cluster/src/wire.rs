//! The fields that are read, as the API server writes them; each kind turns into its record here and nowhere else.
//!
//! Everything may be missing, or null, that Kubernetes itself lets miss; a field that is there must have the right form.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use zonewarden_contract::types::Label;
use zonewarden_documents::time::Time;

use crate::records::{DEFAULT_NAMESPACE, Identity, ObjectName};

pub(crate) mod node;
pub(crate) mod pod;
pub(crate) mod source;
pub(crate) mod storage;
pub(crate) mod terms;
pub(crate) mod volume;

/// `metadata`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Metadata {
    name: String,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default)]
    uid: Option<String>,
    #[serde(default)]
    resource_version: Option<String>,
    #[serde(default)]
    creation_timestamp: Option<Time>,
    #[serde(default)]
    deletion_timestamp: Option<Time>,
    #[serde(default)]
    labels: Option<BTreeMap<String, String>>,
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
    #[serde(default)]
    owner_references: Option<Vec<OwnerReference>>,
    #[serde(default)]
    managed_fields: Option<Vec<ManagedFields>>,
}

#[derive(Debug, Deserialize)]
struct OwnerReference {
    #[serde(default)]
    uid: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ManagedFields {
    #[serde(default)]
    manager: Option<String>,
    #[serde(default, rename = "fieldsV1")]
    fields: Option<FieldsV1>,
}

#[derive(Debug, Deserialize)]
struct FieldsV1 {
    #[serde(default, rename = "f:metadata")]
    metadata: Option<MetadataFields>,
}

#[derive(Debug, Deserialize)]
struct MetadataFields {
    #[serde(default, rename = "f:labels")]
    labels: Option<BTreeMap<String, IgnoredAny>>,
}

/// The name under which this program writes labels.
const FIELD_MANAGER: &str = "zonewarden";

/// A copy of the whole object as text, which nobody reads here.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

impl Metadata {
    /// Namespace and name; `is_namespaced` objects without a namespace are in `default`, as kubectl has it.
    pub(crate) fn identity(&mut self, is_namespaced: bool) -> Identity {
        let namespace = match self.namespace.take().filter(|namespace| !namespace.is_empty()) {
            Some(namespace) if is_namespaced => namespace,
            None if is_namespaced => DEFAULT_NAMESPACE.to_owned(),
            _ => String::new(),
        };
        Identity {
            name: ObjectName { namespace: Arc::from(namespace), name: Arc::from(std::mem::take(&mut self.name)) },
            uid: self.uid.take().unwrap_or_default(),
            resource_version: self.resource_version.take().unwrap_or_default(),
            created: self.creation_timestamp.map(|Time(time)| time),
            deleted: self.deletion_timestamp.map(|Time(time)| time),
        }
    }

    pub(crate) fn labels(&mut self) -> impl Iterator<Item = (String, String)> {
        self.labels.take().into_iter().flatten()
    }

    pub(crate) fn annotation(&mut self, key: &str) -> Option<String> {
        self.annotations.as_mut()?.remove(key)
    }

    pub(crate) fn annotations(&mut self) -> impl Iterator<Item = (String, String)> {
        self.annotations.take().into_iter().flatten().filter(|(key, _)| key != LAST_APPLIED)
    }

    pub(crate) fn owner_uids(&mut self) -> Vec<String> {
        self.owner_references.take().into_iter().flatten().filter_map(|owner| owner.uid).collect()
    }

    /// The label keys that our own field manager owns.
    pub(crate) fn owned_labels(&mut self) -> Arc<[String]> {
        let ours = self
            .managed_fields
            .take()
            .into_iter()
            .flatten()
            .filter(|fields| fields.manager.as_deref() == Some(FIELD_MANAGER));
        let labels = ours.filter_map(|fields| fields.fields?.metadata?.labels).flatten();
        let mut keys: Vec<_> = labels.filter_map(|(key, _)| Some(key.strip_prefix("f:")?.to_owned())).collect();
        keys.sort();
        keys.dedup();
        keys.into()
    }
}

/// Pairs as the contract has them.
pub(crate) fn pairs(pairs: impl Iterator<Item = (String, String)>) -> Arc<[Label]> {
    pairs.map(|(key, value)| Label { key, value }).collect()
}

/// A text that counts as missing where it is empty.
pub(crate) fn present(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// A quantity's text. YAML and JSON may hold it as a number too.
#[derive(Debug)]
pub(crate) struct Quantity(pub(crate) String);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Quantity;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "a quantity: {}", crate::quantity::FORMS)
            }
            fn visit_str<E>(self, text: &str) -> Result<Quantity, E> {
                Ok(Quantity(text.to_owned()))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Quantity, E> {
                Ok(Quantity(number.to_string()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// A quantity that could not be read: its field and its text. The object is there without it.
pub(crate) struct Unreadable {
    pub(crate) field: &'static str,
    pub(crate) text: String,
}

/// The bytes of a quantity; one that can't be read is noted.
pub(crate) fn bytes_of(
    quantity: Option<Quantity>,
    field: &'static str,
    unreadable: &mut Vec<Unreadable>,
) -> Option<u64> {
    let Quantity(text) = quantity?;
    let bytes = crate::quantity::to_u64(&text);
    if bytes.is_none() {
        unreadable.push(Unreadable { field, text });
    }
    bytes
}
