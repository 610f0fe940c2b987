//! `zonewarden check` and `explain` look at a live world.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use zonewarden_cluster_tests::account::REGION;
use zonewarden_cluster_tests::rbac;
use zonewarden_cluster_tests::rescuer::binary;
use zonewarden_cluster_tests::scene::{CloudController, Placed, Scene};
use zonewarden_cluster_tests::stage::Stage;
use zonewarden_ec2_double::{Instance, Volume, World};

use crate::on_stage;

/// The lists that a dump holds, as the README tells people to make one.
const LISTS: [&str; 8] = [
    "/api/v1/persistentvolumes",
    "/api/v1/persistentvolumeclaims",
    "/api/v1/pods",
    "/api/v1/nodes",
    "/apis/storage.k8s.io/v1/volumeattachments",
    "/apis/storage.k8s.io/v1/storageclasses",
    "/apis/storage.k8s.io/v1/csinodes",
    "/apis/storage.k8s.io/v1/csidrivers",
];

#[tokio::test(flavor = "multi_thread")]
async fn check_and_explain_tell_of_a_live_world_what_they_tell_of_its_dump() {
    on_stage(Duration::from_secs(90), look).await;
}

async fn look(stage: &Stage) -> Result<()> {
    let scene = Scene::set(stage, "looking", CloudController::Absent).await?;
    let app = scene.app().await?;
    scene.detach_behind_the_back();
    let folder = tempfile::tempdir()?;
    let settings = folder.path().join("settings.yaml");
    fs::write(&settings, "quiet-seconds: \"1\"\n")?;
    let settings = ["--settings".to_owned(), settings.display().to_string()];
    let dump = dump(stage, folder.path()).await?;
    let live = live(stage, &stage.plane.kubeconfig(rbac::USER, false)?);
    let (live, dump) = ([&live[..], &settings].concat(), [&dump[..], &settings].concat());

    let told = report(&run(&["check", "-o", "json"], &live)?)?;
    assert_eq!(rows(&told), expected(&scene, &app, &told)?);
    assert_eq!(rows(&told), rows(&report(&run(&["check", "-o", "json"], &dump)?)?));
    for volume in ["looking-app", "looking-bystander", &scene.volume] {
        let (of_live, of_dump) = (explained(volume, &live)?, explained(volume, &dump)?);
        assert_eq!(of_live, of_dump);
        assert_eq!(of_live.contains("detached-in-use"), volume != "looking-bystander", "{of_live}");
    }
    refusals(stage, folder.path())
}

/// What is wrong in the scene, and what is not: `app`'s volume was detached under it, and no volume has its labels.
fn expected(scene: &Scene<'_>, app: &Placed, told: &Value) -> Result<Vec<String>> {
    let on = |name: &str, field: &str| {
        let volumes = told["volumes"].as_array().into_iter().flatten();
        let found = volumes.into_iter().find(|volume| volume["persistentVolume"] == name);
        found.and_then(|volume| volume[field].as_str()).unwrap_or_default().to_owned()
    };
    // Which of the two machines is whose is the scheduler's choice.
    let other = if app.node == "looking-a1" { "looking-a2" } else { "looking-a1" };
    let (volume, bystander) = (&scene.volume, on("looking-bystander", "awsVolumeId"));
    let labels = r#"{"topology.kubernetes.io/region":"us-east-1","topology.kubernetes.io/zone":"us-east-1a"}"#;
    Ok(vec![
        r#"summary {"attachments":2,"attachmentsWithFindings":1,"pods":2,"podsWithFindings":0,"problems":0,"volumes":2,"volumesWithFindings":2}"#.to_owned(),
        format!("volume looking-app {volume} us-east-1a ec2 available [] {labels} null"),
        format!("volume looking-bystander {bystander} us-east-1a ec2 in-use [] {labels} null"),
        format!("pod app-0 {} [\"looking-a1\",\"looking-a2\"] [\"looking-b1\"] []", app.node),
        format!("pod bystander-0 {other} [\"looking-a1\",\"looking-a2\"] [\"looking-b1\"] []"),
        format!("attachment looking-app {volume} {} {} drift detached-in-use event", app.node, scene.instance(&app.node)?),
        format!("attachment looking-bystander {bystander} {other} {} in-sync null none", scene.instance(other)?),
    ])
}

