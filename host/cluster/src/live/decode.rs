//! Objects as they come from the API server, turned into records while they are decoded.
//!
//! A list or a watch is decoded in one go, and for kube's typed objects one malformed field breaks all of it. So what is
//! decoded here is any JSON value at all: its text is looked at in place, projected, and nothing of it kept. What can't be
//! projected is a [`Reading`] without an object.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use kube::core::{ClusterResourceScope, ObjectMeta, Resource};
use serde::de::{Deserialize, Deserializer, Error};
use serde_json::value::RawValue;
use zonewarden_documents::{Code, Place, Problem, Text};

use super::resources::Resourceful;
use crate::objects::Kind;
use crate::reading::Reading;
use crate::records::ObjectName;

/// The place of problems with objects that come from there.
pub(super) const API_SERVER: &str = "API server";

/// Reads an object's JSON. It never fails: what can't be read says so.
pub(super) fn read(kind: Kind, json: &str) -> Reading {
    let text = Text::new(API_SERVER, json.as_bytes());
    let mut reading = match text.documents().into_iter().next() {
        Some(Ok(document)) if json.trim_start().starts_with('{') => Reading::of(kind, &document, &document.piece),
        Some(Err(problem)) => unnamed(kind, problem),
        Some(Ok(_)) | None => {
            let message = "what came in its place is no object";
            unnamed(kind, Problem::error(Code::UnexpectedDocument, Place::file(API_SERVER), message))
        }
    };
    // Nobody sees the text, so a line and a column in it say nothing.
    for problem in &mut reading.problems {
        problem.place = Place::file(API_SERVER);
    }
    reading
}

fn unnamed(kind: Kind, problem: Problem) -> Reading {
    let problem = problem.in_object(kind.as_str());
    let name = ObjectName::new("", "");
    Reading { kind, name, resource_version: String::new(), object: None, problems: vec![problem] }
}

/// An object of a list or a watch of kube's.
pub(super) struct Decoded<K> {
    pub(super) reading: Reading,
    /// What kube's watcher asks: the resource version, from which it goes on.
    metadata: ObjectMeta,
    kind: PhantomData<fn() -> K>,
}

impl<'de, K: Resourceful> Deserialize<'de> for Decoded<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The type of a watch's event stands before its object, as the API server writes it, so that the text is still there.
        let text = <&RawValue>::deserialize(deserializer).map_err(D::Error::custom)?;
        let reading = read(K::KIND, text.get());
        let present = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let metadata = ObjectMeta {
            name: present(&reading.name.name),
            namespace: present(&reading.name.namespace),
            resource_version: present(&reading.resource_version),
            ..ObjectMeta::default()
        };
        Ok(Self { reading, metadata, kind: PhantomData })
    }
}

impl<K> Clone for Decoded<K> {
    fn clone(&self) -> Self {
        Self { reading: self.reading.clone(), metadata: self.metadata.clone(), kind: PhantomData }
    }
}

impl<K> fmt::Debug for Decoded<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Decoded").field(&self.reading).finish()
    }
}

impl<K: Resourceful> Resource for Decoded<K> {
    type DynamicType = ();
    type Scope = ClusterResourceScope;

