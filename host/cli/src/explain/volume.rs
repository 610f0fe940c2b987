//! The story of a volume.

use anyhow::{Result, bail};
use zonewarden_cluster::records::{PersistentVolume, PodVolumeSource};
use zonewarden_contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::{AwsVolumeId, CsiSource, KubernetesVolumeId, VolumeEvidence, VolumeSource};
use zonewarden_ec2 as ec2;
use zonewarden_sync::Survey;

use super::Story;
use crate::output::kebab;
use crate::report::{Attachment, Volume};
use crate::world::World;

/// Where it is, who names it, who holds it.
pub(super) fn story(survey: &Survey<'_>, world: &World, text: &str) -> Result<Story> {
    let (volume, volumes) = find(survey, text)?;
    let mut story = Story::default();
    if let Some(volume) = &volume {
        story.say(format!("{text} is the volume {}.", volume.aws_volume_id));
    }
    if volumes.is_empty() {
        story.say("No PersistentVolume of the cluster names it.");
    }
    if let Some(volume) = volume.as_ref().filter(|_| volumes.is_empty()) {
        let named = tell_pods(survey, volume, &mut story);
        match world.volume_at_ec2(volume) {
            Some(found) if !named => tell_record(survey, &found, &mut story),
            None if !named => {
                bail!("neither the cluster nor EC2's facts know a volume {}", volume.aws_volume_id);
            }
            Some(_) | None => {}
        }
    }
    for labelled in survey.label(&volumes)? {
        let report = Volume::new(survey, &labelled);
        let claim = labelled.volume.claim.as_ref().map(|claim| format!(", claimed by {}", claim.name));
        story.say(format!("PersistentVolume {}{}.", report.persistent_volume, claim.unwrap_or_default()));
        tell_source(survey, &labelled.volume.source, &mut story);
        story.add(format!("{} ({})", report.reason.message, report.reason.code));
        for finding in report.findings {
            story.warn(format!("{}: {} ({})", finding.severity, finding.message, finding.code));
        }
        for (key, value) in report.proposed.labels {
            story.warn(format!("It lacks the label {key}={value}."));
        }
        if let Some(terms) = report.proposed.affinity {
            story.warn(format!("It lacks the node affinity {}", serde_json::to_string(&terms)?));
        }
    }
    for judged in survey.attachments()? {
        let concerns =
            volumes.iter().any(|pv| judged.observation.persistent_volume.as_deref() == Some(&*pv.identity.name.name));
        if concerns || volume.as_ref() == Some(&judged.observation.volume) {
            tell_attachment(&Attachment::new(&judged), &mut story);
        }
    }
    Ok(story)
}

/// What is meant: the name of a PersistentVolume, or an id in any spelling.
fn find<'a>(survey: &'a Survey<'_>, text: &str) -> Result<(Option<AwsVolumeId>, Vec<&'a PersistentVolume>)> {
    if let Some(named) = survey.cluster().volume(text) {
        let volume = survey.identities().identified(&named.source).map(|volume| volume.volume.clone());
        return Ok((volume, vec![named]));
    }
    let id = || KubernetesVolumeId { kubernetes_volume_id: text.to_owned() };
    let driver = survey.policy().info().csi_drivers.first().cloned().unwrap_or_default();
    let questions =
        [VolumeSource::AwsElasticBlockStore(id()), VolumeSource::Csi(CsiSource { driver, volume_handle: id() })]
            .map(|source| VolumeQuestion { source, ec2_zone: None });
    let mut rejected = None;
    for identity in survey.policy().identify_volumes(&questions)? {
        match identity {
            VolumeIdentity::Identified(volume) => {
                let names = |pv: &&PersistentVolume| {
                    survey.identities().identified(&pv.source).is_some_and(|named| named.volume == volume.volume)
                };
                return Ok((Some(volume.volume.clone()), survey.cluster().volumes().filter(names).collect()));
            }
            VolumeIdentity::Rejected(problem) => rejected = rejected.or(Some(problem)),
            VolumeIdentity::Foreign(_) => {}
        }
    }
    match rejected {
        Some(problem) => bail!("{text}: {} (accepted: {})", problem.message, problem.accepted.join(", ")),
        None => bail!("there is no PersistentVolume {text}, and it is no volume id that the policy handles"),
    }
}

/// The pods that name a volume directly; whether there are any.
fn tell_pods(survey: &Survey<'_>, volume: &AwsVolumeId, story: &mut Story) -> bool {
    let mut told = false;
    for pod in survey.cluster().pods() {
        for used in &pod.volumes {
            let PodVolumeSource::Inline(source) = &used.source else { continue };
            if survey.identities().identified(source).is_some_and(|named| named.volume == *volume) {
                story.say(format!("Pod {} names it directly (volume {}).", pod.identity.name, used.name));
                tell_source(survey, source, story);
                told = true;
            }
        }
    }
    told
}

/// What EC2 says of a volume that nothing in the cluster names.
fn tell_record(survey: &Survey<'_>, found: &ec2::Volume, story: &mut Story) {
    let zone = found.zone.as_ref().map_or("no zone", |zone| &zone.zone);
    story.add(format!("EC2 says: {}, {zone}.", kebab(&found.state)));
    for holder in found.holders() {
        let Some(instance) = &holder.instance else { continue };
        let node = survey.identities().node_of(instance).map(|node| format!(", which is node {}", node.node_name));
        let node = node.unwrap_or_else(|| ", which is no node of this cluster".to_owned());
        story.add(format!("It is {} to {}{node}.", kebab(&holder.state), instance.instance_id));
    }
}

/// What a source names, and what EC2 says of it.
pub(super) fn tell_source(survey: &Survey<'_>, source: &VolumeSource, story: &mut Story) {
    match survey.identities().volume(source) {
        Some(VolumeIdentity::Identified(volume)) => {
            story.add(format!("It is {}.", volume.volume.aws_volume_id));
            match survey.evidence(source) {
                VolumeEvidence::Found(facts) => {
                    let zone = facts.zone.map_or_else(|| "no zone".to_owned(), |zone| zone.zone);
                    story.add(format!("EC2 says: {}, {zone}.", kebab(&facts.state)));
                }
                VolumeEvidence::Missing(_) => story.warn("EC2 says that there is no such volume."),
                VolumeEvidence::Unknown => {
                    let hint = volume.zone_hint.as_ref().map(|zone| format!("; its own id hints at {}", zone.zone));
                    story.add(format!("What EC2 says of it is not known{}.", hint.unwrap_or_default()));
                }
            }
        }
        Some(VolumeIdentity::Foreign(reason)) => story.add(format!("It is not ours: {}.", reason.message)),
        Some(VolumeIdentity::Rejected(problem)) => story.warn(format!("{} ({})", problem.message, problem.rule)),
        None => story.add("What it names is not known."),
    }
}

/// What an attachment means.
pub(super) fn tell_attachment(pair: &Attachment, story: &mut Story) {
    let object = pair.volume_attachment.as_deref().unwrap_or("without a VolumeAttachment");
    let node = pair.node.as_deref().unwrap_or("no node");
    let what = pair.drift.as_deref().unwrap_or(&pair.verdict);
    let volume = pair.aws_volume_id.as_deref().unwrap_or("an unknown volume");
    story.say(format!("Attachment of {volume} to node {node} ({object}): {what}, remedy {}.", pair.remedy));
    let line = format!("{} ({})", pair.reason, pair.code);
    if pair.tells() { story.warn(line) } else { story.add(line) }
}
