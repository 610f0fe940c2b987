//! Every VolumeAttachment that there ever was in a world: its name is a digest, and once it is gone nobody else could say what it
//! attached.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::TryStreamExt as _;
use k8s_openapi::api::storage::v1::VolumeAttachment;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client, ResourceExt as _};

use crate::background::Background;

/// What a VolumeAttachment attaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attached {
    /// The Node's name.
    pub node: String,
    /// The PersistentVolume's name; empty for an inline volume.
    pub volume: String,
}

/// All attachments by name, those that are gone included.
#[derive(Debug)]
pub struct Attachments {
    seen: Arc<Mutex<BTreeMap<String, Attached>>>,
    _watch: Background,
}

impl Attachments {
    /// Begins to watch.
    #[must_use]
    pub fn watch(client: Client) -> Self {
        let seen = Arc::new(Mutex::new(BTreeMap::new()));
        let noted = Arc::clone(&seen);
        let events = watcher(Api::<VolumeAttachment>::all(client), watcher::Config::default());
        let watch = Background::spawn(async move {
            let objects = events.default_backoff().touched_objects();
            // The backoff makes a failed watch begin again, so the stream goes on after an error.
            let mut objects = std::pin::pin!(objects);
            loop {
                match objects.try_next().await {
                    Ok(Some(object)) => note(&noted, &object),
                    Ok(None) => return,
                    Err(error) => tracing::debug!("watching VolumeAttachments: {error}"),
                }
            }
        });
        Self { seen, _watch: watch }
    }

    /// What the attachment of this name attached.
    #[must_use]
    pub fn of(&self, name: &str) -> Option<Attached> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }
}

fn note(seen: &Mutex<BTreeMap<String, Attached>>, object: &VolumeAttachment) {
    let volume = object.spec.source.persistent_volume_name.clone().unwrap_or_default();
    let attached = Attached { node: object.spec.node_name.clone(), volume };
    seen.lock().unwrap_or_else(PoisonError::into_inner).insert(object.name_any(), attached);
}
