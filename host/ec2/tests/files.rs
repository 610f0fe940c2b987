//! What `aws` prints, good and bad.

#![allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]

use std::path::Path;

use jiff::Timestamp;
use proptest::prelude::*;
use zonewarden_contract::attachment::{AttachmentState, InstanceState};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, Label, VolumeState, Zone};
use zonewarden_ec2::{
    Attachment, BlockDevice, Evidence, Files, Instance, Loaded, Question, UnknownCause, Volume, load, parse,
};

const VOLUMES: &str = r#"{
    "Volumes": [
        {
            "AvailabilityZoneId": "use1-az6",
            "VolumeType": "gp3",
            "MultiAttachEnabled": false,
            "VolumeId": "vol-1",
            "Size": 10,
            "AvailabilityZone": "us-east-1a",
            "State": "in-use",
            "CreateTime": "2026-11-03T09:12:44.108000+00:00",
            "Operator": {"Managed": true, "Principal": "eks.amazonaws.com"},
            "Attachments": [
                {
                    "DeleteOnTermination": false,
                    "VolumeId": "vol-1",
                    "InstanceId": "i-1",
                    "Device": "/dev/xvdaa",
                    "State": "attached",
                    "AttachTime": "2026-11-03T09:13:02+00:00"
                }
            ],
            "Tags": [{"Key": "b", "Value": "2"}, {"Key": "a", "Value": ""}]
        }
    ]
}"#;

fn label(key: &str, value: &str) -> Label {
    Label { key: key.to_owned(), value: value.to_owned() }
}

fn volume_id(id: &str) -> AwsVolumeId {
    AwsVolumeId { aws_volume_id: id.to_owned() }
}

fn instance_id(id: &str) -> InstanceId {
    InstanceId { instance_id: id.to_owned() }
}

fn bare_volume(id: &str) -> Volume {
    Volume {
        id: volume_id(id),
        zone: None,
        state: VolumeState::Available,
        multi_attach: false,
        attachments: vec![],
        attributes: vec![],
        tags: vec![],
    }
}

fn problems(loaded: &Loaded) -> Vec<String> {
    loaded.problems.iter().map(ToString::to_string).collect()
}

/// The ids of what a text holds, and its problems.
fn check(text: impl AsRef<[u8]>, volumes: &[&str], instances: &[&str], expected: &[&str]) -> Loaded {
    let loaded = parse(text.as_ref(), "f");
    assert_eq!(loaded.volumes.keys().collect::<Vec<_>>(), volumes);
    assert_eq!(loaded.instances.keys().collect::<Vec<_>>(), instances);
    assert_eq!(problems(&loaded), expected);
    loaded
}

#[test]
fn a_volume_whole() {
    let loaded = check(VOLUMES, &["vol-1"], &[], &[]);
    let expected = Volume {
        zone: Some(Zone { zone: "us-east-1a".to_owned() }),
        state: VolumeState::InUse,
        attachments: vec![Attachment {
            instance: Some(instance_id("i-1")),
            state: AttachmentState::Attached,
            device: Some("/dev/xvdaa".to_owned()),
            attached: Some("2026-11-03T09:13:02Z".parse().unwrap()),
            associated_resource: None,
            owning_service: None,
        }],
        attributes: vec![
            label("availability-zone-id", "use1-az6"),
            label("operator", "eks.amazonaws.com"),
            label("volume-type", "gp3"),
        ],
        tags: vec![label("a", ""), label("b", "2")],
        ..bare_volume("vol-1")
    };
    assert_eq!(loaded.volumes["vol-1"], expected);
}

