//! What the live client writes to PersistentVolumes, and what the API server makes of writes that come too late.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::json;
use zonewarden_cluster::live::Client;
use zonewarden_cluster::records::PersistentVolume;
use zonewarden_cluster::{Api as _, ApiError, Kind, Object, ObjectName, Precondition, Write};
use zonewarden_cluster_tests::rbac;
use zonewarden_cluster_tests::stage::Stage;
use zonewarden_cluster_tests::waiting::wait_until;
use zonewarden_contract::types::{Label, Requirement, SelectorOperator, SelectorTerm, VolumeAffinity};

use crate::on_stage;

const ZONE: &str = "topology.kubernetes.io/zone";

#[tokio::test(flavor = "multi_thread")]
async fn labels_and_affinity_are_set_once_and_never_on_an_object_that_moved() {
    on_stage(Duration::from_secs(60), write).await;
}

async fn write(stage: &Stage) -> Result<()> {
    let name = ObjectName::new("", "written");
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": "written", "labels": {"team": "shop"}},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "ebs.csi.aws.com", "volumeHandle": "vol-0a1b2c3d4e5f60718"},
        },
    });
    rbac::apply_object(&stage.client, volume.clone()).await?;
    // With the rights of deploy/rbac.yaml, and no others.
    let client = Client::connect(Some(&stage.plane.kubeconfig(rbac::USER, false)?), None).await?;
    let bare = read(&client, &name).await?;

    client.write(&labels(&name, &bare, "us-east-1a")).await?;
    let labelled = read(&client, &name).await?;
    assert_eq!(pairs(&labelled), [("team", "shop"), (ZONE, "us-east-1a")]);
    assert_eq!(*labelled.owned_labels, [ZONE]);
    refused(&client, &labels(&name, &bare, "us-east-1b"), is_conflict).await?;
    refused(&client, &affinity(&name, &bare, "us-east-1a"), is_conflict).await?;
    client.write(&affinity(&name, &labelled, "us-east-1a")).await?;
    let placed = read(&client, &name).await?;
    assert_eq!(placed.affinity, VolumeAffinity::Required(terms("us-east-1a")));
    // By the object as it is: that there is an affinity already is what keeps the second one out.
    refused(&client, &affinity(&name, &placed, "us-east-1b"), |error| matches!(error, ApiError::Invalid(_))).await?;
    assert_eq!(read(&client, &name).await?, placed);

    delete(stage, &client, &name).await?;
    refused(&client, &affinity(&name, &placed, "us-east-1a"), is_conflict).await?;
    refused(&client, &labels(&name, &placed, "us-east-1a"), is_conflict).await?;
    ensure!(client.get(Kind::PersistentVolume, &name).await?.is_none(), "a label made a volume");
    rbac::apply_object(&stage.client, volume).await?;
    let another = read(&client, &name).await?;
    refused(&client, &affinity(&name, &placed, "us-east-1a"), is_conflict).await?;
    refused(&client, &labels(&name, &placed, "us-east-1a"), is_conflict).await?;
    let after = read(&client, &name).await?;
    assert_eq!((after.labels, after.affinity), (another.labels, VolumeAffinity::Unset));
    Ok(())
}

/// Deletes the volume, and waits until the controller that protects volumes lets it go.
async fn delete(stage: &Stage, client: &Client, name: &ObjectName) -> Result<()> {
    let volumes: kube::Api<k8s_openapi::api::core::v1::PersistentVolume> = kube::Api::all(stage.client.clone());
    volumes.delete(&name.name, &kube::api::DeleteParams::default()).await?;
    wait_until("the volume is gone", stage.patience, async || {
        ensure!(client.get(Kind::PersistentVolume, name).await?.is_none(), "it is still there");
        Ok(())
    })
    .await
}

async fn read(client: &Client, name: &ObjectName) -> Result<PersistentVolume> {
    match client.get(Kind::PersistentVolume, name).await?.context("the volume is there")? {
        Object::PersistentVolume(volume) => Ok(volume),
        other => bail!("{other:?} is no volume"),
    }
}

fn pairs(volume: &PersistentVolume) -> Vec<(&str, &str)> {
    volume.labels.iter().map(|label| (&*label.key, &*label.value)).collect()
}

fn labels(name: &ObjectName, seen: &PersistentVolume, zone: &str) -> Write {
    Write::SetLabels {
        volume: name.clone(),
        precondition: Precondition::from(&seen.identity),
        labels: vec![Label { key: ZONE.to_owned(), value: zone.to_owned() }],
    }
}

fn affinity(name: &ObjectName, seen: &PersistentVolume, zone: &str) -> Write {
    Write::SetAffinity { volume: name.clone(), precondition: Precondition::from(&seen.identity), terms: terms(zone) }
}

fn terms(zone: &str) -> Vec<SelectorTerm> {
    let values = vec![zone.to_owned()];
    let requirement = Requirement { key: ZONE.to_owned(), operator: SelectorOperator::In, values };
    vec![SelectorTerm { requirements: vec![requirement], has_match_fields: false }]
}

fn is_conflict(error: &ApiError) -> bool {
    matches!(error, ApiError::Conflict(_))
}

async fn refused(client: &Client, write: &Write, is_expected: fn(&ApiError) -> bool) -> Result<()> {
    match client.write(write).await {
        Ok(()) => bail!("{write:?} was done"),
        Err(error) => {
            ensure!(is_expected(&error), "{write:?} was refused for {error:?}");
            Ok(())
        }
    }
}
