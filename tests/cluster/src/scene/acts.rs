//! What the rescuer did in a scene, by the API server's audit log.

use std::fmt;

use anyhow::{Result, ensure};

use super::{APP, BYSTANDER, Scene, objects};
use crate::attachments::Attached;
use crate::audit::Entry;

/// An object of a scene that an act is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// A Node.
    Node(String),
    /// A pod.
    Pod(String),
    /// A VolumeAttachment.
    Attachment(Attached),
}

/// Something that the rescuer changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Act {
    /// What it changed.
    pub about: About,
    /// The request.
    pub entry: Entry,
}

impl fmt::Display for Act {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { at, verb, resource, name, .. } = &self.entry;
        write!(out, "{at} {verb} {resource} {name}")?;
        if let About::Attachment(attached) = &self.about {
            write!(out, " ({} on {})", attached.volume, attached.node)?;
        }
        match &self.entry.body {
            Some(body) => write!(out, " {body}"),
            None => Ok(()),
        }
    }
}

impl Scene<'_> {
    /// What the rescuer changed about this scene's Nodes, pods and VolumeAttachments, so far.
    ///
    /// # Errors
    /// Where the log can't be read.
    pub fn acts(&self) -> Result<Vec<Act>> {
        let entries = self.stage.audit.entries()?;
        let acts = entries.into_iter().filter(Entry::wrote);
        Ok(acts.filter_map(|entry| Some(Act { about: self.about(&entry)?, entry })).collect())
    }

    /// The object of this scene that a request is about.
    fn about(&self, entry: &Entry) -> Option<About> {
        let Entry { resource, namespace, name, .. } = entry;
        let is_ours = |node: &str| node.strip_prefix(&self.name).is_some_and(|rest| rest.starts_with('-'));
        match resource.split('/').next()? {
            "nodes" => is_ours(name).then(|| About::Node(name.clone())),
            "pods" => (*namespace == self.name).then(|| About::Pod(name.clone())),
            "volumeattachments" => {
                let attached = self.stage.attachments.of(name)?;
                is_ours(&attached.node).then_some(About::Attachment(attached))
            }
            _ => None,
        }
    }

    /// Fails where the rescuer did anything in this scene.
    ///
    /// # Errors
    /// Where it did.
    pub fn nothing_was_touched(&self) -> Result<()> {
        self.only_due(|_| false)
    }

    /// Fails where the rescuer did anything that is not about the dead machine, the pod that was on it and its attachment.
    ///
    /// # Errors
    /// Where it did.
    pub fn only_the_dead_was_touched(&self, victim: &str) -> Result<()> {
        self.only_due(|about| match about {
            About::Node(node) => node == victim,
            About::Pod(pod) => !pod.starts_with(BYSTANDER),
            About::Attachment(attached) => *attached == self.attachment_of_app(victim),
        })
    }

    /// Fails where the rescuer did anything but delete the attachment of `app`'s volume on this Node, whose machine lives.
    ///
    /// # Errors
    /// Where it did.
    pub fn only_the_attachment_was_touched(&self, node: &str) -> Result<()> {
        self.only_due(|about| *about == About::Attachment(self.attachment_of_app(node)))
    }

    fn attachment_of_app(&self, node: &str) -> Attached {
        Attached { node: node.to_owned(), volume: objects::volume_name(&self.name, APP) }
    }

    fn only_due(&self, is_due: impl Fn(&About) -> bool) -> Result<()> {
        let acts = self.acts()?;
        let astray: Vec<String> = acts.iter().filter(|act| !is_due(&act.about)).map(Act::to_string).collect();
        ensure!(astray.is_empty(), "the rescuer touched what lives:\n{}", astray.join("\n"));
        Ok(())
    }
}
