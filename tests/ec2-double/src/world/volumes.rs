//! Attaching, detaching and deleting volumes.

use crate::clock::later;
use crate::error::Ec2Error;
use crate::records::{Attachment, Instance, Volume};
use crate::states::{AttachmentState, InstanceState, VolumeState};
use crate::world::World;
use crate::world::due::Event;

/// A volume with multi-attach goes to that many instances.
const MULTI_ATTACH_LIMIT: usize = 16;

impl World {
    /// Attaches a volume: `attaching`, then `attached`.
    ///
    /// # Errors
    /// As EC2's: the volume or the instance is not there, not in a fit state, in another zone; the volume is in use
    /// (`VolumeInUse`), the device name is taken (`InvalidParameterValue`), the instance is full (`AttachmentLimitExceeded`).
    pub fn attach(&mut self, volume: &str, instance: &str, device: &str) -> Result<Attachment, Ec2Error> {
        let target = self.known_instance(instance)?;
        may_attach(self.known_volume(volume)?, target)?;
        let held = self.volumes_of(instance);
        let taken = |volume: &&Volume| volume.attachment_to(instance).is_some_and(|held| held.device == device);
        if held.iter().any(taken) {
            let text = format!("Invalid value '{device}' for unixDevice. Attachment point {device} is already in use");
            return Err(Ec2Error::invalid_value(text));
        }
        if target.attach_limit.is_some_and(|limit| held.len() >= limit) {
            let text = format!("Instance '{instance}' has reached its limit of attached volumes");
            return Err(Ec2Error::client("AttachmentLimitExceeded", text));
        }
        let mut attachment = Attachment::new(instance, device, self.now);
        attachment.state = AttachmentState::Attaching;
        let added = attachment.clone();
        self.edit_volume(volume, |volume| {
            volume.attachments.retain(|other| other.state != AttachmentState::Detached);
            volume.attachments.push(added);
            volume.state = VolumeState::InUse;
        });
        let (instance, attached) = (instance.to_owned(), attachment.attached);
        let event = Event::Attached { volume: volume.to_owned(), instance, attached };
        self.due.plan(later(self.now, self.timing.attach), event);
        Ok(attachment)
    }

    /// Detaches a volume: `detaching`, then gone; `busy` where the machine has it mounted and `force` is not set. Without an
    /// instance, the only attachment there is.
    ///
    /// # Errors
    /// As EC2's: the volume or the instance is not there (`…NotFound`), the volume is `available` (`IncorrectState`), it is
    /// attached elsewhere (`InvalidAttachment.NotFound`).
    pub fn detach(&mut self, volume: &str, instance: Option<&str>, force: bool) -> Result<Attachment, Ec2Error> {
        let found = self.known_volume(volume)?;
        if let Some(instance) = instance {
            self.known_instance(instance)?;
        }
        let holders: Vec<&Attachment> = found.holders().collect();
        if holders.is_empty() {
            let text = format!("Volume '{volume}' is in the '{}' state.", found.state);
            return Err(Ec2Error::incorrect_state(text));
        }
        let wanted = match instance {
            Some(instance) => found.attachment_to(instance).ok_or_else(|| Ec2Error::not_attached(volume, instance))?,
            None if holders.len() == 1 => holders[0],
            None => return Err(Ec2Error::missing_parameter("instanceId")),
        };
        let Some(instance) = wanted.instance.clone() else {
            let text = format!("Volume '{volume}' is attached by a service.");
            return Err(Ec2Error::client("OperationNotPermitted", text));
        };
        let was = wanted.state.clone();
        let mut leaving = wanted.clone();
        leaving.state = if was == AttachmentState::Busy { was.clone() } else { AttachmentState::Detaching };
        leaving.mounted &= !force;
        let kept = leaving.clone();
        self.edit_volume(volume, |volume| {
            let ours = |other: &&mut Attachment| other.instance == kept.instance;
            if let Some(place) = volume.attachments.iter_mut().find(ours) {
                *place = kept;
            }
        });
        // A second detach of what is leaving already neither hurries nor delays it, but force ends what is busy.
        if was != AttachmentState::Detaching && (was != AttachmentState::Busy || force) {
            let event = Event::Detached { volume: volume.to_owned(), instance, attached: leaving.attached };
            self.due.plan(later(self.now, self.timing.detach), event);
        }
        Ok(leaving)
    }

    /// Deletes a volume that is attached nowhere: `deleting`, `deleted`, gone.
    ///
    /// # Errors
    /// `InvalidVolume.NotFound`, `VolumeInUse`.
    pub fn delete_volume(&mut self, id: &str) -> Result<(), Ec2Error> {
        if self.known_volume(id)?.holders().next().is_some() {
            return Err(Ec2Error::client("VolumeInUse", format!("Volume {id} is currently attached")));
        }
        self.begin_delete(id);
        Ok(())
    }

    pub(super) fn begin_delete(&mut self, id: &str) {
        self.edit_volume(id, |volume| volume.state = VolumeState::Deleting);
        self.due.plan(later(self.now, self.timing.delete), Event::VolumeDeleted { volume: id.to_owned() });
    }
}

fn may_attach(volume: &Volume, instance: &Instance) -> Result<(), Ec2Error> {
    let (id, target) = (&volume.id, &instance.id);
    if !matches!(instance.state, InstanceState::Running | InstanceState::Stopped) {
        return Err(Ec2Error::incorrect_state(format!("Instance '{target}' is not 'running'.")));
    }
    if volume.zone != instance.zone {
        let text = format!("The volume '{id}' is not in the same availability zone as instance '{target}'");
        return Err(Ec2Error::client("InvalidVolume.ZoneMismatch", text));
    }
    let holders = volume.holders().count();
    if holders > 0 && (!volume.multi_attach || volume.attachment_to(target).is_some()) {
        return Err(Ec2Error::client("VolumeInUse", format!("{id} is already attached to an instance")));
    }
    if holders >= MULTI_ATTACH_LIMIT {
        let text = format!("Volume '{id}' is attached to {MULTI_ATTACH_LIMIT} instances already");
        return Err(Ec2Error::client("AttachmentLimitExceeded", text));
    }
    match volume.state {
        VolumeState::Available | VolumeState::InUse => Ok(()),
        VolumeState::Creating
        | VolumeState::Deleting
        | VolumeState::Deleted
        | VolumeState::Error
        | VolumeState::Other(_) => Err(Ec2Error::incorrect_state(format!("Volume '{id}' is not 'available'."))),
    }
}
