//! Whole documents.

use zonewarden_ec2_double::{Action, AttachmentState, Operator};

use super::client::{D2, GONE, I1, I2, V1, V2, ask, form, raw, seconds, small_world};

/// A document written over several lines for people.
fn document(lines: &str) -> String {
    let body: String = lines.lines().map(str::trim).collect();
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{body}")
}

#[tokio::test]
async fn a_volume_with_everything() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V1, |volume| {
            volume.zone_id = Some("use1-az6".to_owned());
            volume.multi_attach = true;
            volume.volume_type = "io2".to_owned();
            volume.size = 80;
            volume.created = "2026-11-01T09:30:00.5Z".parse().expect("a time");
            volume.outpost_arn = Some("arn:aws:outposts:us-east-1:111122223333:outpost/op-1".to_owned());
            volume.operator = Some(Operator { principal: "eks.amazonaws.com".to_owned(), hidden: false });
            volume.tags.insert("kubernetes.io/cluster/a".to_owned(), "owned & \"kept\"".to_owned());
            volume.attachments[0].delete_on_termination = true;
        })
    });
    let expected = document(
        r#"<DescribeVolumesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
            <requestId>00000000-0000-4000-8000-000000000001</requestId>
            <volumeSet>
                <item>
                    <volumeId>vol-00000000000000001</volumeId>
                    <size>80</size>
                    <snapshotId/>
                    <availabilityZone>us-east-1a</availabilityZone>
                    <availabilityZoneId>use1-az6</availabilityZoneId>
                    <outpostArn>arn:aws:outposts:us-east-1:111122223333:outpost/op-1</outpostArn>
                    <status>in-use</status>
                    <createTime>2026-11-01T09:30:00.500Z</createTime>
                    <attachmentSet>
                        <item>
                            <volumeId>vol-00000000000000001</volumeId>
                            <instanceId>i-00000000000000001</instanceId>
                            <device>/dev/xvdaa</device>
                            <status>attached</status>
                            <attachTime>2026-11-03T12:00:00.000Z</attachTime>
                            <deleteOnTermination>true</deleteOnTermination>
                        </item>
                    </attachmentSet>
                    <tagSet>
                        <item>
                            <key>kubernetes.io/cluster/a</key>
                            <value>owned &amp; &quot;kept&quot;</value>
                        </item>
                    </tagSet>
                    <volumeType>io2</volumeType>
                    <encrypted>false</encrypted>
                    <multiAttachEnabled>true</multiAttachEnabled>
                    <operator>
                        <managed>true</managed>
                        <principal>eks.amazonaws.com</principal>
                    </operator>
                </item>
            </volumeSet>
        </DescribeVolumesResponse>"#,
    );
    assert_eq!(ask(&ec2, Action::DescribeVolumes, &[("VolumeId.1", V1)]).await, (200, expected));
}

#[tokio::test]
async fn an_attachment_that_a_service_holds_has_no_instance() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V1, |volume| {
            let attachment = &mut volume.attachments[0];
            attachment.instance = None;
            attachment.state = AttachmentState::Other("frozen".to_owned());
            attachment.associated_resource = Some("arn:aws:sagemaker:us-east-1:111122223333:cluster/c".to_owned());
            attachment.owning_service = Some("sagemaker.amazonaws.com".to_owned());
        })
    });
    let (status, body) = ask(&ec2, Action::DescribeVolumes, &[("VolumeId.1", V1)]).await;
    let expected = "<attachmentSet><item><volumeId>vol-00000000000000001</volumeId>\
        <instanceOwningService>sagemaker.amazonaws.com</instanceOwningService>\
        <associatedResource>arn:aws:sagemaker:us-east-1:111122223333:cluster/c</associatedResource>\
        <device>/dev/xvdaa</device><status>frozen</status><attachTime>2026-11-03T12:00:00.000Z</attachTime>\
        <deleteOnTermination>false</deleteOnTermination></item></attachmentSet>";
    assert_eq!(status, 200);
    assert!(body.contains(expected), "{body}");
}

