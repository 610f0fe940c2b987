//! Answers that say less than was asked, and what their evidence is: rows D-7, D-17, D-30.

use jiff::Timestamp;
use zonewarden_contract::attachment::{AttachmentState, InstanceState};
use zonewarden_contract::types::{AwsVolumeId, InstanceId, Label, VolumeState, Zone};
use zonewarden_ec2::{Attachment, BlockDevice, Ec2, Evidence, Question, Volume as Record};
use zonewarden_ec2_double::{Action, Double, Fault, Instance, Operator, Volume};

use super::scripted::Server;
use crate::{ZONE, about_volumes, codes, connect, instance, options, running, shapes, verdicts, volume, with_volumes};

fn label(key: &str, value: &str) -> Label {
    Label { key: key.to_owned(), value: value.to_owned() }
}

#[tokio::test]
async fn a_volume_and_its_instance_whole() {
    let double = Double::start().await;
    double.with(|world| {
        let mut described = Volume::new(volume(1), ZONE);
        described.zone_id = Some("use1-az6".to_owned());
        described.volume_type = "io2".to_owned();
        described.multi_attach = true;
        described.tags.insert("b".to_owned(), "2".to_owned());
        described.tags.insert("a".to_owned(), String::new());
        world.add_volume(described);
        world.add_instance(running(1));
        world.put_attached(&volume(1), &instance(1), "/dev/xvdaa");
    });
    let attached = double.with(|world| world.volume(&volume(1)).unwrap().attachments[0].attached);
    let ec2 = connect(&double).await;
    let question = Question { instances: vec![InstanceId { instance_id: instance(1) }], ..about_volumes([volume(1)]) };
    let before = Timestamp::now();
    let sweep = ec2.sweep(&question).await;
    let Evidence::Found { observed_at, record } = &sweep.volumes[0] else { panic!("{sweep:?}") };
    assert!(before <= *observed_at && *observed_at <= Timestamp::now());
    assert_eq!(record.attachments[0].attached.map(|at| at.as_second()), Some(attached.as_second()));
    let expected = Record {
        id: AwsVolumeId { aws_volume_id: volume(1) },
        zone: Some(Zone { zone: ZONE.to_owned() }),
        state: VolumeState::InUse,
        multi_attach: true,
        attachments: vec![Attachment {
            instance: Some(InstanceId { instance_id: instance(1) }),
            state: AttachmentState::Attached,
            device: Some("/dev/xvdaa".to_owned()),
            attached: record.attachments[0].attached,
            associated_resource: None,
            owning_service: None,
        }],
        attributes: vec![label("availability-zone-id", "use1-az6"), label("volume-type", "io2")],
        tags: vec![label("a", ""), label("b", "2")],
    };
    assert_eq!(*record, expected);
    let described = sweep.instances[0].record().unwrap();
    assert_eq!(described.private_dns_name.as_deref(), Some("ip-10-0-0-1.ec2.internal"));
    assert_eq!(described.state, InstanceState::Running);
    let device = BlockDevice {
        device: Some("/dev/xvdaa".to_owned()),
        volume: AwsVolumeId { aws_volume_id: volume(1) },
        state: AttachmentState::Attached,
    };
    assert_eq!(described.block_devices, [device]);
    assert_eq!(sweep.problems, []);
}

#[tokio::test]
async fn an_empty_question_costs_nothing() {
    let (double, ec2) = with_volumes(1).await;
    let sweep = ec2.sweep(&Question::default()).await;
    assert_eq!((sweep.volumes, sweep.instances, sweep.names, sweep.problems), (vec![], vec![], vec![], vec![]));
    assert_eq!(double.calls(), []);
}

#[tokio::test]
async fn evidence_is_as_old_as_the_question() {
    let (double, ec2) = with_volumes(1).await;
    double.fault_next(Action::DescribeVolumes, [Fault::Slow(std::time::Duration::from_millis(60))]);
    let before = Timestamp::now();
    let sweep = ec2.sweep(&about_volumes([volume(0)])).await;
    let Evidence::Found { observed_at, .. } = &sweep.volumes[0] else { panic!("{sweep:?}") };
    let age = Timestamp::now().duration_since(*observed_at);
    assert!(*observed_at >= before && age.as_millis() >= 60, "the answer was {age:?} under way");
}