/// What a report says, but for what holds ages and the names that the cluster makes up.
fn rows(report: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let row =
        |kind: &str, cells: &[&Value]| cells.iter().fold(kind.to_owned(), |row, cell| format!("{row} {}", text(cell)));
    let section = |name: &str| report[name].as_array().cloned().unwrap_or_default();
    let codes = |findings: &Value| {
        let findings = findings.as_array().into_iter().flatten();
        Value::Array(findings.map(|finding| finding["code"].clone()).collect())
    };
    let nodes = |groups: &Value| {
        let groups = groups.as_array().into_iter().flatten();
        let mut names: Vec<_> = groups.flat_map(|group| group["nodes"].as_array().cloned()).flatten().collect();
        names.sort_by_key(text);
        Value::Array(names)
    };
    let mut rows = vec![row("summary", &[&report["summary"]])];
    for volume in section("volumes") {
        let [name, id, zone, basis, state] =
            ["persistentVolume", "awsVolumeId", "zone", "basis", "state"].map(|field| &volume[field]);
        let proposed = &volume["proposed"];
        let findings = codes(&volume["findings"]);
        rows.push(row(
            "volume",
            &[name, id, zone, basis, state, &findings, &proposed["labels"], &proposed["affinity"]],
        ));
    }
    for pod in section("pods") {
        let (feasible, refused, findings) = (nodes(&pod["feasible"]), nodes(&pod["refused"]), codes(&pod["findings"]));
        rows.push(row("pod", &[&pod["name"], &pod["node"], &feasible, &refused, &findings]));
    }
    let mut attachments: Vec<_> = section("attachments")
        .iter()
        .map(|pair| {
            let fields = ["persistentVolume", "awsVolumeId", "node", "instance", "verdict", "drift", "remedy"];
            row("attachment", &fields.map(|field| &pair[field]))
        })
        .collect();
    // They stand in the order of the VolumeAttachments' names, which are made up.
    attachments.sort();
    rows.extend(attachments);
    rows
}

/// Who may not read, and who reaches nobody, is told so at once, and nothing else.
fn refusals(stage: &Stage, folder: &Path) -> Result<()> {
    let good = fs::read_to_string(stage.plane.kubeconfig(rbac::USER, false)?)?;
    let mut stranger: Value = serde_json::from_str(&good)?;
    stranger["users"][0]["user"] = json!({"token": "wrong"});
    let mut nowhere: Value = serde_json::from_str(&good)?;
    // Nothing listens on a port that only root may take.
    nowhere["clusters"][0]["cluster"]["server"] = json!("https://127.0.0.1:1");
    for (name, config, why) in [("stranger", stranger, "Unauthorized"), ("nowhere", nowhere, "Connection refused")] {
        let path = folder.join(name);
        fs::write(&path, config.to_string())?;
        let began = std::time::Instant::now();
        for command in [&["check", "-o", "json"][..], &["explain", "volume", "looking-app"]] {
            let output = run(command, &live(stage, &path))?;
            let err = String::from_utf8(output.stderr)?;
            assert_eq!((output.status.code(), &*output.stdout), (Some(2), &b""[..]), "{err}");
            let begin = "zonewarden: no world on files is named (--world DIR, or --cluster FILE with --volumes FILE and \
                         --instances FILE), and the live one can't be read: the cluster can't be read: ";
            ensure!(
                err.starts_with(begin) && err.matches(why).count() == 1 && err.lines().count() == 1,
                "{name}: {err}"
            );
        }
        ensure!(began.elapsed() < Duration::from_secs(20), "{name}: {:?}", began.elapsed());
    }
    Ok(())
}

