//! The demo's EC2, read whole.

use std::path::Path;

use zonewarden_contract::attachment::InstanceState;
use zonewarden_ec2::load;

#[test]
fn the_demo_is_read_without_a_problem() {
    let folder = Path::new("../../examples/demo/ec2");
    let loaded = load(&[folder.join("volumes.json"), folder.join("instances.json")]);
    assert_eq!(loaded.problems, []);
    assert_eq!((loaded.volumes.len(), loaded.instances.len()), (9, 7));
    let dead = loaded.instances.values().filter(|instance| instance.state == InstanceState::Terminated);
    assert_eq!(dead.map(|instance| &*instance.id.instance_id).collect::<Vec<_>>(), ["i-0a12d4e6f80123456"]);
}
