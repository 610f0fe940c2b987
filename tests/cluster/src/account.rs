//! The AWS account of a world: what its machines and volumes are called, how they die, and what a machine sees of its disks.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, ensure};
use zonewarden_ec2_double::{AttachmentState, Double, Instance, InstanceState, Volume, World};

use crate::fleet::Disks;

/// The region of every world.
pub const REGION: &str = "us-east-1";

/// An account in the EC2 double.
#[derive(Debug, Clone)]
pub struct Account {
    /// The double itself, for what goes wrong.
    pub ec2: Double,
}

impl Account {
    /// Starts an instance whose private DNS name is the Node's name.
    #[must_use]
    pub fn launch(&self, node: &str, zone: &str) -> String {
        let id = new_id("i");
        self.ec2.with(|world| world.add_instance(Instance::new(&id, zone, node)));
        id
    }

    /// Makes a volume.
    #[must_use]
    pub fn create_volume(&self, zone: &str) -> String {
        let id = new_id("vol");
        self.ec2.with(|world| world.add_volume(Volume::new(&id, zone)));
        id
    }

    /// The machine is off from here on, and EC2 says `shutting-down` until [`Account::finish_termination`].
    ///
    /// # Errors
    /// Where there is no such instance.
    pub fn begin_termination(&self, instance: &str) -> Result<()> {
        self.ec2.with(|world| {
            for volume in held(world, instance) {
                world.set_mounted(&volume, instance, false);
            }
        });
        self.set_state(instance, InstanceState::ShuttingDown)
    }

    /// EC2 says `terminated`. Its volumes stay as they are until [`Account::release`].
    ///
    /// # Errors
    /// Where there is no such instance.
    pub fn finish_termination(&self, instance: &str) -> Result<()> {
        self.set_state(instance, InstanceState::Terminated)
    }

    /// The volumes of an instance become free.
    pub fn release(&self, instance: &str) {
        self.ec2.with(|world| {
            for volume in held(world, instance) {
                world.put_detached(&volume);
            }
        });
    }

    /// The state of an instance as it is; `None` where nobody knows it any more.
    #[must_use]
    pub fn state(&self, instance: &str) -> Option<InstanceState> {
        self.ec2.with(|world| world.instance(instance).map(|instance| instance.state.clone()))
    }

    fn set_state(&self, instance: &str, state: InstanceState) -> Result<()> {
        let found = self.ec2.with(|world| {
            world.edit_instance(instance, |instance| {
                if state == InstanceState::Terminated {
                    instance.private_dns_name.clear();
                }
                instance.state = state;
            })
        });
        ensure!(found, "there is no instance {instance}");
        Ok(())
    }
}

impl Disks for Account {
    fn sees(&self, instance: &str, volume: &str) -> bool {
        self.ec2.with(|world| {
            let attachment = world.volume(volume).and_then(|volume| volume.attachment_to(instance));
            attachment.is_some_and(|attachment| attachment.state == AttachmentState::Attached)
        })
    }

    fn set_mounted(&self, instance: &str, volume: &str, mounted: bool) {
        self.ec2.with(|world| world.set_mounted(volume, instance, mounted));
    }
}

fn held(world: &World, instance: &str) -> Vec<String> {
    world.volumes_of(instance).iter().map(|volume| volume.id.clone()).collect()
}

/// An id that no other thing of this process has.
fn new_id(prefix: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0x0a1b_2c3d_0000_0001);
    format!("{prefix}-0{:016x}", NEXT.fetch_add(1, Ordering::Relaxed))
}