fn live(stage: &Stage, kubeconfig: &Path) -> Vec<String> {
    let endpoint = stage.account.ec2.endpoint();
    let kubeconfig = kubeconfig.display().to_string();
    ["--kubeconfig", &kubeconfig, "--region", REGION, "--endpoint-url", &endpoint].map(str::to_owned).into()
}

fn run(command: &[&str], flags: &[String]) -> Result<Output> {
    let mut program = Command::new(binary()?);
    program.args(command).args(flags);
    program.envs([("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")]);
    program.env("AWS_EC2_METADATA_DISABLED", "true");
    program.output().with_context(|| format!("{program:?}"))
}

/// The answer of `check`, which has findings.
fn report(output: &Output) -> Result<Value> {
    let err = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.code() == Some(1) && err.is_empty(), "{:?}: {err}", output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn explained(volume: &str, flags: &[String]) -> Result<String> {
    let output = run(&["explain", "volume", volume], flags)?;
    let err = String::from_utf8_lossy(&output.stderr);
    ensure!(err.is_empty(), "{volume}: {err}");
    Ok(String::from_utf8(output.stdout)?)
}

/// The flags that name the same world on files: what kubectl and the AWS CLI print of it.
async fn dump(stage: &Stage, folder: &Path) -> Result<Vec<String>> {
    let mut items = Vec::new();
    for path in LISTS {
        let request = http::Request::get(path).body(Vec::new())?;
        let list: Value = serde_json::from_str(&stage.client.request_text(request).await?)?;
        let kind = list["kind"].as_str().and_then(|kind| kind.strip_suffix("List")).context("a list has a kind")?;
        for item in list["items"].as_array().into_iter().flatten() {
            let mut item = item.clone();
            (item["kind"], item["apiVersion"]) = (json!(kind), list["apiVersion"].clone());
            items.push(item);
        }
    }
    let (volumes, instances) = stage.account.ec2.with(|world| {
        let instances: Vec<_> = world.instances().map(|instance| described_instance(world, instance)).collect();
        (world.volumes().map(described_volume).collect::<Vec<_>>(), instances)
    });
    let write = |flag: &str, name: &str, content: Value| -> Result<[String; 2]> {
        let path: PathBuf = folder.join(name);
        fs::write(&path, content.to_string())?;
        Ok([flag.to_owned(), path.display().to_string()])
    };
    let cluster = json!({"apiVersion": "v1", "kind": "List", "items": items});
    Ok([
        write("--cluster", "cluster.json", cluster)?,
        write("--volumes", "volumes.json", json!({"Volumes": volumes}))?,
        write("--instances", "instances.json", json!({"Reservations": [{"Instances": instances}]}))?,
    ]
    .concat())
}

fn described_volume(volume: &Volume) -> Value {
    let attachments = volume.attachments.iter().map(|held| {
        json!({
            "InstanceId": held.instance,
            "State": held.state.as_str(),
            "Device": held.device,
            "AttachTime": held.attached.to_string(),
        })
    });
    json!({
        "VolumeId": volume.id,
        "AvailabilityZone": volume.zone,
        "State": volume.state.as_str(),
        "MultiAttachEnabled": volume.multi_attach,
        "VolumeType": volume.volume_type,
        "Attachments": attachments.collect::<Vec<_>>(),
    })
}

fn described_instance(world: &World, instance: &Instance) -> Value {
    let devices = world.volumes_of(&instance.id).into_iter().map(|volume| {
        let held = volume.attachment_to(&instance.id);
        json!({
            "DeviceName": held.map(|held| held.device.clone()),
            "Ebs": {"VolumeId": volume.id, "Status": held.map(|held| held.state.as_str())},
        })
    });
    json!({
        "InstanceId": instance.id,
        "State": {"Name": instance.state.as_str()},
        "Placement": {"AvailabilityZone": instance.zone},
        "PrivateDnsName": instance.private_dns_name,
        "BlockDeviceMappings": devices.collect::<Vec<_>>(),
    })
}
