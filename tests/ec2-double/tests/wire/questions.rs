//! What may be asked, and what is refused.

use zonewarden_ec2_double::{Action, Filter, Naming, Parameters};

use super::client::{GONE, GONE_TOO, I1, I2, V1, V2, V3, error, form, raw, refused, small_world, texts, told, volumes};

const VOLUMES: Action = Action::DescribeVolumes;
const INSTANCES: Action = Action::DescribeInstances;

#[tokio::test]
async fn missing_ids_are_named_as_it_is_set() {
    let ec2 = small_world().await;
    let ids = [("VolumeId.1", V1), ("VolumeId.2", GONE_TOO), ("VolumeId.3", GONE)];
    let one = error(400, "InvalidVolume.NotFound", "The volume 'vol-0000000000001dead' does not exist.");
    assert_eq!(refused(&ec2, VOLUMES, &ids).await, one);
    ec2.with(|world| world.naming = Naming::All);
    let text = "The volumes 'vol-0000000000000dead, vol-0000000000001dead' do not exist.";
    assert_eq!(refused(&ec2, VOLUMES, &ids).await, error(400, "InvalidVolume.NotFound", text));
    let ids = [("InstanceId.1", "i-0000000000000dead"), ("InstanceId.2", I1), ("InstanceId.3", "i-0000000000001dead")];
    let text = "The instance IDs 'i-0000000000000dead, i-0000000000001dead' do not exist";
    assert_eq!(refused(&ec2, INSTANCES, &ids).await, error(400, "InvalidInstanceID.NotFound", text));
    let text = "The instance ID 'i-0000000000000dead' does not exist";
    assert_eq!(refused(&ec2, INSTANCES, &ids[..1]).await, error(400, "InvalidInstanceID.NotFound", text));
}

#[tokio::test]
async fn more_than_a_thousand_ids_are_refused() {
    let ec2 = small_world().await;
    let ids = |count: usize| -> Vec<(String, &str)> { (1..=count).map(|n| (format!("VolumeId.{n}"), V1)).collect() };
    for (count, expected) in [(1000, 200), (1001, 400)] {
        let ids = ids(count);
        let parameters: Vec<(&str, &str)> = ids.iter().map(|(key, id)| (key.as_str(), *id)).collect();
        let (status, body) = super::client::ask(&ec2, VOLUMES, &parameters).await;
        assert_eq!(status, expected, "{count}: {body}");
    }
}

#[tokio::test]
async fn more_than_two_hundred_filter_values_are_refused() {
    let ec2 = small_world().await;
    let names: Vec<String> = (1..=201).map(|n| format!("Filter.1.Value.{n}")).collect();
    let mut parameters = vec![("Filter.1.Name", "volume-id")];
    parameters.extend(names.iter().map(|name| (name.as_str(), V1)));
    let text = "The maximum number of filter values specified on a single call is 200";
    assert_eq!(refused(&ec2, VOLUMES, &parameters).await, error(400, "FilterLimitExceeded", text));
    parameters.pop();
    assert_eq!(volumes(&told(&ec2, VOLUMES, &parameters).await), [format!("{V1} in-use {I1}:attached")]);
}

#[tokio::test]
async fn ids_and_pages_do_not_go_together() {
    let ec2 = small_world().await;
    let text = "The parameter volumes cannot be used with the parameter maxResults";
    let asked = [("VolumeId.1", V1), ("MaxResults", "5")];
    assert_eq!(refused(&ec2, VOLUMES, &asked).await, error(400, "InvalidParameterCombination", text));
    let text = "The parameter instancesSet cannot be used with the parameter maxResults";
    let asked = [("InstanceId.1", I1), ("MaxResults", "5")];
    assert_eq!(refused(&ec2, INSTANCES, &asked).await, error(400, "InvalidParameterCombination", text));
}

#[tokio::test]
async fn the_size_of_a_page_has_bounds() {
    let ec2 = small_world().await;
    let cases = [
        ("4", "Value ( 4 ) for parameter maxResults is invalid. Expecting a value greater than 5."),
        ("1001", "Value ( 1001 ) for parameter maxResults is invalid. Expecting a value less than 1000."),
        ("many", "Value ( many ) for parameter maxResults is invalid. Expecting a number."),
    ];
    for (size, text) in cases {
        let answer = refused(&ec2, VOLUMES, &[("MaxResults", size)]).await;
        assert_eq!(answer, error(400, "InvalidParameterValue", text));
    }
    assert_eq!(volumes(&told(&ec2, VOLUMES, &[("MaxResults", "1000")]).await).len(), 3);
}