#[test]
fn an_instance_whole() {
    let text = r#"{"Reservations":[{"Groups":[],"Instances":[{"InstanceId":"i-1","State":{"Code":16,"Name":"running"},
        "Placement":{"AvailabilityZone":"us-east-1a"},"PrivateDnsName":"ip-10-0-0-1.ec2.internal",
        "Tags":[{"Key":"Name","Value":"a"}],"BlockDeviceMappings":[{"DeviceName":"/dev/xvda",
        "Ebs":{"VolumeId":"vol-1","Status":"attached"}},{"DeviceName":"/dev/sdb"}]}]}]}"#;
    let loaded = check(text, &[], &["i-1"], &[]);
    let expected = Instance {
        id: instance_id("i-1"),
        state: InstanceState::Running,
        zone: Some(Zone { zone: "us-east-1a".to_owned() }),
        private_dns_name: Some("ip-10-0-0-1.ec2.internal".to_owned()),
        tags: vec![label("Name", "a")],
        block_devices: vec![BlockDevice {
            device: Some("/dev/xvda".to_owned()),
            volume: volume_id("vol-1"),
            state: AttachmentState::Attached,
        }],
    };
    assert_eq!(loaded.instances["i-1"], expected);
    assert_eq!(expected.mapping(&volume_id("vol-1")), Some(&AttachmentState::Attached));
    assert_eq!(expected.mapping(&volume_id("vol-2")), None);
}

