//! PersistentVolumes at admission.

mod reading;

use proptest::prelude::*;
use zonewarden_bindings::types::{CsiSource, VolumeAffinity};

use super::*;
use crate::keys::{PROVISIONED_BY, ZONE_BETA};

const PV: (&str, &str) = ("", "PersistentVolume");

fn pv(spec: &Value) -> Value {
    json!({ "metadata": { "name": "pv-1" }, "spec": spec })
}

fn ebs(id: &str) -> Value {
    pv(
        &json!({ "capacity": { "storage": "1Gi" }, "accessModes": ["ReadWriteOnce"], "awsElasticBlockStore": { "volumeID": id } }),
    )
}

fn create(object: &Value, evidence: VolumeEvidence) -> AdmissionAnswer {
    answer_of(&Settings::default(), &review("CREATE", PV, object), &[evidence], nothing())
}

fn labels() -> [PatchOperation; 2] {
    [PatchOperation::SetLabel(label(ZONE, A)), PatchOperation::SetLabel(label(REGION, "us-east-1"))]
}

fn labels_and_affinity() -> Vec<PatchOperation> {
    let mut operations = labels().to_vec();
    operations.push(PatchOperation::SetVolumeAffinity(vec![zone_term(A)]));
    operations
}

fn csi_source(handle: &str) -> VolumeSource {
    let volume_handle = KubernetesVolumeId { kubernetes_volume_id: handle.to_owned() };
    VolumeSource::Csi(CsiSource { driver: "ebs.csi.aws.com".to_owned(), volume_handle })
}

#[test]
fn c_1_f_9_a_new_volume_is_labelled_and_gets_its_affinity() {
    let answer = create(&ebs(ID), in_zone(A));
    check("c 1", &answer, (true, "zone-from-ec2"), &[], &labels_and_affinity());
}

#[test]
fn e13_ec2_is_needed_for_an_affinity_since_it_can_not_be_taken_back() {
    let answer = create(&ebs(&format!("aws://{A}/{ID}")), VolumeEvidence::Unknown);
    check("E13", &answer, (true, "zone-from-id"), &["PersistentVolume pv-1 gets no node affinity before"], &labels());
}

#[test]
fn c_2_c_3_what_the_provisioner_wrote_as_affinity_gives_the_labels() {
    let requirement = json!({ "key": ZONE, "operator": "In", "values": [A] });
    let object = pv(&json!({
        "csi": { "driver": "ebs.csi.aws.com", "volumeHandle": ID },
        "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [requirement] }] } },
    }));
    check("c 2", &create(&object, VolumeEvidence::Unknown), (true, "zone-from-affinity"), &[], &labels());
}

#[test]
fn d_35_an_affinity_that_excludes_the_zone_is_let_in_with_a_warning() {
    let requirement = json!({ "key": ZONE, "operator": "In", "values": ["us-east-1b"] });
    let mut object = ebs(ID);
    object["spec"]["nodeAffinity"] =
        json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [requirement] }] } });
    let warning = "the node affinity of PersistentVolume pv-1 excludes zone us-east-1a, in which EC2 has its volume:";
    check("D-35", &create(&object, in_zone(A)), (true, "zone-from-ec2"), &[warning], &labels());
}

#[test]
fn f_6_what_ec2_does_not_know_or_have_is_let_in() {
    check("F-6 throttled", &create(&ebs(ID), VolumeEvidence::Unknown), (true, "zone-unknown"), &[], &[]);
    let answer = create(&ebs(ID), VolumeEvidence::Missing(1));
    check("F-6 missing", &answer, (true, "volume-missing"), &["EC2 has no volume vol-0123456789abcdef0"], &[]);
}

#[test]
fn b_3_a_malformed_id_is_refused_in_strict_mode_and_warned_of_in_lenient() {
    let text = |operation: &str| review(operation, PV, &ebs("aws://us-east-1a/VOL-1"));
    let answer = answer_of(&strict(), &text("CREATE"), &[VolumeEvidence::Unknown], nothing());
    check("strict", &answer, (false, "format-prefix-case"), &[], &[]);
    assert!(answer.reason.message.contains("aws://us-east-1a/VOL-1"), "{}", answer.reason.message);
    let warning = ["\"aws://us-east-1a/VOL-1\" is no volume id"];
    let answer = answer_of(&Settings::default(), &text("CREATE"), &[VolumeEvidence::Unknown], nothing());
    check("lenient", &answer, (true, "format-prefix-case"), &warning, &[]);
    let answer = answer_of(&strict(), &text("UPDATE"), &[VolumeEvidence::Unknown], nothing());
    check("strict, update", &answer, (true, "format-prefix-case"), &warning, &[]);
    let answer = answer_of(&strict(), &review("CREATE", PV, &ebs(ID)), &[in_zone(A)], nothing());
    check("strict, good", &answer, (true, "zone-from-ec2"), &[], &labels_and_affinity());
}