#[tokio::test]
async fn filters_of_volumes() {
    let ec2 = small_world().await;
    ec2.with(|world| {
        world.edit_volume(V2, |volume| {
            volume.tags.insert("Name".to_owned(), "data-1".to_owned());
            volume.zone = "us-east-1b".to_owned();
        })
    });
    let cases: [(&str, &[&str], &[&str]); 8] = [
        ("volume-id", &[V1, V3, GONE], &[V1, V3]),
        ("attachment.instance-id", &[I1, I2], &[V1]),
        ("attachment.status", &["attached"], &[V1]),
        ("status", &["available"], &[V2, V3]),
        ("availability-zone", &["us-east-1b"], &[V2]),
        ("tag:Name", &["data-*"], &[V2]),
        ("tag:Name", &["data-??"], &[]),
        ("tag-key", &["Name"], &[V2]),
    ];
    for (name, values, expected) in cases {
        let keys: Vec<String> = (1..=values.len()).map(|n| format!("Filter.1.Value.{n}")).collect();
        let mut parameters = vec![("Filter.1.Name", name)];
        parameters.extend(keys.iter().map(String::as_str).zip(values.iter().copied()));
        let body = told(&ec2, VOLUMES, &parameters).await;
        let ids: Vec<String> = volumes(&body).iter().map(|line| line[..21].to_owned()).collect();
        assert_eq!(ids, expected, "{name} {values:?}");
    }
}

#[tokio::test]
async fn several_filters_must_all_match_and_ids_too() {
    let ec2 = small_world().await;
    let filters = [
        ("Filter.1.Name", "status"),
        ("Filter.1.Value.1", "available"),
        ("Filter.2.Name", "volume-id"),
        ("Filter.2.Value.1", V1),
        ("Filter.2.Value.2", V2),
    ];
    assert_eq!(volumes(&told(&ec2, VOLUMES, &filters).await), [format!("{V2} available")]);
    let asked = [("VolumeId.1", V1), ("VolumeId.2", V3), filters[0], filters[1]];
    assert_eq!(volumes(&told(&ec2, VOLUMES, &asked).await), [format!("{V3} available")]);
}

#[tokio::test]
async fn filters_of_instances() {
    let ec2 = small_world().await;
    ec2.with(|world| world.terminate(I2).expect("it is there"));
    let cases: [(&str, &str, &[&str]); 5] = [
        ("instance-id", "i-*", &[I1, I2]),
        ("private-dns-name", "ip-10-0-0-2.ec2.internal", &[I2]),
        ("instance-state-name", "running", &[I1]),
        ("instance-state-name", "shutting-down", &[I2]),
        ("block-device-mapping.volume-id", V1, &[I1]),
    ];
    for (name, value, expected) in cases {
        let parameters = [("Filter.1.Name", name), ("Filter.1.Value.1", value)];
        let body = told(&ec2, INSTANCES, &parameters).await;
        assert_eq!(texts(&body, "instanceId"), expected, "{name} {value}");
    }
}

#[tokio::test]
async fn what_it_does_not_know_it_refuses() {
    let ec2 = small_world().await;
    let unknown = [("Filter.1.Name", "colour"), ("Filter.1.Value.1", "red")];
    let text = "The filter 'colour' is invalid";
    assert_eq!(refused(&ec2, VOLUMES, &unknown).await, error(400, "InvalidParameterValue", text));
    let answer = raw(&ec2, form("DescribeDreams", &[])).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(texts(&answer, "Code"), ["InvalidAction"]);
    assert_eq!(texts(&answer, "Message"), ["The action DescribeDreams is not valid for this web service."]);
    let answer = raw(&ec2, "Version=2016-11-15".to_owned()).await.expect("an answer");
    assert_eq!(texts(&answer, "Code"), ["MissingAction"]);
    let dry = refused(&ec2, VOLUMES, &[("DryRun", "true")]).await;
    assert_eq!(dry, error(412, "DryRunOperation", "Request would have succeeded, but DryRun flag is set."));
}

#[tokio::test]
async fn every_call_is_kept_with_its_parameters() {
    let ec2 = small_world().await;
    let filter = [("Filter.1.Name", "volume-id"), ("Filter.1.Value.1", V1), ("Filter.1.Value.2", V2)];
    told(&ec2, VOLUMES, &filter).await;
    refused(&ec2, VOLUMES, &[("VolumeId.2", V1), ("VolumeId.1", GONE)]).await;
    told(&ec2, INSTANCES, &[]).await;
    let calls = ec2.calls();
    let seen: Vec<_> = calls.iter().map(|call| (call.action.as_str(), call.status, call.code.as_deref())).collect();
    let expected = [
        ("DescribeVolumes", Some(200), None),
        ("DescribeVolumes", Some(400), Some("InvalidVolume.NotFound")),
        ("DescribeInstances", Some(200), None),
    ];
    assert_eq!(seen, expected);
    let asked = Filter { name: "volume-id".to_owned(), values: vec![V1.to_owned(), V2.to_owned()] };
    assert_eq!(calls[0].parameters.filters(), [asked]);
    assert_eq!(calls[1].ids(), [GONE, V1]);
    let whole = [("Action", "DescribeInstances"), ("Version", "2016-11-15")];
    let whole = whole.map(|(key, value)| (key.to_owned(), value.to_owned()));
    assert_eq!(calls[2].parameters, Parameters(whole.to_vec()));
    assert_eq!((ec2.count(VOLUMES), ec2.calls_of(INSTANCES)), (2, vec![calls[2].clone()]));
    ec2.clear_calls();
    assert_eq!(ec2.calls(), []);
}