#[test]
fn every_state_and_those_to_come() {
    use VolumeState::{Available, Creating, Deleted, Deleting, Error, InUse, Other};
    for (text, state) in [
        ("creating", Creating),
        ("available", Available),
        ("in-use", InUse),
        ("deleting", Deleting),
        ("deleted", Deleted),
        ("error", Error),
        ("hibernating", Other("hibernating".to_owned())),
    ] {
        let loaded = parse(format!(r#"{{"Volumes":[{{"VolumeId":"v","State":"{text}"}}]}}"#).as_bytes(), "f");
        assert_eq!(loaded.volumes["v"], Volume { state, ..bare_volume("v") });
    }
    for (text, state) in [
        ("attaching", AttachmentState::Attaching),
        ("attached", AttachmentState::Attached),
        ("detaching", AttachmentState::Detaching),
        ("detached", AttachmentState::Detached),
        ("busy", AttachmentState::Busy),
        ("floating", AttachmentState::Other("floating".to_owned())),
    ] {
        let text = format!(r#"{{"Volumes":[{{"VolumeId":"v","Attachments":[{{"State":"{text}"}}]}}]}}"#);
        let loaded = parse(text.as_bytes(), "f");
        let Attachment { state: found, instance, .. } = &loaded.volumes["v"].attachments[0];
        assert_eq!((found, instance), (&state, &None));
    }
    for (text, state) in [
        ("pending", InstanceState::Pending),
        ("running", InstanceState::Running),
        ("shutting-down", InstanceState::ShuttingDown),
        ("terminated", InstanceState::Terminated),
        ("stopping", InstanceState::Stopping),
        ("stopped", InstanceState::Stopped),
        ("asleep", InstanceState::Other("asleep".to_owned())),
    ] {
        let loaded = parse(format!(r#"[{{"InstanceId":"i","State":{{"Name":"{text}"}}}}]"#).as_bytes(), "f");
        assert_eq!(loaded.instances["i"].state, state);
    }
}

#[test]
fn an_empty_zone_is_none() {
    let loaded = parse(br#"{"Volumes":[{"VolumeId":"v","AvailabilityZone":"","State":"available"}]}"#, "f");
    assert_eq!(loaded.volumes["v"], bare_volume("v"));
}

#[test]
fn pages_bare_lists_and_yaml() {
    check(format!("{VOLUMES}\n{{\"Volumes\": [{{\"VolumeId\": \"vol-2\"}}]}}"), &["vol-1", "vol-2"], &[], &[]);
    check("Volumes:\n- VolumeId: v\n  Tags: []\n- VolumeId: w\n", &["v", "w"], &[], &[]);
    check(r#"[{"VolumeId":"v"},{"InstanceId":"i"},{"Instances":[{"InstanceId":"j"}]}]"#, &["v"], &["i", "j"], &[]);
    check(r#"{"Volumes":[]}"#, &[], &[], &[]);
    check("[]", &[], &[], &[]);
    check(
        r#"{"Volumes":[{"VolumeId":"v"}],"NextToken":"abc"}"#,
        &["v"],
        &[],
        &["f, document 1, line 1, column 1: NextToken says that there are more pages than this one; \
         what they list is unknown here"],
    );
}

#[test]
fn bad_input_costs_itself_only() {
    check(
        "",
        &[],
        &[],
        &["f: there is nothing in it; aws ec2 describe-volumes and describe-instances print what is read here"],
    );
    check(
        r#"{"Volumes":[{"VolumeId":"v"},{"VolumeId":"#,
        &["v"],
        &[],
        &["f, document 1, line 1, column 30: the text ends before this value does; what stood before it was read"],
    );
    check(
        r#"{"Volumes":[{"State":"available"},{"VolumeId":"v"},{"VolumeId":""}]}"#,
        &["v"],
        &[],
        &[
            "f, document 1, line 1, column 33: volume: missing field `VolumeId`",
            "f, document 1, line 1, column 52: volume: VolumeId: is empty; EC2 gives every one an id",
        ],
    );
    check(
        r#"{"Volumes":[{"VolumeId":"v","State":5},{"VolumeId":"w"}]}"#,
        &["w"],
        &[],
        &["f, document 1, line 1, column 37: volume v: State: invalid type: integer `5`, expected a string"],
    );
    check(
        r#"{"Volumes":[{"VolumeId":"v"},{"VolumeId":"v","State":"error"}]}"#,
        &["v"],
        &[],
        &[
            "f, document 1, line 1, column 30: volume v: stands at f, document 1, line 1, column 13 too; the later one is used",
        ],
    );
    check(
        r#"{"kind":"List","items":[]}"#,
        &[],
        &[],
        &["f, document 1, line 1, column 1: there is neither a list Volumes nor a list Reservations; \
         aws ec2 describe-volumes and describe-instances print what is read here"],
    );
    check(format!("\u{feff}{VOLUMES}").replace('\n', "\r\n"), &["vol-1"], &[], &[]);
    let units = format!("\u{feff}{VOLUMES}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
    check(units, &["vol-1"], &[], &[]);
    let loaded = load(&["no/such.json".into(), "src".into()]);
    let codes: Vec<_> = loaded.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["file-missing", "file-is-directory"]);
}

#[test]
fn what_no_file_lists_is_unknown() {
    let files = Files { loaded: parse(VOLUMES.as_bytes(), "f"), observed_at: Timestamp::UNIX_EPOCH };
    let question = Question {
        volumes: vec![volume_id("vol-2"), volume_id("vol-1")],
        instances: vec![instance_id("i-1")],
        names: vec![],
    };
    let sweep = files.sweep(&question);
    let record = files.loaded.volumes["vol-1"].clone();
    assert_eq!(
        sweep.volumes,
        [Evidence::Unknown(UnknownCause::NotListed), Evidence::Found { observed_at: Timestamp::UNIX_EPOCH, record },]
    );
    assert_eq!(sweep.instances, [Evidence::Unknown(UnknownCause::NotAsked)]);
    assert_eq!(sweep.problems, []);
}

#[test]
fn files_are_read_as_of_a_moment() {
    let folder = Path::new("../../examples/demo/ec2");
    let paths = [folder.join("volumes.json")];
    let files = Files::load(&paths, Timestamp::UNIX_EPOCH);
    assert_eq!((files.loaded, files.observed_at), (load(&paths), Timestamp::UNIX_EPOCH));
}

proptest! {
    #[test]
    fn any_bytes_give_records_or_problems(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let loaded = parse(&bytes, "f");
        let has_something = !loaded.volumes.is_empty() || !loaded.problems.is_empty();
        let is_empty_list = std::str::from_utf8(&bytes).is_ok_and(|text| text.contains("[]"));
        prop_assert!(has_something || is_empty_list);
    }

    #[test]
    fn any_damage_to_a_good_file_is_survived(at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>()) {
        let mut bytes = VOLUMES.as_bytes().to_vec();
        let length = bytes.len();
        bytes[at % length] = byte;
        bytes.truncate(length - cut % 100);
        let loaded = parse(&bytes, "f");
        prop_assert!(!loaded.volumes.is_empty() || !loaded.problems.is_empty());
    }
}