#[tokio::test]
async fn an_instance_with_its_devices() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_instance(I1, |instance| {
            instance.tags.insert("Name".to_owned(), "worker".to_owned());
        })
    });
    let expected = document(
        r#"<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
            <requestId>00000000-0000-4000-8000-000000000001</requestId>
            <reservationSet>
                <item>
                    <reservationId>r-00000000000000001</reservationId>
                    <ownerId>111122223333</ownerId>
                    <groupSet></groupSet>
                    <instancesSet>
                        <item>
                            <instanceId>i-00000000000000001</instanceId>
                            <instanceState><code>16</code><name>running</name></instanceState>
                            <privateDnsName>ip-10-0-0-1.ec2.internal</privateDnsName>
                            <dnsName/>
                            <instanceType>m6i.large</instanceType>
                            <launchTime>1970-01-01T00:00:00.000Z</launchTime>
                            <placement>
                                <availabilityZone>us-east-1a</availabilityZone>
                                <groupName/>
                                <tenancy>default</tenancy>
                            </placement>
                            <blockDeviceMapping>
                                <item>
                                    <deviceName>/dev/xvdaa</deviceName>
                                    <ebs>
                                        <volumeId>vol-00000000000000001</volumeId>
                                        <status>attached</status>
                                        <attachTime>2026-11-03T12:00:00.000Z</attachTime>
                                        <deleteOnTermination>false</deleteOnTermination>
                                    </ebs>
                                </item>
                            </blockDeviceMapping>
                            <tagSet><item><key>Name</key><value>worker</value></item></tagSet>
                            <operator><managed>false</managed></operator>
                        </item>
                    </instancesSet>
                </item>
            </reservationSet>
        </DescribeInstancesResponse>"#,
    );
    assert_eq!(ask(&ec2, Action::DescribeInstances, &[("InstanceId.1", I1)]).await, (200, expected));
}

#[tokio::test]
async fn an_error() {
    let ec2 = small_world().await;
    let expected = document(
        "<Response>
            <Errors>
                <Error>
                    <Code>InvalidVolume.NotFound</Code>
                    <Message>The volume &apos;vol-0000000000000dead&apos; does not exist.</Message>
                </Error>
            </Errors>
            <RequestID>00000000-0000-4000-8000-000000000001</RequestID>
        </Response>",
    );
    assert_eq!(ask(&ec2, Action::DescribeVolumes, &[("VolumeId.1", GONE)]).await, (400, expected));
}

#[tokio::test]
async fn attach_detach_and_terminate() {
    let ec2 = small_world().await;
    let attach = [("VolumeId", V2), ("InstanceId", I2), ("Device", D2)];
    let expected = document(
        r#"<AttachVolumeResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
            <requestId>00000000-0000-4000-8000-000000000001</requestId>
            <volumeId>vol-00000000000000002</volumeId>
            <instanceId>i-00000000000000002</instanceId>
            <device>/dev/xvdab</device>
            <status>attaching</status>
            <attachTime>2026-11-03T12:00:00.000Z</attachTime>
            <deleteOnTermination>false</deleteOnTermination>
        </AttachVolumeResponse>"#,
    );
    assert_eq!(ask(&ec2, Action::AttachVolume, &attach).await, (200, expected));
    ec2.advance(seconds(2));
    let expected = document(
        r#"<DetachVolumeResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
            <requestId>00000000-0000-4000-8000-000000000002</requestId>
            <volumeId>vol-00000000000000002</volumeId>
            <instanceId>i-00000000000000002</instanceId>
            <device>/dev/xvdab</device>
            <status>detaching</status>
            <attachTime>2026-11-03T12:00:00.000Z</attachTime>
            <deleteOnTermination>false</deleteOnTermination>
        </DetachVolumeResponse>"#,
    );
    assert_eq!(ask(&ec2, Action::DetachVolume, &[("VolumeId", V2), ("InstanceId", I2)]).await, (200, expected));
    let expected = document(
        r#"<TerminateInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
            <requestId>00000000-0000-4000-8000-000000000003</requestId>
            <instancesSet>
                <item>
                    <instanceId>i-00000000000000001</instanceId>
                    <currentState><code>32</code><name>shutting-down</name></currentState>
                    <previousState><code>16</code><name>running</name></previousState>
                </item>
            </instancesSet>
        </TerminateInstancesResponse>"#,
    );
    assert_eq!(ask(&ec2, Action::TerminateInstances, &[("InstanceId.1", I1)]).await, (200, expected));
}

#[tokio::test]
async fn the_head_of_an_answer_tells_the_double_s_time_and_the_request() {
    let ec2 = small_world().await;
    let answer = raw(&ec2, form("DescribeVolumes", &[])).await.expect("an answer");
    let (head, _) = answer.split_once("\r\n\r\n").expect("a head");
    let mut lines: Vec<&str> = head.lines().filter(|line| !line.starts_with("content-length")).collect();
    lines.sort_unstable();
    let expected = [
        "HTTP/1.1 200 OK",
        "connection: close",
        "content-type: text/xml;charset=UTF-8",
        "date: Tue, 03 Nov 2026 12:00:00 GMT",
        "server: AmazonEC2",
        "x-amzn-requestid: 00000000-0000-4000-8000-000000000001",
    ];
    assert_eq!(lines, expected);
}