#[tokio::test]
async fn d_7_what_an_answer_by_id_leaves_out_is_unknown() {
    let (double, ec2) = with_volumes(3).await;
    double.fault_next(Action::DescribeVolumes, [Fault::LeaveOut(vec![volume(1)]), Fault::Empty]);
    let question = about_volumes((0..3).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "unknown: not-listed", "found"]);
    assert_eq!(codes(&sweep), ["partial"]);
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes), ["unknown: not-listed"; 3]);
    assert_eq!(double.count(Action::DescribeVolumes), 2, "nobody asks on");
}

#[tokio::test]
async fn d_7_an_answer_without_a_list_proves_nothing() {
    let (double, _) = with_volumes(2).await;
    double.with(|world| world.remove_volume(&volume(1)));
    let listless = |form: &str, answer: String| match form.contains("Filter.1") {
        true => answer.replace("<volumeSet></volumeSet>", ""),
        false => answer,
    };
    let proxy = Server::retelling(double.address(), listless).await;
    let ec2 = Ec2::connect(&options(proxy.endpoint())).await.unwrap();
    let question = about_volumes((0..2).map(volume));
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "missing"], "only the error by id says so");
    let sweep = ec2.sweep(&question).await;
    assert_eq!(verdicts(&sweep.volumes), ["found", "unknown: incomplete"], "and nothing says so now");
    assert_eq!(
        shapes(&double, Action::DescribeVolumes),
        ["2 ids", "1 ids", "1 by volume-id", "1 ids", "1 by volume-id"]
    );
}

#[tokio::test]
async fn d_17_both_apis_are_told_where_they_disagree() {
    let double = Double::start().await;
    double.with(|world| {
        world.add_volume(Volume::new(volume(1), ZONE));
        world.add_instance(running(1));
        world.put_attached(&volume(1), &instance(1), "/dev/xvdaa");
        world.edit_instance(&instance(1), |instance| {
            instance.state = zonewarden_ec2_double::InstanceState::Terminated;
            instance.block_devices = Some(vec![]);
        });
    });
    let ec2 = connect(&double).await;
    let id = InstanceId { instance_id: instance(1) };
    let question = Question { instances: vec![id.clone()], ..about_volumes([volume(1)]) };
    let sweep = ec2.sweep(&question).await;
    assert_eq!(sweep.volumes[0].attached_to(&id), zonewarden_ec2::Verification::Attached);
    let described = sweep.instances[0].record().unwrap();
    let mapping = described.mapping(&AwsVolumeId { aws_volume_id: volume(1) });
    assert_eq!((&described.state, mapping), (&InstanceState::Terminated, None));
}

#[tokio::test]
async fn d_30_what_a_service_manages_and_hides_is_not_missing() {
    let double = Double::start().await;
    let operator = Operator { principal: "eks.amazonaws.com".to_owned(), hidden: true };
    double.with(|world| {
        let mut hidden = Volume::new(volume(1), ZONE);
        hidden.operator = Some(operator.clone());
        world.add_volume(hidden);
        let hidden = Instance { operator: Some(operator), ..running(1) };
        world.add_instance(hidden);
    });
    let ec2 = connect(&double).await;
    let question = Question { instances: vec![InstanceId { instance_id: instance(1) }], ..about_volumes([volume(1)]) };
    let sweep = ec2.sweep(&question).await;
    assert_eq!((verdicts(&sweep.volumes), verdicts(&sweep.instances)), (vec!["found".into()], vec!["found".into()]));
    let attributes = &sweep.volumes[0].record().unwrap().attributes;
    assert_eq!(*attributes, [label("operator", "eks.amazonaws.com"), label("volume-type", "gp3")]);
}
