//! Attaching and detaching, and the wait until EC2 says that it is so.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use zonewarden_ec2_double::{Attachment, AttachmentState, Double, Ec2Error};

use super::devices;

/// Each wait between two looks is longer than the one before by this.
const FACTOR: f64 = 1.8;
/// So many looks at most, which makes three quarters of an hour where the first wait is a second.
const LOOKS: u32 = 13;

/// An attachment that is `attaching` for longer is given up.
const STUCK: Duration = Duration::from_secs(90);

/// Why a volume was not attached or detached.
#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    /// There is no such instance.
    NoInstance,
    /// All device names are taken.
    NoDevice,
    /// EC2 refused.
    Ec2(Ec2Error),
    /// Several attachments of a volume that may have one.
    Several,
    /// DescribeInstances said that it was attached, DescribeVolumes that it was not.
    Contradiction(String),
    /// It has been `attaching` for too long.
    Stuck,
    /// It did not come about in time.
    TimedOut,
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInstance => out.write_str("the instance does not exist"),
            Self::NoDevice => out.write_str("no device name is free"),
            Self::Ec2(error) => error.fmt(out),
            Self::Several => out.write_str("the volume has multiple attachments"),
            Self::Contradiction(state) => write!(out, "expected the device to be attached but was {state}"),
            Self::Stuck => out.write_str("the attachment was stuck in attaching"),
            Self::TimedOut => out.write_str("timed out waiting for the condition"),
        }
    }
}

/// The disks of the account.
#[derive(Clone, Debug)]
pub(super) struct Disks {
    ec2: Double,
    first_wait: Duration,
}

/// What a wait is for.
#[derive(Clone, Copy, Debug)]
enum Wanted<'a> {
    /// It is attached as this device.
    Attached(&'a str),
    /// It is not attached to the instance.
    Detached,
}

impl Disks {
    pub(super) fn new(ec2: Double, first_wait: Duration) -> Self {
        Self { ec2, first_wait }
    }

    /// Attaches a volume and waits until it is attached: the device's name.
    pub(super) async fn attach(&self, volume: &str, instance: &str) -> Result<String, Failure> {
        let (held, taken) = self.ec2.with(|world| {
            world.instance(instance).ok_or(Failure::NoInstance)?;
            let held = |id: &str| world.volume(id)?.attachment_to(instance).cloned();
            let volumes = world.volumes_of(instance).into_iter();
            let taken: BTreeSet<String> = volumes.filter_map(|volume| Some(held(&volume.id)?.device)).collect();
            Ok((held(volume), taken))
        })?;
        if let Some(held) = held {
            return self.attach_again(volume, instance, held).await;
        }
        let device = devices::free(&taken).ok_or(Failure::NoDevice)?;
        self.ec2.attach(volume, instance, &device).await.map_err(Failure::Ec2)?;
        self.wait(volume, instance, Wanted::Attached(&device)).await?;
        Ok(device)
    }

    /// The instance holds the volume already. Where that is not complete the driver attaches once more, so as to learn why,
    /// and leaves it to its caller to come again.
    async fn attach_again(&self, volume: &str, instance: &str, held: Attachment) -> Result<String, Failure> {
        if held.state == AttachmentState::Attached {
            return Ok(held.device);
        }
        if held.state == AttachmentState::Attaching && self.is_stuck(&held) {
            self.ec2.detach(volume, instance).await.map_err(Failure::Ec2)?;
            return Err(Failure::Stuck);
        }
        self.ec2.attach(volume, instance, &held.device).await.map_err(Failure::Ec2)?;
        Err(Failure::Contradiction(held.state.to_string()))
    }

    /// Detaches a volume and waits until it is gone. What is not attached there is detached already.
    pub(super) async fn detach(&self, volume: &str, instance: &str) -> Result<(), Failure> {
        if self.ec2.with(|world| world.instance(instance).is_none()) {
            return Ok(());
        }
        match self.ec2.detach(volume, instance).await {
            Ok(()) => self.wait(volume, instance, Wanted::Detached).await,
            Err(error) if is_detached_already(&error) => Ok(()),
            Err(error) => Err(Failure::Ec2(error)),
        }
    }

    /// Looks again and again, less and less often, until it is so.
    async fn wait(&self, volume: &str, instance: &str, wanted: Wanted<'_>) -> Result<(), Failure> {
        let mut pause = self.first_wait;
        for number in 0..LOOKS {
            if number > 0 {
                tokio::time::sleep(pause).await;
                pause = pause.mul_f64(FACTOR);
            }
            if self.look(volume, instance, wanted).await? {
                return Ok(());
            }
        }
        Err(Failure::TimedOut)
    }

    async fn look(&self, volume: &str, instance: &str, wanted: Wanted<'_>) -> Result<bool, Failure> {
        let found = self.ec2.with(|world| world.volume(volume).cloned());
        let Some(found) = found else {
            let text = format!("The volume '{volume}' does not exist.");
            let missing = Failure::Ec2(Ec2Error::client("InvalidVolume.NotFound", text));
            return if matches!(wanted, Wanted::Detached) { Ok(true) } else { Err(missing) };
        };
        if !found.multi_attach && found.attachments.len() > 1 {
            return Err(Failure::Several);
        }
        let ours = found.attachment_to(instance);
        match (wanted, ours) {
            (Wanted::Detached, ours) => Ok(ours.is_none()),
            (Wanted::Attached(_), None) => Ok(false),
            (Wanted::Attached(_), Some(ours)) if ours.state == AttachmentState::Attaching && self.is_stuck(ours) => {
                self.ec2.detach(volume, instance).await.map_err(Failure::Ec2)?;
                Err(Failure::Stuck)
            }
            (Wanted::Attached(device), Some(ours)) => {
                Ok(ours.device == device && ours.state == AttachmentState::Attached)
            }
        }
    }

    fn is_stuck(&self, attachment: &Attachment) -> bool {
        self.ec2.now().duration_since(attachment.attached).unsigned_abs() > STUCK
    }
}

fn is_detached_already(error: &Ec2Error) -> bool {
    matches!(error.code.as_str(), "IncorrectState" | "InvalidAttachment.NotFound" | "InvalidVolume.NotFound")
}
