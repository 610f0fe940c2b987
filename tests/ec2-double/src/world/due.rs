//! What is due to happen, and when.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::clock::later;
use crate::states::{AttachmentState, InstanceState, VolumeState};
use crate::world::World;

/// Something that happens by itself once its time has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// `attached` tells this attachment from a later one to the same instance.
    Attached {
        volume: String,
        instance: String,
        attached: Timestamp,
    },
    /// `attached` as above.
    Detached {
        volume: String,
        instance: String,
        attached: Timestamp,
    },
    Running {
        instance: String,
    },
    Stopped {
        instance: String,
    },
    Terminated {
        instance: String,
    },
    Released {
        instance: String,
    },
    Purged {
        instance: String,
    },
    VolumeDeleted {
        volume: String,
    },
    VolumePurged {
        volume: String,
    },
}

/// Events by their time; those of one moment in the order in which they were planned.
#[derive(Debug, Default)]
pub(super) struct Due {
    events: BTreeMap<(Timestamp, u64), Event>,
    planned: u64,
}

impl Due {
    pub(super) fn plan(&mut self, at: Timestamp, event: Event) {
        self.events.insert((at, self.planned), event);
        self.planned += 1;
    }

    fn next(&mut self, now: Timestamp) -> Option<(Timestamp, Event)> {
        let entry = self.events.first_entry().filter(|entry| entry.key().0 <= now)?;
        let ((at, _), event) = entry.remove_entry();
        Some((at, event))
    }
}

impl World {
    /// Lets everything happen that is due until `now`, each at its own time, so that reads of the past see it there.
    pub(crate) fn settle(&mut self, now: Timestamp) {
        while let Some((at, event)) = self.due.next(now) {
            self.now = at.max(self.now);
            self.happen(event);
        }
        self.now = now.max(self.now);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Attached { volume, instance, attached } if self.holds(&volume, &instance, attached) => {
                self.finish_attach(&volume, &instance);
            }
            Event::Detached { volume, instance, attached } if self.holds(&volume, &instance, attached) => {
                self.finish_detach(&volume, &instance);
            }
            Event::Attached { .. } | Event::Detached { .. } => {}
            Event::Running { instance } => {
                self.move_instance(&instance, &InstanceState::Pending, InstanceState::Running)
            }
            Event::Stopped { instance } => {
                self.move_instance(&instance, &InstanceState::Stopping, InstanceState::Stopped)
            }
            Event::Terminated { instance } => self.finish_terminate(&instance),
            Event::Released { instance } => self.release(&instance),
            Event::Purged { instance } => {
                self.remove_instance(&instance);
            }
            Event::VolumeDeleted { volume } => {
                self.edit_volume(&volume, |volume| volume.state = VolumeState::Deleted);
                let at = later(self.now, self.timing.delete);
                self.due.plan(at, Event::VolumePurged { volume });
            }
            Event::VolumePurged { volume } => {
                self.remove_volume(&volume);
            }
        }
    }

    fn holds(&self, volume: &str, instance: &str, attached: Timestamp) -> bool {
        let attachment = self.volume(volume).and_then(|volume| volume.attachment_to(instance));
        attachment.is_some_and(|attachment| attachment.attached == attached)
    }

    /// Only where it is still on that way: a test or another call may have moved it on.
    fn move_instance(&mut self, id: &str, from: &InstanceState, to: InstanceState) {
        self.edit_instance(id, |instance| {
            if instance.state == *from {
                instance.state = to;
            }
        });
    }

    fn finish_attach(&mut self, volume: &str, instance: &str) {
        self.edit_volume(volume, |volume| {
            for attachment in &mut volume.attachments {
                let is_ours = attachment.instance.as_deref() == Some(instance);
                if is_ours && attachment.state == AttachmentState::Attaching {
                    attachment.state = AttachmentState::Attached;
                }
            }
        });
    }

    /// A detach is over, or finds the device mounted.
    pub(super) fn finish_detach(&mut self, volume: &str, instance: &str) {
        self.edit_volume(volume, |volume| {
            let leaving = |state: &AttachmentState| matches!(state, AttachmentState::Detaching | AttachmentState::Busy);
            volume.attachments.retain_mut(|attachment| {
                let is_ours = attachment.instance.as_deref() == Some(instance) && leaving(&attachment.state);
                if is_ours && attachment.mounted {
                    attachment.state = AttachmentState::Busy;
                }
                !is_ours || attachment.mounted
            });
            if volume.attachments.is_empty() && volume.state == VolumeState::InUse {
                volume.state = VolumeState::Available;
            }
        });
    }

    fn finish_terminate(&mut self, id: &str) {
        if self.instance(id).is_none_or(|instance| instance.state != InstanceState::ShuttingDown) {
            return;
        }
        self.edit_instance(id, |instance| {
            instance.state = InstanceState::Terminated;
            instance.private_dns_name.clear();
        });
        let (release, purge) = (later(self.now, self.timing.release), later(self.now, self.timing.purge));
        self.due.plan(release, Event::Released { instance: id.to_owned() });
        self.due.plan(purge, Event::Purged { instance: id.to_owned() });
    }

    /// A dead instance's volumes become free; those that were to die with it are deleted.
    fn release(&mut self, instance: &str) {
        let held: Vec<String> = self.volumes_of(instance).iter().map(|volume| volume.id.clone()).collect();
        for id in held {
            let mut dies = false;
            self.edit_volume(&id, |volume| {
                let ours = volume.attachment_to(instance);
                dies = ours.is_some_and(|attachment| attachment.delete_on_termination);
                volume.attachments.retain(|attachment| attachment.instance.as_deref() != Some(instance));
                if volume.attachments.is_empty() && volume.state == VolumeState::InUse {
                    volume.state = VolumeState::Available;
                }
            });
            if dies {
                self.begin_delete(&id);
            }
        }
        self.edit_instance(instance, |instance| instance.block_devices = None);
    }
}
