//! The story of a pod.

use anyhow::{Context as _, Result};
use zonewarden_cluster::ObjectName;
use zonewarden_cluster::records::PodVolumeSource;
use zonewarden_sync::Survey;

use super::{Story, listed, volume};
use crate::report::{NodeGroup, Pod};

/// Which volumes it has, where they are, which nodes fit and why the others do not.
pub(super) fn story(survey: &Survey<'_>, name: &str) -> Result<Story> {
    let (namespace, pod) = name.split_once('/').with_context(|| format!("{name}: NAMESPACE/NAME is meant"))?;
    let pod = survey.cluster().pod(&ObjectName::new(namespace, pod));
    let pod = pod.with_context(|| format!("there is no pod {name}"))?;
    let placed = survey.place(pod)?;
    let mut story = Story::default();
    let state = if pod.phase.is_empty() { "of unknown phase" } else { &pod.phase };
    match &pod.node {
        None => story.say(format!("Pod {name} is {state} and bound to no node.")),
        Some(node) => story.say(format!("Pod {name} is {state} on node {}.", node.node_name)),
    }
    if pod.volumes.is_empty() {
        story.say("It has no volume that a zone could matter for.");
        return Ok(story);
    }
    for used in &pod.volumes {
        match &used.source {
            PodVolumeSource::Inline(source) => {
                story.say(format!("Volume {} is named directly by the pod.", used.name));
                volume::tell_source(survey, source, &mut story);
            }
            PodVolumeSource::Claim(_) | PodVolumeSource::Ephemeral(_) => {
                let Some((claim, found)) = survey.cluster().claim_of(pod, used) else { continue };
                match found.and_then(|claim| claim.volume_name.as_deref().zip(survey.cluster().volume_of(claim))) {
                    None if found.is_none() => {
                        story.say(format!("Volume {} is claim {claim}, which does not exist.", used.name));
                    }
                    None => story.say(format!("Volume {} is claim {claim}, which has no volume yet.", used.name)),
                    Some((volume, found)) => {
                        story.say(format!("Volume {} is claim {claim}, PersistentVolume {volume}.", used.name));
                        volume::tell_source(survey, &found.source, &mut story);
                    }
                }
            }
        }
    }
    let report = Pod::new(&placed, true);
    story.say(format!("It may go to: {}.", nodes(&report.feasible)));
    for group in same_reasons(report.refused) {
        story.say(format!("It may not go to: {}.", listed(&group.nodes)));
        for reason in &group.reasons {
            story.add(format!("{} ({}, {} says so)", reason.message, reason.code, group.origin));
        }
    }
    if let Some(terms) = &report.affinity {
        let terms = serde_json::to_string(terms)?;
        story.say(format!("The node affinity that it should have: {terms}"));
    }
    for finding in &report.findings {
        story.warn(format!("{}: {} ({})", finding.severity, finding.message, finding.code));
    }
    Ok(story)
}

/// Groups that differ in what they hold or can take, and are refused for the same reasons, are one to a reader.
fn same_reasons(groups: Vec<NodeGroup>) -> Vec<NodeGroup> {
    let mut merged: Vec<NodeGroup> = Vec::new();
    for group in groups {
        match merged.iter_mut().find(|known| known.origin == group.origin && known.reasons == group.reasons) {
            Some(known) => known.nodes.extend(group.nodes),
            None => merged.push(group),
        }
    }
    merged
}

fn nodes(groups: &[NodeGroup]) -> String {
    listed(&groups.iter().flat_map(|group| group.nodes.iter().cloned()).collect::<Vec<_>>())
}
