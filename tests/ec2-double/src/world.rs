//! The state: volumes, instances, what is due to happen to them, and how each of them looked at any time before.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::error::Ec2Error;
use crate::records::{Attachment, Instance, Volume};
use crate::states::{AttachmentState, VolumeState};
use crate::world::due::Due;
use crate::world::history::History;

mod due;
mod history;
mod instances;
mod volumes;

pub use instances::StateChange;

/// How long things take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From `attaching` to `attached`.
    pub attach: Duration,
    /// From `detaching` to gone.
    pub detach: Duration,
    /// From `shutting-down` to `terminated`.
    pub shutting_down: Duration,
    /// From `terminated` until the volumes are free. Only then do the block device mappings empty, too.
    pub release: Duration,
    /// From `stopping` to `stopped`.
    pub stopping: Duration,
    /// From `pending` to `running`.
    pub pending: Duration,
    /// From `terminated` until nobody knows the instance any more.
    pub purge: Duration,
    /// From `deleting` to `deleted`, and again from there until nobody knows the volume any more.
    pub delete: Duration,
}

impl Default for Timing {
    /// About what EC2 takes.
    fn default() -> Self {
        Self {
            attach: Duration::from_secs(2),
            detach: Duration::from_secs(3),
            shutting_down: Duration::from_secs(30),
            release: Duration::from_secs(5),
            stopping: Duration::from_secs(30),
            pending: Duration::from_secs(10),
            purge: Duration::from_secs(3600),
            delete: Duration::from_secs(2),
        }
    }
}

impl Timing {
    /// Everything at once, but a terminated instance is known for an hour.
    pub fn instant() -> Self {
        Self {
            attach: Duration::ZERO,
            detach: Duration::ZERO,
            shutting_down: Duration::ZERO,
            release: Duration::ZERO,
            stopping: Duration::ZERO,
            pending: Duration::ZERO,
            purge: Duration::from_secs(3600),
            delete: Duration::ZERO,
        }
    }
}

/// Which of several missing ids the error text names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// Only the first one.
    #[default]
    First,
    /// All that are missing.
    All,
}

/// The account's volumes and instances in one region.
#[derive(Debug)]
pub struct World {
    /// How long things take. A change holds for what begins afterwards.
    pub timing: Timing,
    /// Which missing ids an error names.
    pub naming: Naming,
    now: Timestamp,
    volumes: BTreeMap<String, History<Volume>>,
    instances: BTreeMap<String, History<Instance>>,
    due: Due,
}

impl World {
    pub(crate) fn new(timing: Timing, now: Timestamp) -> Self {
        let (volumes, instances) = (BTreeMap::new(), BTreeMap::new());
        Self { timing, naming: Naming::default(), now, volumes, instances, due: Due::default() }
    }

    /// What time it is for EC2.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Puts a volume there, as if it had been there always.
    pub fn add_volume(&mut self, volume: Volume) {
        self.volumes.insert(volume.id.clone(), History::since_ever(volume));
    }

    /// Puts an instance there, as if it had been there always.
    pub fn add_instance(&mut self, instance: Instance) {
        self.instances.insert(instance.id.clone(), History::since_ever(instance));
    }

    /// Puts a volume there that did not exist until now: reads that lag do not find it.
    pub fn create_volume(&mut self, mut volume: Volume) {
        volume.created = self.now;
        self.volumes.entry(volume.id.clone()).or_default().put(self.now, Some(volume));
    }

    /// Puts an instance there that did not exist until now: reads that lag do not find it.
    pub fn launch_instance(&mut self, mut instance: Instance) {
        instance.launched = self.now;
        self.instances.entry(instance.id.clone()).or_default().put(self.now, Some(instance));
    }

    /// A volume as it is now.
    pub fn volume(&self, id: &str) -> Option<&Volume> {
        self.volumes.get(id)?.last()
    }

    /// An instance as it is now. Its `block_devices` are as they were put there; see [`World::volumes_of`].
    pub fn instance(&self, id: &str) -> Option<&Instance> {
        self.instances.get(id)?.last()
    }

    /// All volumes as they are now.
    pub fn volumes(&self) -> impl Iterator<Item = &Volume> {
        self.volumes.values().filter_map(History::last)
    }

