//! The story of a node.

use anyhow::{Context as _, Result};
use zonewarden_contract::identity::NodeIdentity;
use zonewarden_contract::placement::AttachHeadroom;
use zonewarden_contract::types::NodeName;
use zonewarden_sync::Survey;

use super::{Story, volume};
use crate::output::kebab;
use crate::report::Attachment;

/// Which instance it is, what it holds, how much more it takes.
pub(super) fn story(survey: &Survey<'_>, name: &str) -> Result<Story> {
    let node = survey.cluster().node(name).with_context(|| format!("there is no Node {name}"))?;
    let node_name = NodeName { node_name: name.to_owned() };
    let mut story = Story::default();
    story.say(format!("Node {name} is {}.", if node.ready { "Ready" } else { "not Ready" }));
    match survey.identities().node(&node_name) {
        Some(NodeIdentity::Identified(identified)) => {
            let how = kebab(&identified.resolution);
            story.say(format!("It is the instance {} ({how}).", identified.instance.instance_id));
            match survey.instance_state(&identified.instance) {
                Some(state) => story.add(format!("EC2 says: {}.", kebab(&state))),
                None => story.add("What EC2 says of it is not known."),
            }
            for warning in &identified.warnings {
                story.warn(format!("{} ({})", warning.reason.message, warning.reason.code));
            }
        }
        Some(NodeIdentity::Foreign(reason)) => story.say(format!("It is no EC2 instance: {}.", reason.message)),
        Some(NodeIdentity::Unresolved(problem)) => story.warn(format!("{} ({})", problem.message, problem.rule)),
        None => story.say("What it is is not known."),
    }
    let (place, headroom) = survey.class_of(&node_name).context("every Node is in a class")?;
    let labels: Vec<String> = place.labels.iter().map(|label| format!("{}={}", label.key, label.value)).collect();
    story.say(format!("Its labels that matter: {}.", super::listed(&labels)));
    if !place.has_csi_node {
        story.say("It has no CSINode: no CSI driver has registered on it.");
    }
    for (driver, headroom) in place.drivers.iter().zip(headroom) {
        let headroom = match headroom {
            AttachHeadroom::Unknown => "nobody knows how many".to_owned(),
            AttachHeadroom::Unlimited => "no limit is named for".to_owned(),
            AttachHeadroom::Left(left) => left.to_string(),
        };
        story.say(format!("Driver {driver}: {headroom} more volumes."));
    }
    let pods: Vec<String> = survey
        .cluster()
        .pods_on_node(name)
        .filter(|pod| !pod.has_ended())
        .map(|pod| pod.identity.name.to_string())
        .collect();
    story.say(format!("Pods on it: {}.", super::listed(&pods)));
    for judged in survey.attachments()?.iter().filter(|judged| judged.node.as_ref() == Some(&node_name)) {
        volume::tell_attachment(&Attachment::new(judged), &mut story);
    }
    Ok(story)
}
