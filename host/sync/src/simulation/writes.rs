//! The API server: what is read afresh, what is written, and whether that was right.

use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use zonewarden_cluster::api::Reply;
use zonewarden_cluster::records::{Node, Pod, Taint, VolumeAttachment};
use zonewarden_cluster::{Api, ApiError, Kind, Object, ObjectName, Precondition, Write};

use super::runs::LEAKED;
use super::world::{Machine, World, volume_of};
use crate::observations::OUT_OF_SERVICE;

/// The world, shared between the run and the host under test.
#[derive(Clone)]
pub(super) struct Shared(pub(super) Arc<Mutex<World>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, World> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer<T: Send + 'static>(&self, answer: impl FnOnce(&mut World) -> Result<T, ApiError>) -> Reply<'_, T> {
        let mut world = self.lock();
        let answer = if world.api_away { Err(ApiError::Unavailable("away".to_owned())) } else { answer(&mut world) };
        Box::pin(ready(answer))
    }
}

impl Api for Shared {
    fn get<'a>(&'a self, kind: Kind, name: &'a ObjectName) -> Reply<'a, Option<Object>> {
        self.answer(|world| Ok(find(world, kind, name)))
    }

    fn pods_on_node<'a>(&'a self, node: &'a str) -> Reply<'a, Vec<Pod>> {
        self.answer(|world| Ok(world.truth.pods_on_node(node).cloned().collect()))
    }

    fn pods_in_namespace<'a>(&'a self, namespace: &'a str) -> Reply<'a, Vec<Pod>> {
        let is_there = |pod: &&Pod| *pod.identity.name.namespace == *namespace;
        self.answer(|world| Ok(world.truth.pods().filter(is_there).cloned().collect()))
    }

    fn write<'a>(&'a self, write: &'a Write) -> Reply<'a, ()> {
        self.answer(|world| world.write(write))
    }
}

fn find(world: &World, kind: Kind, name: &ObjectName) -> Option<Object> {
    let truth = &world.truth;
    match kind {
        Kind::Node => truth.node(&name.name).cloned().map(Object::Node),
        Kind::CsiNode => truth.csi_node(&name.name).cloned().map(Object::CsiNode),
        Kind::VolumeAttachment => truth.attachment(&name.name).cloned().map(Object::VolumeAttachment),
        Kind::PersistentVolume => truth.volume(&name.name).cloned().map(Object::PersistentVolume),
        Kind::PersistentVolumeClaim => truth.claim(name).cloned().map(Object::PersistentVolumeClaim),
        Kind::Pod => truth.pod(name).cloned().map(Object::Pod),
        Kind::Lease => truth.lease(&name.name).cloned().map(Object::Lease),
        Kind::CsiDriver | Kind::StorageClass => None,
    }
}

impl World {
    fn write(&mut self, write: &Write) -> Result<(), ApiError> {
        match write {
            Write::Event(_) | Write::SetLabels { .. } | Write::SetAffinity { .. } => Ok(()),
            Write::SetTaints { node, precondition, taints, annotation } => {
                self.hold(Kind::Node, node, precondition)?;
                let mut object = self.node(&node.name).expect("it was just there");
                self.judge_taint(&object, taints);
                object.taints.clone_from(taints);
                object.taint_annotation.clone_from(annotation);
                self.apply(Object::Node(object));
                Ok(())
            }
            Write::DeleteAttachment { attachment, precondition } => {
                self.hold(Kind::VolumeAttachment, attachment, precondition)?;
                let object = self.truth.attachment(&attachment.name).cloned().expect("it was just there");
                self.judge_deletion(&object);
                self.finish_deletion(&object);
                Ok(())
            }
            Write::DeletePod { pod, precondition } => {
                self.hold(Kind::Pod, pod, precondition)?;
                let object = self.truth.pod(pod).cloned().expect("it was just there");
                self.judge_pod(&object);
                self.remove_pod(pod, None);
                Ok(())
            }
        }
    }

    fn hold(&self, kind: Kind, name: &ObjectName, precondition: &Precondition) -> Result<(), ApiError> {
        let found = find(self, kind, name).ok_or_else(|| ApiError::Conflict("gone".to_owned()))?;
        if Precondition::from(found.identity()) == *precondition {
            Ok(())
        } else {
            Err(ApiError::Conflict("moved".to_owned()))
        }
    }

