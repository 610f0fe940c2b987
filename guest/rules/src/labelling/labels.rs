//! Which labels a PersistentVolume lacks, which are wrong, and which of those may be mended.

use std::collections::BTreeSet;

use zonewarden_bindings::labelling::LabellingQuestion;
use zonewarden_bindings::types::{Finding, Label, Severity};

use super::nodes::Nodes;
use super::origin::Placed;
use crate::answer::finding;
use crate::settings::Settings;
use crate::{keys, region, zones};

/// What became of the labels.
#[derive(Default)]
pub(super) struct Labels {
    pub(super) to_set: Vec<Label>,
    pub(super) findings: Vec<Finding>,
    /// Whether a label stays that keeps the pod from the volume's zone.
    pub(super) contradict: bool,
}

/// The two spellings of one label, compared as one, and the codes that tell them apart.
struct Pair {
    word: &'static str,
    current: &'static str,
    beta: &'static str,
    mismatch: &'static str,
    multiple: &'static str,
}

const ZONE: Pair = Pair {
    word: "zone",
    current: keys::ZONE,
    beta: keys::ZONE_BETA,
    mismatch: "zone-mismatch",
    multiple: "multi-zone-label",
};

const REGION: Pair = Pair {
    word: "region",
    current: keys::REGION,
    beta: keys::REGION_BETA,
    mismatch: "region-mismatch",
    multiple: "multi-region-label",
};

/// What one pair of labels should say.
struct Target<'a> {
    value: &'a str,
    /// Whether a label with this value leaves nodes for the pod.
    fits: bool,
    placed: &'a Placed,
}

/// One label of a pair that is there.
struct Entry<'a> {
    key: &'static str,
    value: &'a str,
    /// `None` where Kubernetes can't read it as a set (F-20).
    set: Option<BTreeSet<String>>,
    mended: bool,
}

impl Entry<'_> {
    /// What the label says once the answer is applied.
    fn final_set(&self, target: Option<&Target<'_>>) -> Option<BTreeSet<String>> {
        match target {
            Some(target) if self.mended => Some(BTreeSet::from([target.value.to_owned()])),
            _ => self.set.clone(),
        }
    }
}

/// Judges the labels.
///
/// A label that is missing is written under its GA key alone (D-32). A beta label that is wrong and may be mended is mended
/// under its own key: one left stale beside a right GA label makes the volume unschedulable (F-7, F-42).
pub(super) fn judge(
    settings: &Settings,
    nodes: Nodes<'_>,
    question: &LabellingQuestion,
    placed: Option<&Placed>,
) -> Labels {
    let mut labels = Labels::default();
    let zone = placed.map(|placed| Target { value: &placed.zone, fits: nodes.take_zone_label(), placed });
    labels.judge_pair(&ZONE, question, zone.as_ref());
    if labels.contradict {
        // Where even the zone is in doubt, its region is no better known.
        labels.judge_pair(&REGION, question, None);
        return labels;
    }
    let region = placed.and_then(|placed| placed.region().map(|region| (placed, region)));
    let region = region.map(|(placed, value)| {
        let fits = settings.region_labels && nodes.take_region_label(value);
        Target { value, fits, placed }
    });
    labels.judge_pair(&REGION, question, region.as_ref());
    labels
}

impl Labels {
    fn judge_pair(&mut self, pair: &Pair, question: &LabellingQuestion, target: Option<&Target<'_>>) {
        let mut entries: Vec<Entry<'_>> =
            [pair.current, pair.beta].into_iter().filter_map(|key| entry(question, key)).collect();
        for entry in &mut entries {
            entry.mended = target.is_some_and(|target| may_mend(entry, question, target));
        }
        let disagree = disagreement(&entries, target);
        for entry in &entries {
            self.judge_entry(pair, entry, question, target, disagree);
        }
        if disagree && let [current, beta] = entries.as_slice() {
            self.contradict = true;
            let truth = target.map_or_else(String::new, |target| format!(", and {}", witness(target)));
            let message = format!(
                "PersistentVolume {} says {} in label {} and {} in label {}{truth}: give both one value",
                question.persistent_volume, current.value, current.key, beta.value, beta.key
            );
            self.findings.push(finding(Severity::Error, "labels-disagree", message));
        }
        if let Some(target) = target
            && !entries.iter().any(|entry| entry.set.is_some() || entry.mended || entry.key == pair.current)
        {
            self.add_missing(pair, question, target);
        }
    }

