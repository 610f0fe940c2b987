//! An EC2 that speaks the wire protocol, keeps state, and fails on demand.
//!
//! It answers the unmodified SDK: forms by POST, XML back. It keeps volumes, instances and attachments through all their
//! states on a clock of its own, and it is told what shall go wrong:
//!
//! ```no_run
//! # async fn run() {
//! use std::time::Duration;
//! use zonewarden_ec2_double::{Action, Double, Fault, Instance, InstanceState, Span, Volume};
//!
//! let ec2 = Double::start().await;
//! ec2.with(|world| {
//!     world.add_instance(Instance::new("i-0a1b2c3d4e5f60718", "us-east-1a", "ip-10-0-0-1.ec2.internal"));
//!     world.add_volume(Volume::new("vol-0a1b2c3d4e5f60718", "us-east-1a"));
//!     world.put_attached("vol-0a1b2c3d4e5f60718", "i-0a1b2c3d4e5f60718", "/dev/xvdaa");
//! });
//! // The next two reads are throttled, every fifth read of instances ends in the middle.
//! ec2.fault_next(Action::DescribeVolumes, [Fault::Throttle, Fault::Throttle]);
//! ec2.fault_when(Action::DescribeInstances, |number| (number % 5 == 0).then_some(Fault::Truncated));
//! // One answer says that the instance is dead, while it runs.
//! ec2.lie_about_instance("i-0a1b2c3d4e5f60718", Span::Calls(1), |instance| instance.state = InstanceState::Terminated);
//! // A client is given ec2.endpoint(); afterwards, what it asked:
//! assert!(ec2.count(Action::DescribeVolumes) <= 3);
//! ec2.advance(Duration::from_secs(60));
//! # }
//! ```
//!
//! Words that the API does not list, an attachment without an instance, states that contradict each other: put them there
//! with [`World::edit_volume`] and [`World::edit_instance`], or say them with [`Double::lie_about_volume`] and
//! [`Double::lie_about_instance`].
//!
//! Read in this order: [`World`] (what is), [`Fault`], [`Span`] and [`Consistency`] (what is said of it), [`Double`] (the
//! handle).

mod answers;
mod calls;
mod clock;
mod describe;
mod double;
mod error;
mod faults;
mod lies;
mod nonsense;
mod records;
mod request;
mod server;
mod state;
mod states;
mod view;
mod world;
mod xml;

pub use calls::Call;
pub use clock::Clock;
pub use double::{Double, Options};
pub use error::Ec2Error;
pub use faults::Fault;
pub use lies::Span;
pub use records::{Attachment, BlockDevice, Instance, Operator, Tags, Volume};
pub use request::{Action, Filter, Parameters};
pub use states::{AttachmentState, InstanceState, VolumeState};
pub use view::Consistency;
pub use world::{Naming, StateChange, Timing, World};
