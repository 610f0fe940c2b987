//! What a read looks at: the world at some time.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::earlier;
use crate::records::{BlockDevice, Instance, Volume};
use crate::states::AttachmentState;
use crate::world::World;

/// How fresh the reads of an action are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// They see what is.
    #[default]
    Strong,
    /// They see what was so long ago.
    Lag(Duration),
    /// They go back in time: every second one, beginning with the next, sees what was so long ago; the others see what is.
    BackAndForth(Duration),
}

impl Consistency {
    /// The time that a read sees. `number` counts the reads since this was set, from 0.
    pub(crate) fn sees(self, now: Timestamp, number: u64) -> Timestamp {
        match self {
            Self::Lag(lag) => earlier(now, lag),
            Self::BackAndForth(lag) if number.is_multiple_of(2) => earlier(now, lag),
            Self::Strong | Self::BackAndForth(_) => now,
        }
    }
}

/// The volumes of these ids, or all, in ascending order and each once.
pub(crate) fn volumes(world: &World, at: Timestamp, ids: &[String]) -> Vec<Volume> {
    if ids.is_empty() {
        return world.volumes_at(at).cloned().collect();
    }
    sorted(ids).into_iter().filter_map(|id| world.volume_at(id, at).cloned()).collect()
}

/// The instances of these ids, or all, in ascending order and each once, with their block devices.
pub(crate) fn instances(world: &World, at: Timestamp, ids: &[String]) -> Vec<Instance> {
    let mut found: Vec<Instance> = if ids.is_empty() {
        world.instances_at(at).cloned().collect()
    } else {
        sorted(ids).into_iter().filter_map(|id| world.instance_at(id, at).cloned()).collect()
    };
    let mut devices = block_devices(world, at);
    for instance in &mut found {
        let of_attachments = devices.remove(&instance.id).unwrap_or_default();
        instance.block_devices.get_or_insert(of_attachments);
    }
    found
}

/// What the volumes' attachments say, by instance.
fn block_devices(world: &World, at: Timestamp) -> BTreeMap<String, Vec<BlockDevice>> {
    let mut devices: BTreeMap<String, Vec<BlockDevice>> = BTreeMap::new();
    for volume in world.volumes_at(at) {
        for attachment in volume.holders() {
            let Some(instance) = attachment.instance.clone() else { continue };
            let state = match &attachment.state {
                // The mappings do not know `busy`.
                AttachmentState::Busy => AttachmentState::Detaching,
                other => other.clone(),
            };
            devices.entry(instance).or_default().push(BlockDevice {
                device: attachment.device.clone(),
                volume: volume.id.clone(),
                state,
                attached: attachment.attached,
                delete_on_termination: attachment.delete_on_termination,
            });
        }
    }
    devices
}

fn sorted(ids: &[String]) -> Vec<&String> {
    let mut sorted: Vec<&String> = ids.iter().collect();
    sorted.sort();
    sorted.dedup();
    sorted
}
