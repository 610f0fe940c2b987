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

/// A pair of labels of a PersistentVolume, and what it should say where that is known.
struct Asked<'a> {
    pair: &'a Pair,
    question: &'a LabellingQuestion,
    target: Option<Target<'a>>,
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
    labels.judge_pair(&Asked { pair: &ZONE, question, target: zone });
    let region = placed.and_then(|placed| placed.region().map(|region| (placed, region)));
    let region = region.map(|(placed, value)| {
        // Nothing is added to an object whose zone label is wrong: somebody has to look at it first.
        let fits = !labels.contradict && settings.region_labels && nodes.take_region_label(value);
        Target { value, fits, placed }
    });
    labels.judge_pair(&Asked { pair: &REGION, question, target: region });
    labels
}

impl Labels {
    fn judge_pair(&mut self, asked: &Asked<'_>) {
        let Asked { pair, question, target } = asked;
        let mut entries: Vec<Entry<'_>> =
            [pair.current, pair.beta].into_iter().filter_map(|key| entry(question, key)).collect();
        for entry in &mut entries {
            entry.mended = target.as_ref().is_some_and(|target| may_mend(entry, question, target));
        }
        let disagree = disagreement(&entries, target.as_ref());
        for entry in &entries {
            self.judge_entry(asked, entry, disagree);
        }
        if disagree && let [current, beta] = entries.as_slice() {
            self.contradict = true;
            self.findings.push(asked.labels_disagree(current, beta));
        }
        if let Some(target) = target
            && !entries.iter().any(|entry| entry.set.is_some() || entry.mended || entry.key == pair.current)
        {
            self.add_missing(asked, target);
        }
    }

    fn add_missing(&mut self, asked: &Asked<'_>, target: &Target<'_>) {
        if target.fits {
            self.to_set.push(Label { key: asked.pair.current.to_owned(), value: target.value.to_owned() });
        } else if asked.pair.current == keys::ZONE {
            self.findings.push(asked.zone_label_withheld(target));
        }
    }

    fn judge_entry(&mut self, asked: &Asked<'_>, entry: &Entry<'_>, disagree: bool) {
        if let Some(target) = asked.target.as_ref().filter(|_| entry.mended) {
            self.to_set.push(Label { key: entry.key.to_owned(), value: target.value.to_owned() });
            return self.findings.push(asked.corrected(entry, target));
        }
        let Some(set) = &entry.set else { return self.findings.push(asked.unreadable(entry)) };
        let holds = asked.target.as_ref().is_none_or(|target| set.contains(target.value));
        if set.len() > 1 {
            self.contradict |= !holds;
            self.findings.push(asked.multiple(entry, holds));
        } else if region::is_zone_id(entry.value.trim()) {
            self.contradict = true;
            self.findings.push(asked.zone_id(entry));
        } else if let Some(target) = asked.target.as_ref().filter(|_| !holds) {
            self.contradict = true;
            if !disagree {
                self.findings.push(asked.mismatch(entry, target));
            }
        }
    }
}

impl Asked<'_> {
    fn name(&self) -> &str {
        &self.question.persistent_volume
    }

    /// What is known, to follow the description of a fault; empty where nothing is.
    fn truth(&self) -> String {
        self.target.as_ref().map_or_else(String::new, |target| format!(", and {}", witness(target)))
    }

    fn labels_disagree(&self, current: &Entry<'_>, beta: &Entry<'_>) -> Finding {
        let message = format!(
            "PersistentVolume {} says {} in label {} and {} in label {}{}: give both one value",
            self.name(),
            current.value,
            current.key,
            beta.value,
            beta.key,
            self.truth()
        );
        finding(Severity::Error, "labels-disagree", message)
    }

    fn zone_label_withheld(&self, target: &Target<'_>) -> Finding {
        let (name, key, value) = (self.name(), self.pair.current, target.value);
        let message = format!(
            "PersistentVolume {name} gets no label {key}={value}: every node of that zone lacks the label, so it would keep the pod from all of them"
        );
        finding(Severity::Warning, "zone-label-withheld", message)
    }

    fn corrected(&self, entry: &Entry<'_>, target: &Target<'_>) -> Finding {
        let Entry { key, value, .. } = entry;
        let (name, new, witness) = (self.name(), target.value, witness(target));
        let message = format!("PersistentVolume {name} says {value:?} in label {key}: set to {new}, since {witness}");
        finding(Severity::Warning, "label-corrected", message)
    }

    fn unreadable(&self, entry: &Entry<'_>) -> Finding {
        let Entry { key, value, .. } = entry;
        let (name, word) = (self.name(), self.pair.word);
        let message = format!("PersistentVolume {name} says {value:?} in label {key}, which is no {word}: correct it");
        finding(Severity::Warning, "label-unreadable", message)
    }

    fn multiple(&self, entry: &Entry<'_>, holds: bool) -> Finding {
        let Entry { key, value, .. } = entry;
        let (name, word, truth) = (self.name(), self.pair.word, self.truth());
        let severity = if holds { Severity::Warning } else { Severity::Error };
        let message = format!(
            "PersistentVolume {name} says {value} in label {key}, but an EBS volume is in one {word}{truth}: correct it"
        );
        finding(severity, self.pair.multiple, message)
    }

    fn zone_id(&self, entry: &Entry<'_>) -> Finding {
        let Entry { key, value, .. } = entry;
        let advice = match &self.target {
            Some(Target { placed, .. }) if placed.zone_id.as_deref() == Some(value.trim()) => {
                format!("the zone's name is {}", placed.zone)
            }
            Some(target) => witness(target),
            None => "give the zone's name".to_owned(),
        };
        let name = self.name();
        let message = format!(
            "PersistentVolume {name} says {value} in label {key}, which is the id of a zone and not its name: {advice}"
        );
        finding(Severity::Error, "zone-id-not-name", message)
    }

    fn mismatch(&self, entry: &Entry<'_>, target: &Target<'_>) -> Finding {
        let Entry { key, value, .. } = entry;
        let (name, witness) = (self.name(), witness(target));
        let message = format!("PersistentVolume {name} says {value} in label {key}, but {witness}: correct the label");
        if target.placed.is_proven() {
            finding(Severity::Error, self.pair.mismatch, message)
        } else {
            finding(Severity::Warning, "zone-hints-differ", message)
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
