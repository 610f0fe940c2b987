//! The interface: many ids in, for each a record or the cause that it is not known.
//!
//! It is asked by one caller, who keeps its answers; requests never wait for it. The answer comes as a future, since EC2 takes
//! its time; files answer at once ([`crate::Files::sweep`]).

use std::future::Future;
use std::pin::Pin;

use jiff::Timestamp;
use serde::Serialize;
use zonewarden_contract::attachment::AttachmentState;
use zonewarden_contract::types::{AwsVolumeId, InstanceId, NodeName, VolumeState};
use zonewarden_documents::Problem;

use crate::records::{Instance, Volume};

/// What is asked in one sweep. An id that comes twice is answered twice.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The volumes, by their canonical ids.
    pub volumes: Vec<AwsVolumeId>,
    /// The instances.
    pub instances: Vec<InstanceId>,
    /// Names of Nodes that are gone: which pending or running instances bear them?
    pub names: Vec<NodeName>,
}

/// An answer on its way. It never fails as a whole: what was not learnt is unknown.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Sweep> + Send + 'a>>;

/// Something that knows the state of volumes and instances: EC2, or files.
pub trait BulkVerify: Send + Sync {
    /// Looks at all of them at once.
    fn verify<'a>(&'a self, question: &'a Question) -> Answer<'a>;
}

/// What one look gave. The lists have the question's length and order; those of a look that broke off are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sweep {
    /// For each volume what is known.
    pub volumes: Vec<Evidence<Volume>>,
    /// For each instance what is known.
    pub instances: Vec<Evidence<Instance>>,
    /// For each name whether a pending or running instance bears it, by `PrivateDnsName`; `None` where nobody can tell.
    pub names: Vec<Option<bool>>,
    /// What went wrong, for people.
    pub problems: Vec<Problem>,
}

/// What is known of one volume or instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Evidence<T> {
    /// Nothing. This is neither "detached" nor "gone".
    Unknown(UnknownCause),
    /// EC2 was asked for exactly this id and said that there is none: by `…NotFound` now or at most a re-check interval ago,
    /// and in the latter case a read by filter did not list it now.
    Missing {
        /// When it said so last, by either.
        observed_at: Timestamp,
        /// Whether a read by filter did not list it either.
        absent_by_filter: bool,
    },
    /// It was described.
    Found {
        /// When it was.
        observed_at: Timestamp,
        /// The description.
        record: T,
    },
}

impl<T> Evidence<T> {
    /// The description, where there is one.
    pub fn record(&self) -> Option<&T> {
        match self {
            Self::Found { record, .. } => Some(record),
            Self::Missing { .. } | Self::Unknown(_) => None,
        }
    }

    /// The age of the evidence in whole seconds; `None` where there is none. What was observed after `now` has age 0.
    pub fn age_seconds(&self, now: Timestamp) -> Option<u32> {
        let observed_at = match self {
            Self::Found { observed_at, .. } | Self::Missing { observed_at, .. } => *observed_at,
            Self::Unknown(_) => return None,
        };
        let seconds = now.as_second().saturating_sub(observed_at.as_second()).max(0);
        Some(u32::try_from(seconds).unwrap_or(u32::MAX))
    }
}

/// Why something is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownCause {
    /// Nobody asked, or nothing was given that could answer.
    NotAsked,
    /// The answer does not list it. An answer may be filtered or partial, so this says nothing.
    NotListed,
    /// It was asked, and so long ago that nothing follows from it.
    TooOld,
    /// The description contradicts itself.
    Contradiction,
    /// The volume is in a state, or has an attachment in one, that tells nothing certain.
    Uncertain,
    /// EC2 throttled before it was its turn. It is among the first that are asked next time.
    Throttled,
    /// The credentials are missing, expired or not allowed to ask.
    Denied,
    /// No answer came that can be read: a connection that failed, a timeout, an error on EC2's side, an answer cut short.
    Unavailable,
    /// EC2 rejects the id as none (`InvalidVolumeID.Malformed`, say), or rejected each request that it was in because of
    /// others. This is neither "deleted" nor "never was".
    Rejected,
    /// EC2 said something that can't be believed: that most of what was asked does not exist, as it does in the wrong region
    /// or account; or it answered with an error that nothing here knows.
    ApiFault,
    /// The pages ended early: a token came twice or was not accepted, or a page had no list.
    Incomplete,
    /// The time for the sweep was over before it was its turn.
    OutOfTime,
}

impl UnknownCause {
    /// The stable name in kebab-case, as it is serialized.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotAsked => "not-asked",
            Self::NotListed => "not-listed",
            Self::TooOld => "too-old",
            Self::Contradiction => "contradiction",
            Self::Uncertain => "uncertain",
            Self::Throttled => "throttled",
            Self::Denied => "denied",
            Self::Unavailable => "unavailable",
            Self::Rejected => "rejected",
            Self::ApiFault => "api-fault",
            Self::Incomplete => "incomplete",
            Self::OutOfTime => "out-of-time",
        }
    }
}

/// Whether a volume is attached to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verification {
    /// It is attached there, or on its way in or out: the instance may still write to it.
    Attached,
    /// It is not attached there.
    Detached,
    /// Nobody can tell.
    Unknown(UnknownCause),
}

