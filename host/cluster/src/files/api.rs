//! A world of files in the place of an API server: read from what was read, and never written.

use std::future::ready;
use std::sync::Arc;

use crate::api::{Api, ApiError, Reply, Write};
use crate::objects::{Kind, Object};
use crate::records::{ObjectName, Pod};
use crate::store::Cluster;

/// Answers from a store that files fill. What is read there is as fresh as it gets.
#[derive(Clone, Debug)]
pub struct FilesApi {
    cluster: Arc<Cluster>,
}

impl FilesApi {
    /// Answers from this store.
    pub fn new(cluster: Arc<Cluster>) -> Self {
        Self { cluster }
    }
}

impl Api for FilesApi {
    fn get<'a>(&'a self, kind: Kind, name: &'a ObjectName) -> Reply<'a, Option<Object>> {
        Box::pin(ready(Ok(self.cluster.read().object(kind, name))))
    }

    fn pods_on_node<'a>(&'a self, node: &'a str) -> Reply<'a, Vec<Pod>> {
        Box::pin(ready(Ok(self.cluster.read().pods_on_node(node).cloned().collect())))
    }

    fn pods_in_namespace<'a>(&'a self, namespace: &'a str) -> Reply<'a, Vec<Pod>> {
        let index = self.cluster.read();
        let pods = index.pods().filter(|pod| &*pod.identity.name.namespace == namespace);
        Box::pin(ready(Ok(pods.cloned().collect())))
    }

    fn write<'a>(&'a self, _: &'a Write) -> Reply<'a, ()> {
        Box::pin(ready(Err(ApiError::Forbidden("a world of files is never written".to_owned()))))
    }
}
