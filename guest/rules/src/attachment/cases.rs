//! The rows of the tables, each as a change to a healthy observation and the whole judgement that it must get.

mod agreement;
mod death;
mod detach;
mod detached;
mod holders;
mod living_node;
mod unproven;
mod unused;
mod volume;

use zonewarden_bindings::attachment::{Drift, Observation, Verdict};
use zonewarden_bindings::types::{Remedy, Severity};

use super::fixture::{mk_observation, mk_settings};
use super::judge;

/// A row's name, its change to a healthy pair, what it must be judged as, and what else the message must say.
type Row = (&'static str, fn(&mut Observation), Wanted, &'static [&'static str]);

/// A judgement without its message.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Wanted {
    verdict: Verdict,
    remedy: Remedy,
    escalation: Option<Remedy>,
    severity: Severity,
    code: &'static str,
}

impl Wanted {
    const fn remedy(self, remedy: Remedy) -> Self {
        Self { remedy, ..self }
    }

    const fn escalation(self, remedy: Remedy) -> Self {
        Self { escalation: Some(remedy), ..self }
    }

    const fn warning(self) -> Self {
        Self { severity: Severity::Warning, ..self }
    }
}

const fn quiet(verdict: Verdict, code: &'static str) -> Wanted {
    Wanted { verdict, remedy: Remedy::None, escalation: None, severity: Severity::Info, code }
}

const fn in_sync(code: &'static str) -> Wanted {
    quiet(Verdict::InSync, code)
}

const fn in_progress(code: &'static str) -> Wanted {
    quiet(Verdict::InProgress, code)
}

const fn unknown(code: &'static str) -> Wanted {
    quiet(Verdict::Unknown, code)
}

/// A death that can't be proven as things stand: people are told.
const fn unproven(code: &'static str) -> Wanted {
    Wanted { remedy: Remedy::Event, severity: Severity::Warning, ..unknown(code) }
}

const fn unstable(code: &'static str) -> Wanted {
    quiet(Verdict::Unstable, code)
}

/// A drift of severity error that people are told of.
const fn told(drift: Drift, code: &'static str) -> Wanted {
    Wanted { verdict: Verdict::Drift(drift), remedy: Remedy::Event, escalation: None, severity: Severity::Error, code }
}

fn check(rows: &[Row]) {
    for (name, change, wanted, says) in rows {
        let mut observation = mk_observation();
        change(&mut observation);
        let judged = judge(&mk_settings(), &observation);
        let message = &judged.reason.message;
        let (verdict, remedy, escalation, severity) =
            (judged.verdict, judged.remedy, judged.escalation, judged.severity);
        assert_eq!(
            (verdict, remedy, escalation, severity, judged.reason.code.as_str()),
            (wanted.verdict, wanted.remedy, wanted.escalation, wanted.severity, wanted.code),
            "{name}: {message}"
        );
        let names = names_of(&observation);
        for text in names.iter().map(String::as_str).chain(says.iter().copied()) {
            assert!(message.contains(text), "{name}: {text:?} is not in {message:?}");
        }
        assert!(!message.ends_with('.') && !message.contains('\n'), "{name}: {message:?}");
    }
}

/// The objects that every message must name.
fn names_of(observation: &Observation) -> Vec<String> {
    let mut names = vec![format!("volume {}", observation.volume.aws_volume_id)];
    names.extend(observation.persistent_volume.iter().map(|name| format!("(PersistentVolume {name})")));
    names.push(
        observation
            .instance
            .as_ref()
            .map_or("instance unknown".to_owned(), |id| format!("instance {}", id.instance_id)),
    );
    if let Some(attachment) = &observation.attachment {
        names.push(format!("Node {}", attachment.node.node_name));
        names.push(format!("VolumeAttachment {}", attachment.name));
    }
    names
}
