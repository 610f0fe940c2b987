//! Where the kinds are on an API server.

use crate::objects::Kind;
use crate::records::ObjectName;

/// The name of a kind's resource in a path.
pub(super) fn plural(kind: Kind) -> &'static str {
    match kind {
        Kind::PersistentVolume => "persistentvolumes",
        Kind::PersistentVolumeClaim => "persistentvolumeclaims",
        Kind::Pod => "pods",
        Kind::Node => "nodes",
        Kind::VolumeAttachment => "volumeattachments",
        Kind::CsiNode => "csinodes",
        Kind::CsiDriver => "csidrivers",
        Kind::StorageClass => "storageclasses",
        Kind::Lease => "leases",
    }
}

/// The path of all objects of a kind, in a namespace or in all of them.
pub(super) fn collection(kind: Kind, namespace: &str) -> String {
    let root = if kind.group().is_empty() { "/api" } else { "/apis" };
    let (version, plural) = (kind.api_version(), plural(kind));
    if namespace.is_empty() {
        format!("{root}/{version}/{plural}")
    } else {
        format!("{root}/{version}/namespaces/{namespace}/{plural}")
    }
}

/// The path of one object.
pub(super) fn object(kind: Kind, name: &ObjectName) -> String {
    format!("{}/{}", collection(kind, &name.namespace), name.name)
}

/// A kind as a type, for what kube wants to know of it when it is compiled.
pub(super) trait Resourceful: Send + Sync + 'static {
    const KIND: Kind;
}

macro_rules! types {
    ($($name:ident),*) => {$(
        pub(super) enum $name {}
        impl Resourceful for $name {
            const KIND: Kind = Kind::$name;
        }
    )*};
}

types! { PersistentVolume, PersistentVolumeClaim, Pod, Node, VolumeAttachment, CsiNode, CsiDriver, StorageClass }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_api_server() {
        let claim = ObjectName::new("shop", "data-0");
        assert_eq!(collection(Kind::Pod, ""), "/api/v1/pods");
        assert_eq!(collection(Kind::Pod, "shop"), "/api/v1/namespaces/shop/pods");
        assert_eq!(collection(Kind::CsiNode, ""), "/apis/storage.k8s.io/v1/csinodes");
        assert_eq!(
            object(Kind::PersistentVolumeClaim, &claim),
            "/api/v1/namespaces/shop/persistentvolumeclaims/data-0"
        );
        assert_eq!(
            object(Kind::Lease, &ObjectName::new("kube-node-lease", "n1")),
            "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1"
        );
        assert_eq!(object(Kind::Node, &ObjectName::new("", "n1")), "/api/v1/nodes/n1");
    }
}