    fn kind((): &()) -> Cow<'_, str> {
        K::KIND.as_str().into()
    }

    fn group((): &()) -> Cow<'_, str> {
        K::KIND.group().into()
    }

    fn version((): &()) -> Cow<'_, str> {
        "v1".into()
    }

    fn api_version((): &()) -> Cow<'_, str> {
        K::KIND.api_version().into()
    }

    fn plural((): &()) -> Cow<'_, str> {
        super::resources::plural(K::KIND).into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.metadata
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.metadata
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use kube::core::{ObjectList, WatchEvent};

    use super::*;
    use crate::live::resources::{Node, Pod};

    /// The name, and what is told, of an object that can't be read.
    fn check(kind: Kind, json: &str, name: &str, problem: &str) {
        let reading = read(kind, json);
        assert_eq!((reading.kind, reading.object), (kind, None), "{json}");
        assert_eq!(reading.name.to_string(), name, "{json}");
        let problems: Vec<_> = reading.problems.iter().map(ToString::to_string).collect();
        assert_eq!(problems, [problem], "{json}");
    }

    #[test]
    fn a_malformed_object_of_every_kind_is_named() {
        use Kind::*;
        check(
            PersistentVolume,
            r#"{"metadata":{"name":"v"},"spec":{"csi":"none"}}"#,
            "v",
            "API server: PersistentVolume v: spec.csi: invalid type: string \"none\", expected struct Csi",
        );
        check(
            PersistentVolumeClaim,
            r#"{"metadata":{"name":"c","namespace":"s"},"spec":{"volumeName":5}}"#,
            "s/c",
            "API server: PersistentVolumeClaim s/c: spec.volumeName: invalid type: integer `5`, expected a string",
        );
        check(
            Pod,
            r#"{"metadata":{"name":"p","namespace":"s"},"spec":{"volumes":{}}}"#,
            "s/p",
            "API server: Pod s/p: spec.volumes: invalid type: map, expected a sequence",
        );
        check(
            Node,
            r#"{"metadata":{"name":"n"},"spec":{"taints":"none"}}"#,
            "n",
            "API server: Node n: spec.taints: invalid type: string \"none\", expected a sequence",
        );
        check(
            VolumeAttachment,
            r#"{"metadata":{"name":"a"},"spec":[]}"#,
            "a",
            "API server: VolumeAttachment a: spec: invalid length 0, expected struct Spec with 3 elements",
        );
        check(
            CsiNode,
            r#"{"metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","allocatable":{"count":-1}}]}}"#,
            "n",
            "API server: CSINode n: spec.drivers[0].allocatable.count: invalid value: integer `-1`, expected u32",
        );
        check(
            CsiDriver,
            r#"{"metadata":{"name":"d"},"spec":{"attachRequired":1}}"#,
            "d",
            "API server: CSIDriver d: spec.attachRequired: invalid type: integer `1`, expected a boolean",
        );
        check(
            StorageClass,
            r#"{"metadata":{"name":"s"},"provisioner":5}"#,
            "s",
            "API server: StorageClass s: provisioner: invalid type: integer `5`, expected a string",
        );
        check(
            Lease,
            r#"{"metadata":{"name":"n","namespace":"kube-node-lease"},"spec":{"renewTime":"now"}}"#,
            "kube-node-lease/n",
            "API server: Lease kube-node-lease/n: spec.renewTime: \"now\" is no point in time; \
             accepted is RFC 3339, such as 2026-11-03T09:12:48Z",
        );
    }

    #[test]
    fn metadata_that_is_missing_or_wrong_is_named_as_far_as_it_can_be() {
        check(Kind::Node, "{}", "", "API server: Node: missing field `metadata`");
        check(
            Kind::Node,
            r#"{"metadata":"n"}"#,
            "",
            "API server: Node: metadata: invalid type: string \"n\", expected struct Metadata",
        );
        check(Kind::Node, r#"{"metadata":{}}"#, "", "API server: Node: metadata: missing field `name`");
        check(
            Kind::Node,
            r#"{"metadata":{"name":""}}"#,
            "",
            "API server: Node: metadata.name: is empty; every object has a name",
        );
        check(
            Kind::Pod,
            r#"{"metadata":{"name":"p","namespace":7}}"#,
            "default/p",
            "API server: Pod p: metadata.namespace: invalid type: integer `7`, expected a string",
        );
        for text in ["5", "null", "[]", "\"n\"", "", "kind: Node"] {
            check(Kind::Node, text, "", "API server: Node: what came in its place is no object");
        }
    }

    #[test]
    fn a_list_with_malformed_elements_is_decoded_whole() {
        let list = r#"{"metadata":{"resourceVersion":"9"},"items":[
            {"metadata":{"name":"a","resourceVersion":"1"}}, null, {"metadata":{"name":5}}, [],
            {"metadata":{"name":"b","resourceVersion":"2"},"spec":{"taints":7}}]}"#;
        let list: ObjectList<Decoded<Node>> = serde_json::from_str(list).unwrap();
        let read: Vec<_> = list
            .items
            .iter()
            .map(|item| {
                (item.reading.name.to_string(), item.reading.object.is_some(), item.meta().resource_version.clone())
            })
            .collect();
        let version = |version: &str| Some(version.to_owned());
        assert_eq!(
            read,
            [
                ("a".to_owned(), true, version("1")),
                (String::new(), false, None),
                (String::new(), false, None),
                (String::new(), false, None),
                ("b".to_owned(), false, version("2")),
            ]
        );
    }

    #[test]
    fn an_event_with_a_malformed_object_is_an_event() {
        let event =
            r#"{"type":"MODIFIED","object":{"metadata":{"name":"p","namespace":"s","resourceVersion":"7"},"spec":1}}"#;
        let WatchEvent::Modified(decoded) = serde_json::from_str::<WatchEvent<Decoded<Pod>>>(event).unwrap() else {
            panic!("no modification")
        };
        assert_eq!(decoded.meta().resource_version.as_deref(), Some("7"));
        assert_eq!((decoded.reading.name, decoded.reading.object), (ObjectName::new("s", "p"), None));
    }

    #[test]
    fn a_quantity_that_cant_be_read_costs_itself_only() {
        let volume = r#"{"metadata":{"name":"v"},"spec":{"capacity":{"storage":"much"}}}"#;
        let reading = read(Kind::PersistentVolume, volume);
        assert!(reading.object.is_some());
        let problem = reading.problems[0].to_string();
        assert!(
            problem.starts_with("API server: PersistentVolume v: spec.capacity.storage: \"much\" is no quantity"),
            "{problem}"
        );
    }
}