    /// All instances as they are now.
    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        self.instances.values().filter_map(History::last)
    }

    /// The volumes that an instance holds, on their way in or out included.
    pub fn volumes_of(&self, instance: &str) -> Vec<&Volume> {
        self.volumes().filter(|volume| volume.attachment_to(instance).is_some()).collect()
    }

    /// Changes a volume by hand, into states that EC2 itself would not allow too. False where there is none.
    pub fn edit_volume(&mut self, id: &str, edit: impl FnOnce(&mut Volume)) -> bool {
        let now = self.now;
        self.volumes.get_mut(id).is_some_and(|history| history.edit(now, edit))
    }

    /// Changes an instance by hand. False where there is none.
    pub fn edit_instance(&mut self, id: &str, edit: impl FnOnce(&mut Instance)) -> bool {
        let now = self.now;
        self.instances.get_mut(id).is_some_and(|history| history.edit(now, edit))
    }

    /// Lets a volume vanish without any state in between. False where there is none.
    pub fn remove_volume(&mut self, id: &str) -> bool {
        let now = self.now;
        self.volumes.get_mut(id).is_some_and(|history| history.end(now))
    }

    /// Lets an instance vanish without any state in between: its volumes stay as they are. False where there is none.
    pub fn remove_instance(&mut self, id: &str) -> bool {
        let now = self.now;
        self.instances.get_mut(id).is_some_and(|history| history.end(now))
    }

    /// Attaches a volume by hand: at once, complete, and without any check. False where there is no such volume.
    pub fn put_attached(&mut self, volume: &str, instance: &str, device: &str) -> bool {
        let attachment = Attachment::new(instance, device, self.now);
        self.edit_volume(volume, |volume| {
            volume.attachments.retain(|other| other.instance.as_deref() != Some(instance));
            volume.attachments.push(attachment);
            volume.state = VolumeState::InUse;
        })
    }

    /// Takes every attachment off a volume by hand, at once: the volume is detached behind everybody's back. False where
    /// there is no such volume.
    pub fn put_detached(&mut self, volume: &str) -> bool {
        self.edit_volume(volume, |volume| {
            volume.attachments.clear();
            volume.state = VolumeState::Available;
        })
    }

    /// Says whether the machine has the device mounted. A detach of what is mounted ends in `busy`, and goes on once it is
    /// not mounted any more. False where the volume is not attached there.
    pub fn set_mounted(&mut self, volume: &str, instance: &str, mounted: bool) -> bool {
        let mut found = false;
        self.edit_volume(volume, |volume| {
            let ours = |attachment: &&mut Attachment| attachment.instance.as_deref() == Some(instance);
            for attachment in volume.attachments.iter_mut().filter(ours) {
                attachment.mounted = mounted;
                found = true;
            }
        });
        let is_busy = self.volume(volume).and_then(|volume| volume.attachment_to(instance));
        if !mounted && is_busy.is_some_and(|attachment| attachment.state == AttachmentState::Busy) {
            self.finish_detach(volume, instance);
        }
        found
    }

    pub(crate) fn volumes_at(&self, time: Timestamp) -> impl Iterator<Item = &Volume> {
        self.volumes.values().filter_map(move |history| history.at(time))
    }

    pub(crate) fn instances_at(&self, time: Timestamp) -> impl Iterator<Item = &Instance> {
        self.instances.values().filter_map(move |history| history.at(time))
    }

    pub(crate) fn volume_at(&self, id: &str, time: Timestamp) -> Option<&Volume> {
        self.volumes.get(id)?.at(time)
    }

    pub(crate) fn instance_at(&self, id: &str, time: Timestamp) -> Option<&Instance> {
        self.instances.get(id)?.at(time)
    }

    /// The error for ids of which there is nothing.
    pub(crate) fn known_volume(&self, id: &str) -> Result<&Volume, Ec2Error> {
        self.volume(id).ok_or_else(|| Ec2Error::no_volume(id))
    }

    pub(crate) fn known_instance(&self, id: &str) -> Result<&Instance, Ec2Error> {
        self.instance(id).ok_or_else(|| Ec2Error::no_instance(id))
    }
}