    /// Whether a machine that lives has the Node's name, or runs a container of a pod that is bound to it.
    fn is_alive(&self, node: &str) -> bool {
        let current = self.machine_of(node).is_some_and(|machine| self.machines[machine].lives());
        current || self.truth.pods_on_node(node).any(|pod| self.runs(pod))
    }

    fn judge_taint(&mut self, before: &Node, after: &[Taint]) {
        let node = before.identity.name.name.to_string();
        let count = |taints: &[Taint]| taints.iter().filter(|taint| taint.key == OUT_OF_SERVICE).count();
        let lease_renewed = self.machine_of(&node).is_some_and(|machine| self.machines[machine].renews());
        let ours = before.taint_annotation.as_ref() == Some(&before.identity.uid);
        match (count(&before.taints), count(after)) {
            (1, 0) if !ours => self.wrong(&format!("the taint of somebody else was taken off {node}")),
            (1, 0) if !lease_renewed => self.wrong(&format!("the taint was taken off {node}, whose kubelet is silent")),
            (1, 0) => self.right("taint off"),
            (0, 1) if self.is_alive(&node) => self.wrong(&format!("the Node {node} of a living machine was tainted")),
            (0, 1) => self.right("taint on"),
            (before, after) => self.wrong(&format!("{node} had {before} taints and has {after}")),
        }
    }

    fn judge_pod(&mut self, pod: &Pod) {
        let node = pod.node.as_ref().map_or("", |node| &node.node_name).to_owned();
        let object = self.node(&node);
        let tainted = object.is_none_or(|node| node.taints.iter().any(|taint| taint.key == OUT_OF_SERVICE));
        if self.runs(pod) || self.is_alive(&node) {
            self.wrong(&format!("the pod {} on {node} was deleted and its machine lives", pod.identity.name));
        } else if !tainted {
            self.wrong(&format!("the pod {} was deleted and can come back to {node}", pod.identity.name));
        } else {
            self.right("pod deleted");
        }
    }

    fn judge_deletion(&mut self, attachment: &VolumeAttachment) {
        let (name, node) = (attachment.identity.name.to_string(), attachment.node.node_name.clone());
        let number = Self::attached_by(&attachment.identity.name);
        let users: Vec<Pod> =
            self.pods().into_iter().filter(|pod| Self::number_of(&pod.identity.name) == number).collect();
        let machine = self.machines.iter().find(|machine| Some(&machine.instance) == attachment.node_id.as_ref());
        let lives = machine.is_some_and(Machine::lives);
        let holder = self.ec2.holders[&volume_of(number)].clone();
        let held = self.machines.iter().any(|machine| Some(&machine.instance) == holder.as_ref() && machine.lives());
        let listed = self
            .node(&node)
            .is_some_and(|node| node.volumes_in_use.iter().any(|name| name.ends_with(&volume_of(number))));
        let name_lives = self.machine_of(&node).is_some_and(|machine| self.machines[machine].lives());
        let unused = self.second - self.used.get(&number).copied().unwrap_or_default();
        if users.iter().any(|pod| pod.node.as_ref() == Some(&attachment.node) && self.runs(pod)) {
            self.wrong(&format!("{name} was deleted and a container uses the volume"));
        } else if lives && users.is_empty() && unused >= LEAKED && !listed {
            self.right("leaked deleted");
        } else if lives && held {
            self.wrong(&format!("{name} was deleted and a living machine has the volume"));
        } else if lives && users.is_empty() {
            self.wrong(&format!("{name} was deleted and nobody waits for the volume"));
        } else if lives {
            self.right("detached healed");
        } else if name_lives && holder.is_none() && users.iter().any(|pod| pod.node.as_ref() == Some(&attachment.node))
        {
            // None of them runs, or the first case would have caught it.
            self.right("same name healed");
        } else if self.truth.pods_on_node(&node).next().is_some() {
            self.wrong(&format!("{name} was deleted and pods are bound to {node}, so that it is made again"));
        } else if name_lives && listed {
            self.wrong(&format!("{name} was deleted and {node} lists the volume as in use"));
        } else {
            self.right("dead deleted");
        }
    }

    fn right(&mut self, what: &'static str) {
        *self.tally.right.entry(what).or_default() += 1;
    }

    fn wrong(&mut self, what: &str) {
        let second = self.second;
        self.tally.violations.push(format!("second {second}: {what}"));
    }
}