    fn add_missing(&mut self, pair: &Pair, question: &LabellingQuestion, target: &Target<'_>) {
        if target.fits {
            self.to_set.push(Label { key: pair.current.to_owned(), value: target.value.to_owned() });
        } else if pair.current == keys::ZONE {
            let message = format!(
                "PersistentVolume {} gets no label {}={}: every node of that zone lacks the label, so it would keep the pod from all of them",
                question.persistent_volume, pair.current, target.value
            );
            self.findings.push(finding(Severity::Warning, "zone-label-withheld", message));
        }
    }

    fn judge_entry(
        &mut self,
        pair: &Pair,
        entry: &Entry<'_>,
        question: &LabellingQuestion,
        target: Option<&Target<'_>>,
        disagree: bool,
    ) {
        let (name, key, value) = (&question.persistent_volume, entry.key, entry.value);
        if let Some(target) = target.filter(|_| entry.mended) {
            self.to_set.push(Label { key: key.to_owned(), value: target.value.to_owned() });
            let message = format!(
                "PersistentVolume {name} says {value:?} in label {key}: set to {}, since {}",
                target.value,
                witness(target)
            );
            self.findings.push(finding(Severity::Warning, "label-corrected", message));
            return;
        }
        let Some(set) = &entry.set else {
            let message =
                format!("PersistentVolume {name} says {value:?} in label {key}, which is no {}: correct it", pair.word);
            return self.findings.push(finding(Severity::Warning, "label-unreadable", message));
        };
        let wanted = target.map(|target| target.value);
        let holds = wanted.is_none_or(|wanted| set.contains(wanted));
        if set.len() > 1 {
            self.contradict |= !holds;
            let severity = if holds { Severity::Warning } else { Severity::Error };
            let truth = target.map_or_else(String::new, |target| format!(", and {}", witness(target)));
            let message = format!(
                "PersistentVolume {name} says {value} in label {key}, but an EBS volume is in one {}{truth}: correct it",
                pair.word
            );
            self.findings.push(finding(severity, pair.multiple, message));
        } else if region::is_zone_id(value.trim()) {
            self.contradict = true;
            let message = zone_id_message(name, key, value, target);
            self.findings.push(finding(Severity::Error, "zone-id-not-name", message));
        } else if let Some(target) = target.filter(|_| !holds) {
            self.contradict = true;
            if !disagree {
                self.findings.push(mismatch(pair, entry, name, target));
            }
        }
    }
}

fn entry<'a>(question: &'a LabellingQuestion, key: &'static str) -> Option<Entry<'a>> {
    let label = question.labels.iter().find(|label| label.key == key)?;
    Some(Entry { key, value: &label.value, set: zones::parse(&label.value), mended: false })
}

/// Whether a label that is there is wrong, and may be put right: on EC2's word alone, and only our own labels or those of an
/// object that is just being created (E14). A set of several is never ours (D-33).
fn may_mend(entry: &Entry<'_>, question: &LabellingQuestion, target: &Target<'_>) -> bool {
    let wrong = match &entry.set {
        // The scheduler ignores this label now; a readable one must not keep the pod from every node instead.
        None => target.fits,
        Some(set) => set.len() == 1 && !set.contains(target.value),
    };
    let ours = question.creating || question.owned_labels.iter().any(|key| key == entry.key);
    wrong && ours && target.placed.is_proven()
}

/// Whether the two spellings still say different things once the answer is applied.
fn disagreement(entries: &[Entry<'_>], target: Option<&Target<'_>>) -> bool {
    let [current, beta] = entries else { return false };
    match (current.final_set(target), beta.final_set(target)) {
        (Some(one), Some(other)) => one != other,
        _ => false,
    }
}

fn witness(target: &Target<'_>) -> String {
    if target.placed.is_proven() {
        format!("EC2 has the volume in zone {}", target.placed.zone)
    } else {
        format!("the object itself hints at zone {}", target.placed.zone)
    }
}

fn mismatch(pair: &Pair, entry: &Entry<'_>, name: &str, target: &Target<'_>) -> Finding {
    let Entry { key, value, .. } = entry;
    let message =
        format!("PersistentVolume {name} says {value} in label {key}, but {}: correct the label", witness(target));
    if target.placed.is_proven() {
        finding(Severity::Error, pair.mismatch, message)
    } else {
        finding(Severity::Warning, "zone-hints-differ", message)
    }
}

fn zone_id_message(name: &str, key: &str, value: &str, target: Option<&Target<'_>>) -> String {
    let advice = match target {
        Some(Target { placed, .. }) if placed.zone_id.as_deref() == Some(value.trim()) => {
            format!("the zone's name is {}", placed.zone)
        }
        Some(target) => witness(target),
        None => "give the zone's name".to_owned(),
    };
    format!("PersistentVolume {name} says {value} in label {key}, which is the id of a zone and not its name: {advice}")
}
