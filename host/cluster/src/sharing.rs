//! What many objects have in common, kept once.
//!
//! A phase, a class, the annotations that a provisioner sets or the zone of a node stand in thousands of objects. Whoever takes
//! objects in passes them through a [`Common`], so that they share such a text or list with those that came before.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Arc;

use zonewarden_contract::types::Label;

use crate::objects::Object;
use crate::records::{
    CsiDriver, CsiNode, Lease, Node, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment,
};

/// So many texts or lists are kept before those are looked for that no object has any more.
const FIRST_SWEEP: usize = 1_024;

/// The texts and lists of the objects that passed through.
#[derive(Debug, Default)]
pub(crate) struct Common {
    texts: Pool<str>,
    lists: Pool<[String]>,
    labels: Pool<[Label]>,
}

impl Common {
    /// Lets an object share what others have too.
    pub(crate) fn share(&mut self, object: &mut Object) {
        match object {
            Object::PersistentVolume(object) => object.share(self),
            Object::PersistentVolumeClaim(object) => object.share(self),
            Object::Pod(object) => object.share(self),
            Object::Node(object) => object.share(self),
            Object::VolumeAttachment(object) => object.share(self),
            Object::CsiNode(object) => object.share(self),
            Object::CsiDriver(CsiDriver { identity, .. })
            | Object::StorageClass(StorageClass { identity, .. })
            | Object::Lease(Lease { identity, .. }) => self.texts.share(&mut identity.name.namespace),
        }
    }
}

/// Each text, or list, once. What nobody else holds any more is let go of before the pool would grow to twice its size.
#[derive(Debug)]
struct Pool<T: ?Sized> {
    known: HashSet<Arc<T>>,
    sweep_at: usize,
}

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Self { known: HashSet::new(), sweep_at: FIRST_SWEEP }
    }
}

impl<T: Eq + Hash + ?Sized> Pool<T> {
    /// Puts the one that is known in the place of an equal one.
    fn share(&mut self, one: &mut Arc<T>) {
        if let Some(known) = self.known.get(&**one) {
            *one = Arc::clone(known);
            return;
        }
        if self.known.len() >= self.sweep_at {
            self.known.retain(|known| Arc::strong_count(known) > 1);
            self.sweep_at = FIRST_SWEEP.max(2 * self.known.len());
        }
        self.known.insert(Arc::clone(one));
    }
}

/// A record with something in common with others.
trait Shares {
    fn share(&mut self, common: &mut Common);
}

impl Shares for PersistentVolume {
    fn share(&mut self, common: &mut Common) {
        let Common { texts, lists, labels } = common;
        texts.share(&mut self.identity.name.namespace);
        if let Some(claim) = &mut self.claim {
            texts.share(&mut claim.name.namespace);
        }
        for text in [&mut self.phase, &mut self.volume_mode, &mut self.storage_class] {
            texts.share(text);
        }
        for list in [&mut self.owned_labels, &mut self.access_modes] {
            lists.share(list);
        }
        for list in [&mut self.labels, &mut self.annotations] {
            labels.share(list);
        }
    }
}

impl Shares for PersistentVolumeClaim {
    fn share(&mut self, common: &mut Common) {
        let Common { texts, lists, .. } = common;
        for text in [&mut self.identity.name.namespace, &mut self.phase, &mut self.volume_mode] {
            texts.share(text);
        }
        if let Some(class) = &mut self.storage_class {
            texts.share(class);
        }
        lists.share(&mut self.access_modes);
    }
}

impl Shares for Pod {
    fn share(&mut self, Common { texts, .. }: &mut Common) {
        texts.share(&mut self.identity.name.namespace);
        for volume in &mut self.volumes {
            texts.share(&mut volume.name);
        }
    }
}

impl Shares for Node {
    fn share(&mut self, Common { texts, .. }: &mut Common) {
        texts.share(&mut self.identity.name.namespace);
        for label in &mut self.labels {
            for text in [&mut label.key, &mut label.value] {
                texts.share(text);
            }
        }
    }
}

impl Shares for VolumeAttachment {
    fn share(&mut self, Common { texts, .. }: &mut Common) {
        for text in [&mut self.identity.name.namespace, &mut self.attacher] {
            texts.share(text);
        }
        if let Some(device) = &mut self.device {
            texts.share(device);
        }
    }
}

impl Shares for CsiNode {
    fn share(&mut self, Common { texts, lists, .. }: &mut Common) {
        texts.share(&mut self.identity.name.namespace);
        lists.share(&mut self.migrated_plugins);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;
    use crate::objects::Kind;
    use crate::records::ObjectName;

    fn volume(name: &str, class: &str) -> PersistentVolume {
        let json = format!(
            r#"{{"kind":"PersistentVolume","metadata":{{"name":"{name}","labels":{{"zone":"a"}}}},
                 "spec":{{"storageClassName":"{class}","accessModes":["ReadWriteOnce"]}},"status":{{"phase":"Bound"}}}}"#
        );
        let loaded = crate::files::parse(json.as_bytes(), "f");
        assert_eq!(loaded.problems, []);
        loaded.index.volume(name).unwrap().clone()
    }

    fn shared(common: &mut Common, volume: PersistentVolume) -> PersistentVolume {
        let mut object = Object::PersistentVolume(volume);
        common.share(&mut object);
        let Object::PersistentVolume(volume) = object else { panic!("another kind: {}", object.kind()) };
        volume
    }

    #[test]
    fn equal_texts_and_lists_are_one_and_an_object_stays_what_it_is() {
        let mut common = Common::default();
        let one = shared(&mut common, volume("one", "gp3"));
        let other = shared(&mut common, volume("other", "io2"));
        assert!(Arc::ptr_eq(&one.phase, &other.phase));
        assert!(Arc::ptr_eq(&one.labels, &other.labels));
        assert!(Arc::ptr_eq(&one.access_modes, &other.access_modes));
        assert!(!Arc::ptr_eq(&one.storage_class, &other.storage_class));
        assert_eq!((one, other), (volume("one", "gp3"), volume("other", "io2")));
    }

    #[test]
    fn what_no_object_has_any_more_is_let_go_of() {
        let mut common = Common::default();
        let kept = shared(&mut common, volume("kept", "kept"));
        for number in 0..10 * FIRST_SWEEP {
            shared(&mut common, volume("v", &format!("class-{number}")));
        }
        assert!(common.texts.known.len() <= FIRST_SWEEP, "{}", common.texts.known.len());
        let again = shared(&mut common, volume("again", "kept"));
        assert!(Arc::ptr_eq(&kept.storage_class, &again.storage_class));
    }

    #[test]
    fn a_store_shares_what_comes_in_a_list_and_what_comes_alone() {
        let cluster = crate::Cluster::new();
        cluster.reset(Kind::PersistentVolume, ["one", "two"].map(|name| Object::PersistentVolume(volume(name, "gp3"))));
        for name in ["three", "four"] {
            cluster.apply(Object::PersistentVolume(volume(name, "gp3")));
        }
        let index = cluster.read();
        let class = |name: &str| &index.volume(name).unwrap().storage_class;
        assert!(Arc::ptr_eq(class("one"), class("two")));
        assert!(Arc::ptr_eq(class("three"), class("four")));
        let names = index.names(Kind::PersistentVolume);
        assert_eq!(names, ["four", "one", "three", "two"].map(|name| ObjectName::new("", name)));
    }
}
