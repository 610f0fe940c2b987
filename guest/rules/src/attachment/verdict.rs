//! How a judgement is put together: one function per kind of verdict, and the one place that names the objects.

use std::fmt;

use zonewarden_bindings::attachment::{Drift, Judgement, Verdict};
use zonewarden_bindings::types::{Remedy, Severity};

use super::evidence::Pair;
use crate::answer::reason;

/// What is said: the stable code, and what a person should know and do.
pub(super) struct Say<T> {
    pub(super) code: &'static str,
    pub(super) text: T,
}

/// A thing to say.
pub(super) const fn say<T: fmt::Display>(code: &'static str, text: T) -> Say<T> {
    Say { code, text }
}

/// Kubernetes and EC2 agree.
pub(super) fn in_sync<T: fmt::Display>(pair: &Pair<'_>, say: &Say<T>) -> Judgement {
    judgement(pair, Verdict::InSync, Severity::Info, say)
}

/// On its way, and not late.
pub(super) fn in_progress<T: fmt::Display>(pair: &Pair<'_>, say: &Say<T>) -> Judgement {
    judgement(pair, Verdict::InProgress, Severity::Info, say)
}

/// Not enough is known.
pub(super) fn unknown<T: fmt::Display>(pair: &Pair<'_>, say: &Say<T>) -> Judgement {
    judgement(pair, Verdict::Unknown, Severity::Info, say)
}

/// The observations contradict each other.
pub(super) fn unstable<T: fmt::Display>(pair: &Pair<'_>, say: &Say<T>) -> Judgement {
    judgement(pair, Verdict::Unstable, Severity::Info, say)
}

/// They differ, and people are told.
pub(super) fn drift<T: fmt::Display>(pair: &Pair<'_>, drift: Drift, severity: Severity, say: &Say<T>) -> Judgement {
    Judgement { remedy: Remedy::Event, ..judgement(pair, Verdict::Drift(drift), severity, say) }
}

fn judgement<T: fmt::Display>(pair: &Pair<'_>, verdict: Verdict, severity: Severity, say: &Say<T>) -> Judgement {
    let message = format!("{}: {}", Subject(pair), say.text);
    Judgement { verdict, remedy: Remedy::None, escalation: None, severity, reason: reason(say.code, message) }
}

/// So many pods.
pub(super) struct Pods(pub(super) u32);

impl fmt::Display for Pods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "pod" } else { "pods" })
    }
}

/// The names of everything that the judgement is about.
struct Subject<'a>(&'a Pair<'a>);

impl fmt::Display for Subject<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let observation = self.0.observation;
        write!(f, "volume {}", observation.volume.aws_volume_id)?;
        if let Some(name) = &observation.persistent_volume {
            write!(f, " (PersistentVolume {name})")?;
        }
        match &observation.instance {
            Some(instance) => write!(f, ", instance {}", instance.instance_id)?,
            None => f.write_str(", instance unknown")?,
        }
        if let Some(attachment) = self.0.attachment {
            write!(f, ", Node {}, VolumeAttachment {}", attachment.node.node_name, attachment.name)?;
        }
        Ok(())
    }
}