#[test]
fn f_1_an_update_changes_nothing_and_warns() {
    let mut object = ebs(ID);
    let text = |object: &Value| review("UPDATE", PV, object);
    let answer = answer_of(&Settings::default(), &text(&object), &[in_zone(A)], nothing());
    check("F-1", &answer, (true, "zone-from-ec2"), &[], &[]);
    object["metadata"]["labels"] = json!({ ZONE: "us-east-1b" });
    let answer = answer_of(&Settings::default(), &text(&object), &[in_zone(A)], nothing());
    let warning = "PersistentVolume pv-1 says us-east-1b in label topology.kubernetes.io/zone";
    check("F-1", &answer, (true, "zone-from-ec2"), &[warning], &[]);
}

#[test]
fn f_3_other_volumes_are_let_in_unchanged() {
    for (spec, code) in [
        (json!({ "hostPath": { "path": "/" } }), "other-source"),
        (json!({ "gcePersistentDisk": { "pdName": "d" } }), "other-plugin"),
        (json!({ "csi": { "driver": "efs.csi.aws.com", "volumeHandle": "fs-1" } }), "other-driver"),
        (json!({}), "other-source"),
    ] {
        let answer = answer_of(&Settings::default(), &review("CREATE", PV, &pv(&spec)), &[], nothing());
        check("F-3", &answer, (true, code), &[], &[]);
    }
}

/// The object as the operations make it.
fn apply(object: &Value, operations: &[PatchOperation]) -> Value {
    let mut object = object.clone();
    for operation in operations {
        match operation {
            PatchOperation::SetLabel(label) => object["metadata"]["labels"][&label.key] = json!(label.value),
            PatchOperation::SetVolumeAffinity(terms) => {
                let requirement = |requirement: &Requirement| {
                    let operator = if requirement.operator == SelectorOperator::In { "In" } else { "Exists" };
                    json!({ "key": requirement.key, "operator": operator, "values": requirement.values })
                };
                let term = |term: &SelectorTerm| json!({ "matchExpressions": term.requirements.iter().map(requirement).collect::<Vec<_>>() });
                let terms: Vec<Value> = terms.iter().map(term).collect();
                object["spec"]["nodeAffinity"] = json!({ "required": { "nodeSelectorTerms": terms } });
            }
            PatchOperation::SetPodAffinity(_) | PatchOperation::AddSchedulingGate(_) => panic!("{operation:?}"),
        }
    }
    object
}

proptest! {
    #[test]
    fn reinvoked_on_the_changed_object_it_changes_nothing_more(
        id in prop::sample::select(vec![ID, "aws://us-east-1a/vol-1", "aws://us-east-1b/vol-1"]),
        labels in prop::collection::btree_map(
            prop::sample::select(vec![ZONE, REGION, ZONE_BETA]),
            prop::sample::select(vec![A, "us-east-1b", "us-east-1", ""]),
            0..3,
        ),
        affinity in prop::sample::select(vec![
            Value::Null,
            json!({}),
            json!({ "required": { "nodeSelectorTerms": [] } }),
            json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [{ "key": "os", "operator": "Exists" }] }, {}] } }),
            json!({ "required": { "nodeSelectorTerms": [{ "matchExpressions": [{ "key": ZONE, "operator": "In", "values": ["us-east-1b"] }] }] } }),
        ]),
        evidence in prop::sample::select(vec![in_zone(A), VolumeEvidence::Unknown, VolumeEvidence::Missing(1)]),
    ) {
        let mut object = ebs(id);
        object["metadata"]["labels"] = json!(labels);
        object["spec"]["nodeAffinity"] = affinity;
        let first = create(&object, evidence.clone());
        let second = create(&apply(&object, &first.operations), evidence);
        prop_assert_eq!(second.operations, Vec::new());
    }
}
