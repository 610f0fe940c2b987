//! Where the facts meet: what the cluster says, what EC2 says, and what the policy makes of both.
//!
//! ```text
//! cluster::Index ─┐                     ┌─ volumes      what each PersistentVolume should carry
//!                 ├─ Survey ── policy ──┼─ pods         which nodes fit each pod
//! ec2::Sweep ─────┘                     └─ attachments  what each pair of volume and instance means
//! ```
//!
//! A [`Survey`] is one look at one world. It asks the policy for every id first and remembers the answers; everything after that
//! is keyed by what the policy said, never by the texts. Nothing here parses a volume id, a provider id, a zone or a label key.
//!
//! Nothing here writes, and nothing here keeps state from one survey to the next.

mod act;
mod attachments;
mod classes;
mod clock;
mod facts;
mod history;
mod host;
mod identities;
mod leases;
mod memory;
mod metering;
mod observations;
mod occupancy;
mod options;
mod ownership;
mod pods;
mod questions;
mod rails;
mod reconciler;
mod remedies;
mod schedule;
#[cfg(test)]
mod simulation;
mod status;
mod stuck;
mod survey;
mod telling;
mod volumes;
mod watch;

pub use act::{Act, Deed, Finding};
pub use attachments::JudgedAttachment;
pub use classes::{Class, NodeClass};
pub use clock::{Moment, Now};
pub use host::{Host, Parts};
pub use identities::Identities;
pub use leases::{LeaseRead, LeaseReads};
pub use options::{Intervals, Mode, Modes, Options};
pub use pods::PlacedPod;
pub use rails::{Patience, Withheld};
pub use reconciler::{Judged, Plan, Reconciler, Scope};
pub use remedies::{Fence, Outcome};
pub use status::Status;
pub use stuck::StuckVolume;
pub use survey::Survey;
pub use volumes::LabelledVolume;

/// How many elements go into one question. A batch has to stay below the engine's limit on the size of an answer.
const BATCH: usize = 250;
