//! What the AWS CLI prints.

use serde_json::{Value, json};

use super::{Size, instance_id, is_terminated, is_waiting, node_name, node_of_volume, volume_id, zone};

/// An element of `Volumes`.
pub(super) fn volume(size: Size, number: usize) -> Value {
    let node = node_of_volume(size, number);
    let attachment = json!({
        "AttachTime": "2026-11-03T09:12:50+00:00", "DeleteOnTermination": false, "Device": "/dev/xvdaa",
        "InstanceId": instance_id(node), "State": "attached", "VolumeId": volume_id(number),
    });
    let is_free = is_waiting(number) || is_terminated(node);
    json!({
        "Attachments": if is_free { json!([]) } else { json!([attachment]) },
        "AvailabilityZone": zone(node), "AvailabilityZoneId": "use1-az1", "CreateTime": "2026-11-03T09:11:12.431000+00:00",
        "Encrypted": true, "Iops": 3000, "KmsKeyId": "arn:aws:kms:us-east-1:111122223333:key/0d6f7c1e-6a52-4a52-9b0e-2f6f0c7a1b01",
        "MultiAttachEnabled": false, "Operator": { "Managed": false }, "Size": 20, "SnapshotId": "",
        "State": if is_free { "available" } else { "in-use" }, "Tags": tags(number), "Throughput": 125,
        "VolumeId": volume_id(number), "VolumeType": "gp3",
    })
}

fn tags(number: usize) -> Value {
    let tag = |key: &str, value: String| json!({ "Key": key, "Value": value });
    json!([
        tag("kubernetes.io/cluster/demo", "owned".to_owned()),
        tag("ebs.csi.aws.com/cluster", "true".to_owned()),
        tag("kubernetes.io/created-for/pvc/name", format!("data-app-{number}")),
        tag("kubernetes.io/created-for/pvc/namespace", format!("team-{}", number % 40)),
        tag("kubernetes.io/created-for/pv/name", super::persistent_volume_name(number)),
        tag("Name", format!("demo-dynamic-{number}")),
    ])
}

/// An element of `Reservations`, with one instance.
pub(super) fn reservation(size: Size, node: usize) -> Value {
    let is_dead = is_terminated(node);
    let mapping = |device: String, volume: String| {
        json!({ "DeviceName": device, "Ebs": { "AttachTime": "2026-11-03T09:12:50+00:00", "DeleteOnTermination": false,
                                               "Status": "attached", "VolumeId": volume } })
    };
    let held = (0..size.volumes).filter(|number| node_of_volume(size, *number) == node && !is_waiting(*number));
    let mut mappings = vec![mapping("/dev/xvda".to_owned(), format!("vol-0e7f90123{node:08x}"))];
    mappings.extend(held.map(|number| mapping("/dev/xvdaa".to_owned(), volume_id(number))));
    if is_dead {
        mappings.clear();
    }
    let instance = json!({
        "AmiLaunchIndex": 0, "Architecture": "x86_64", "BlockDeviceMappings": mappings, "EbsOptimized": true,
        "Hypervisor": "xen", "ImageId": "ami-0d1e2f3a4b5c6d7e8", "InstanceId": instance_id(node),
        "InstanceType": "m6i.large", "LaunchTime": "2026-11-02T07:38:44+00:00",
        "MetadataOptions": { "HttpEndpoint": "enabled", "HttpPutResponseHopLimit": 2, "HttpTokens": "required" },
        "NetworkInterfaces": [{
            "Attachment": { "AttachTime": "2026-11-02T07:38:44+00:00", "DeviceIndex": 0, "Status": "attached" },
            "Groups": [{ "GroupId": "sg-0a1b2c3d4e5f60718", "GroupName": "nodes" }],
            "PrivateIpAddress": "10.0.1.11", "SubnetId": "subnet-0a1b2c3d4e5f60718", "VpcId": "vpc-0a1b2c3d4e5f60718",
        }],
        "Placement": { "AvailabilityZone": zone(node), "GroupName": "", "Tenancy": "default" },
        "PrivateDnsName": node_name(node), "RootDeviceName": "/dev/xvda", "RootDeviceType": "ebs",
        "SecurityGroups": [{ "GroupId": "sg-0a1b2c3d4e5f60718", "GroupName": "nodes" }],
        "State": if is_dead { json!({ "Code": 48, "Name": "terminated" }) } else { json!({ "Code": 16, "Name": "running" }) },
        "Tags": [{ "Key": "kubernetes.io/cluster/demo", "Value": "owned" }],
    });
    json!({ "Groups": [], "Instances": [instance], "OwnerId": "111122223333", "ReservationId": format!("r-0a11c3d5e{node:08x}") })
}