impl Evidence<Volume> {
    /// Whether the volume is attached to this instance, by this evidence alone. A volume that is missing is not known to be
    /// detached: that is another finding.
    pub fn attached_to(&self, instance: &InstanceId) -> Verification {
        let volume = match self {
            Self::Unknown(cause) => return Verification::Unknown(*cause),
            Self::Missing { .. } => return Verification::Unknown(UnknownCause::NotListed),
            Self::Found { record, .. } => record,
        };
        if let Some(cause) = contradiction(volume) {
            return Verification::Unknown(cause);
        }
        match volume.holders().find(|holder| holder.instance.as_ref() == Some(instance)).map(|holder| &holder.state) {
            None => Verification::Detached,
            Some(AttachmentState::Other(_)) => Verification::Unknown(UnknownCause::Uncertain),
            Some(_) => Verification::Attached,
        }
    }
}

/// A volume that is `available` has no holder and one that is `in-use` has one; more than one only with multi-attach.
/// Anything else is a read between two states, and is read again.
fn contradiction(volume: &Volume) -> Option<UnknownCause> {
    match (&volume.state, volume.holders().count()) {
        (VolumeState::Available, 0) | (VolumeState::InUse, 1) => None,
        (VolumeState::InUse, 2..) if volume.multi_attach => None,
        (VolumeState::Available | VolumeState::InUse, _) => Some(UnknownCause::Contradiction),
        _ => Some(UnknownCause::Uncertain),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;

    fn volume(state: VolumeState, multi_attach: bool, attachments: &[(&str, AttachmentState)]) -> Volume {
        let attachments = attachments.iter().map(|(instance, state)| crate::Attachment {
            instance: (!instance.is_empty()).then(|| InstanceId { instance_id: (*instance).to_owned() }),
            state: state.clone(),
            device: None,
            attached: None,
            associated_resource: None,
            owning_service: None,
        });
        Volume {
            id: AwsVolumeId { aws_volume_id: "vol-0123456789abcdef0".to_owned() },
            zone: None,
            state,
            multi_attach,
            attachments: attachments.collect(),
            attributes: vec![],
            tags: vec![],
        }
    }

    fn check(volume: Volume, expected: Verification) {
        let evidence = Evidence::Found { observed_at: Timestamp::UNIX_EPOCH, record: volume };
        assert_eq!(evidence.attached_to(&InstanceId { instance_id: "i-1".to_owned() }), expected);
    }

    #[test]
    fn d_8_to_d_16_what_a_description_proves() {
        use AttachmentState as A;
        use UnknownCause::{Contradiction, Uncertain};
        use Verification::{Attached, Detached, Unknown};
        check(volume(VolumeState::Available, false, &[]), Detached);
        check(volume(VolumeState::InUse, false, &[]), Unknown(Contradiction));
        check(volume(VolumeState::Available, false, &[("i-1", A::Attached)]), Unknown(Contradiction));
        check(volume(VolumeState::InUse, false, &[("i-1", A::Attached)]), Attached);
        check(volume(VolumeState::InUse, false, &[("i-1", A::Attaching)]), Attached);
        check(volume(VolumeState::InUse, false, &[("i-1", A::Detaching)]), Attached);
        check(volume(VolumeState::InUse, false, &[("i-1", A::Busy)]), Attached);
        check(volume(VolumeState::InUse, false, &[("i-1", A::Other("new".to_owned()))]), Unknown(Uncertain));
        check(volume(VolumeState::InUse, false, &[("i-2", A::Attached)]), Detached);
        check(volume(VolumeState::InUse, false, &[("", A::Attached)]), Detached);
        check(volume(VolumeState::Available, false, &[("i-1", A::Detached)]), Detached);
        check(volume(VolumeState::InUse, false, &[("i-1", A::Attached), ("i-2", A::Attached)]), Unknown(Contradiction));
        check(volume(VolumeState::InUse, true, &[("i-2", A::Attached), ("i-1", A::Attached)]), Attached);
        check(volume(VolumeState::Deleting, false, &[]), Unknown(Uncertain));
        check(volume(VolumeState::Other("new".to_owned()), false, &[]), Unknown(Uncertain));
    }

    #[test]
    fn what_is_not_described_is_unknown() {
        let instance = InstanceId { instance_id: "i-1".to_owned() };
        let missing = Evidence::Missing { observed_at: Timestamp::UNIX_EPOCH, absent_by_filter: true };
        assert_eq!(missing.attached_to(&instance), Verification::Unknown(UnknownCause::NotListed));
        let unknown = Evidence::<Volume>::Unknown(UnknownCause::NotAsked);
        assert_eq!(unknown.attached_to(&instance), Verification::Unknown(UnknownCause::NotAsked));
    }

    #[test]
    fn an_age_is_never_negative() {
        let seconds = |seconds| Timestamp::from_second(seconds).unwrap();
        let missing = Evidence::<Volume>::Missing { observed_at: seconds(100), absent_by_filter: false };
        assert_eq!(missing.age_seconds(seconds(130)), Some(30));
        assert_eq!(missing.age_seconds(seconds(90)), Some(0));
        assert_eq!(missing.age_seconds(Timestamp::MAX), Some(u32::MAX));
        assert_eq!(Evidence::<Volume>::Unknown(UnknownCause::NotAsked).age_seconds(seconds(90)), None);
    }
}
