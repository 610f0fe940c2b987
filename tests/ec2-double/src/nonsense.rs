//! Well-formed nonsense. The same seed and the same call give the same nonsense.

use crate::faults::Fault;
use crate::records::{Attachment, BlockDevice, Instance, Volume};
use crate::states::{AttachmentState, InstanceState, VolumeState};
use crate::world::World;

/// A small generator of numbers (xorshift).
pub(crate) struct Dice(u64);

/// Dice, where nonsense is asked for.
pub(crate) fn dice(faults: &[Fault], call: u64) -> Option<Dice> {
    let seed = |fault: &Fault| match fault {
        Fault::Nonsense(seed) => Some(*seed),
        _ => None,
    };
    // Multiplied, so that neighbouring seeds and calls do not begin alike; odd, since zero would stay zero.
    faults.iter().find_map(seed).map(|seed| Dice((seed.wrapping_add(call).wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1))
}

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap_or_default() % end.max(1)
    }

    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    fn one_of<T: Clone>(&mut self, things: &[T]) -> Option<T> {
        let index = self.below(things.len());
        things.get(index).cloned()
    }

    fn volume_state(&mut self) -> VolumeState {
        match self.below(7) {
            0 => VolumeState::Creating,
            1 => VolumeState::Available,
            2 => VolumeState::InUse,
            3 => VolumeState::Deleting,
            4 => VolumeState::Deleted,
            5 => VolumeState::Error,
            _ => VolumeState::Other("melted".to_owned()),
        }
    }

    fn attachment_state(&mut self) -> AttachmentState {
        match self.below(6) {
            0 => AttachmentState::Attaching,
            1 => AttachmentState::Attached,
            2 => AttachmentState::Detaching,
            3 => AttachmentState::Busy,
            4 => AttachmentState::Detached,
            _ => AttachmentState::Other("glued".to_owned()),
        }
    }

    fn instance_state(&mut self) -> InstanceState {
        match self.below(7) {
            0 => InstanceState::Pending,
            1 => InstanceState::Running,
            2 => InstanceState::ShuttingDown,
            3 => InstanceState::Terminated,
            4 => InstanceState::Stopping,
            5 => InstanceState::Stopped,
            _ => InstanceState::Other("asleep".to_owned()),
        }
    }

    fn zone(&mut self) -> String {
        let zones = ["us-east-1a", "us-east-1b", "eu-west-3c", ""];
        self.one_of(&zones).unwrap_or_default().to_owned()
    }
}

/// Turns a page of volumes into nonsense.
pub(crate) fn volumes(dice: &mut Dice, items: &mut Vec<Volume>, world: &World) {
    let instances: Vec<String> = world.instances().map(|instance| instance.id.clone()).collect();
    items.retain(|_| !dice.once_in(8));
    for volume in items.iter_mut() {
        if dice.once_in(2) {
            volume.state = dice.volume_state();
        }
        if dice.once_in(8) {
            volume.zone = dice.zone();
        }
        if dice.once_in(2) {
            let count = dice.below(4);
            volume.attachments = (0..count).map(|_| attachment(dice, &instances, volume.created)).collect();
        }
    }
    doubled(dice, items);
}

fn attachment(dice: &mut Dice, instances: &[String], attached: jiff::Timestamp) -> Attachment {
    let instance = dice.one_of(instances).filter(|_| !dice.once_in(6));
    let mut attachment = Attachment::new("", "/dev/xvdaz", attached);
    attachment.instance = instance;
    attachment.state = dice.attachment_state();
    attachment
}

/// Turns a page of instances into nonsense.
pub(crate) fn instances(dice: &mut Dice, items: &mut Vec<Instance>, world: &World) {
    let volumes: Vec<String> = world.volumes().map(|volume| volume.id.clone()).collect();
    items.retain(|_| !dice.once_in(8));
    for instance in items.iter_mut() {
        if dice.once_in(2) {
            instance.state = dice.instance_state();
        }
        if dice.once_in(8) {
            instance.zone = dice.zone();
        }
        if dice.once_in(4) {
            instance.private_dns_name.clear();
        }
        if dice.once_in(2) {
            let count = dice.below(4);
            let devices = (0..count).filter_map(|_| block_device(dice, &volumes, instance.launched));
            instance.block_devices = Some(devices.collect());
        }
    }
    doubled(dice, items);
}

fn block_device(dice: &mut Dice, volumes: &[String], attached: jiff::Timestamp) -> Option<BlockDevice> {
    let volume = dice.one_of(volumes)?;
    let state = dice.attachment_state();
    Some(BlockDevice { device: "/dev/xvdaz".to_owned(), volume, state, attached, delete_on_termination: false })
}

/// Now and then an item comes twice.
fn doubled<T: Clone>(dice: &mut Dice, items: &mut Vec<T>) {
    if dice.once_in(4) {
        let again = dice.one_of(items);
        items.extend(again);
    }
}
