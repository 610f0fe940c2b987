//! What the state of the volume alone decides (D-8, D-9, D-14, D-21, D-30, D-46, E8).

use zonewarden_bindings::attachment::{Drift, Ec2Volume, Judgement, MissingVolume};
use zonewarden_bindings::types::{Severity, VolumeState};

use super::evidence::{Pair, Volume};
use super::verdict::{drift, in_progress, say, unknown, unstable};

/// How many reads in a row must say that a volume is gone (E8).
const READS_OF_A_DELETION: u32 = 3;

/// A state that does not go with the list of attachments: EC2 is between two truths.
pub(super) fn inconsistent(pair: &Pair<'_>) -> Option<Judgement> {
    let state = &pair.found_volume()?.state;
    let held = pair.held().count();
    let (state, fits) = match state {
        VolumeState::InUse => ("in-use", held > 0),
        VolumeState::Available => ("available", held == 0),
        VolumeState::Creating => ("creating", held == 0),
        VolumeState::Deleting => ("deleting", held == 0),
        VolumeState::Deleted => ("deleted", held == 0),
        VolumeState::Error | VolumeState::Other(_) => return None,
    };
    (!fits).then(|| {
        let text = format!("EC2 calls the volume {state} and lists {held} attachments of it; it is asked again");
        unstable(pair, &say("volume-inconsistent", text))
    })
}

/// Everything but a volume in a state that it can be attached in.
pub(super) fn not_usable(pair: &Pair<'_>) -> Option<Judgement> {
    let found = match pair.volume {
        Volume::Found(found) => found,
        Volume::Unknown => {
            let text = "nothing fresh is known of the volume at EC2; nothing is done until EC2 describes it";
            return Some(unknown(pair, &say("volume-unknown", text)));
        }
        Volume::Stale(age) => {
            let text = format!(
                "EC2's answer about the volume is {age} s old, older than the VolumeAttachment, and proves nothing"
            );
            return Some(unknown(pair, &say("evidence-older-than-attachment", text)));
        }
        Volume::Missing(missing) => return Some(absent(pair, missing)),
    };
    match &found.state {
        VolumeState::Available | VolumeState::InUse => None,
        VolumeState::Creating => Some(in_progress(pair, &say("volume-creating", "EC2 is still making the volume"))),
        VolumeState::Deleting | VolumeState::Deleted => Some(deleting(pair, found)),
        VolumeState::Error => {
            let text = "EC2 reports the volume in the state error; look at it in EC2 and restore it from a snapshot";
            Some(drift(pair, Drift::VolumeError, Severity::Error, &say("volume-error", text)))
        }
        VolumeState::Other(state) => {
            let text = format!("EC2 reports the volume in the state {state:?}, which is not known here");
            Some(unknown(pair, &say("volume-state-unknown", text)))
        }
    }
}

/// EC2 says that there is no such volume.
fn absent(pair: &Pair<'_>, missing: &MissingVolume) -> Judgement {
    if let Some(operator) = operator(pair) {
        let text = format!("the operator {operator:?} manages the volume, so EC2 may hide it: missing is not deleted");
        return unknown(pair, &say("volume-managed", text));
    }
    if pair.mapping().is_some() {
        let text = "EC2 says that there is no such volume, and the instance lists it; both are asked again";
        return unstable(pair, &say("volume-missing-but-mapped", text));
    }
    if !missing.absent_by_filter || !is_confirmed(pair, missing.reads, missing.consistent_seconds) {
        return unconfirmed(pair, missing.reads, missing.consistent_seconds);
    }
    deleted(pair)
}

/// EC2 shows the volume on its way out, or gone.
fn deleting(pair: &Pair<'_>, found: &Ec2Volume) -> Judgement {
    if is_confirmed(pair, found.reads, found.consistent_seconds) {
        return deleted(pair);
    }
    unconfirmed(pair, found.reads, found.consistent_seconds)
}

fn deleted(pair: &Pair<'_>) -> Judgement {
    let text =
        "the volume is deleted at EC2; restore it from a snapshot under a new PersistentVolume, or delete the claim";
    drift(pair, Drift::VolumeDeleted, Severity::Error, &say("volume-deleted", text))
}

fn unconfirmed(pair: &Pair<'_>, reads: u32, seconds: u32) -> Judgement {
    let text = format!(
        "EC2 does not show the volume any more, by {reads} reads over {seconds} s; {READS_OF_A_DELETION} reads over \
         {} s, by id and by filter, and a VolumeAttachment older than {} s are awaited",
        pair.settings.deleted_seconds, pair.settings.quiet_seconds
    );
    unknown(pair, &say("volume-deletion-unconfirmed", text))
}

fn is_confirmed(pair: &Pair<'_>, reads: u32, seconds: u32) -> bool {
    reads >= READS_OF_A_DELETION && seconds >= pair.settings.deleted_seconds && !pair.is_young()
}

/// Who manages the volume, where that is known and not the account itself.
fn operator<'a>(pair: &Pair<'a>) -> Option<&'a str> {
    let attributes = pair.observation.attributes.iter();
    attributes
        .filter(|label| label.key == "operator" && !label.value.is_empty())
        .map(|label| label.value.as_str())
        .next()
}
