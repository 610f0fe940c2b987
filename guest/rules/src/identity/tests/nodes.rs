//! Nodes.

use super::*;

/// Asks for a node; an empty text is "not given".
fn node(name: &str, provider_id: &str, csi_node_id: &str) -> NodeIdentity {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    identify_node(
        &Settings::default(),
        &NodeQuestion {
            node: NodeName { node_name: name.to_owned() },
            provider_id: given(provider_id).map(|provider_id| ProviderId { provider_id }),
            csi_node_id: given(csi_node_id),
        },
    )
}

/// A node that was identified.
fn check(given: [&str; 3], instance: &str, how: NodeResolution, zone_hint: &str, warnings: &[(&str, &[&str])]) {
    let [name, provider, csi] = given;
    let NodeIdentity::Identified(found) = node(name, provider, csi) else { panic!("{given:?} is identified") };
    for (warning, (code, names)) in found.warnings.iter().zip(warnings) {
        assert_eq!(warning.reason.code, *code, "{given:?}");
        let severity = if *code == "hyperpod" { Severity::Info } else { Severity::Warning };
        assert_eq!(warning.severity, severity, "{given:?}");
        assert!(names.iter().all(|name| warning.reason.message.contains(name)), "{}", warning.reason.message);
    }
    assert_eq!(found.warnings.len(), warnings.len(), "{given:?}: {:?}", found.warnings);
    let wanted = IdentifiedNode {
        instance: InstanceId { instance_id: instance.to_owned() },
        resolution: how,
        zone_hint: zone(zone_hint),
        warnings: found.warnings.clone(),
    };
    assert_eq!(found, wanted, "{given:?}");
}

#[test]
fn d_2_d_6_d_39_the_best_evidence_names_the_instance() {
    use NodeResolution::{ByCsiNodeId, ByNodeName, ByProviderId};
    let provider = "aws:///us-east-1a/i-0123456789abcdef0";
    let old = "aws:///us-east-1a/i-0aaaaaaaaaaaaaaaa";
    let resource_name = "i-0123456789abcdef0.ec2.internal";
    check(["n", provider, ""], ID, ByProviderId, "us-east-1a", &[]);
    check(["n", provider, ID], ID, ByProviderId, "us-east-1a", &[]);
    check(["n", "", ID], ID, ByCsiNodeId, "", &[]);
    check(["", "", ID], ID, ByCsiNodeId, "", &[]);
    check([resource_name, provider, ID], ID, ByProviderId, "us-east-1a", &[]);
    check(["n", old, ID], ID, ByCsiNodeId, "", &[("instance-contradiction", &[OLD, ID])]);
    check(
        [resource_name, old, ""],
        OLD,
        ByProviderId,
        "us-east-1a",
        &[("instance-contradiction", &[OLD, ID, resource_name])],
    );
    check([resource_name, "", ""], ID, ByNodeName, "", &[("instance-guessed", &[ID, resource_name])]);
    check(["n", provider, "x"], ID, ByProviderId, "us-east-1a", &[("csi-node-id-unreadable", &["\"x\""])]);
    check(["n", "vol-1", ID], ID, ByCsiNodeId, "", &[("provider-id-unreadable", &["\"vol-1\"", ID])]);
    check(["n", "k3s://n", ID], ID, ByCsiNodeId, "", &[("provider-id-unreadable", &["\"k3s://n\"", ID])]);
    let guessed: [(&str, &[&str]); 3] = [
        ("provider-id-unreadable", &["\"vol-1\"", ID]),
        ("csi-node-id-unreadable", &["\"x\""]),
        ("instance-guessed", &[ID, resource_name]),
    ];
    check([resource_name, "vol-1", "x"], ID, ByNodeName, "", &guessed);
}

#[test]
fn d1_what_a_provider_id_is_forgiven_is_a_warning() {
    use NodeResolution::ByProviderId;
    let length: (&str, &[&str]) = ("unusual-instance-id", &["\"i-123\""]);
    for (provider, code) in [
        ("i-123", "provider-id-without-scheme"),
        ("aws:////i-123", "provider-id-slashes"),
        ("aws:///a/b/i-123", "provider-id-extra-part"),
        ("aws:///z/i-123", "provider-id-zone"),
    ] {
        check(["n", provider, ""], "i-123", ByProviderId, "", &[(code, &[&format!("{provider:?}")]), length]);
    }
    let hyperpod = "aws:///usw2-az2/sagemaker/cluster/hyperpod-abc-i-0123456789abcdef0";
    check(["n", hyperpod, ""], ID, ByProviderId, "", &[("hyperpod", &[ID])]);
}

#[test]
fn d_41_nodes_that_are_no_instances_are_foreign() {
    for (provider, csi, code) in [
        ("aws:///us-east-1a/fargate-ip-10-0-0-1.ec2.internal", "", "fargate"),
        ("eks-hybrid:///us-west-2/cluster/mi-0123", "", "hybrid"),
        ("gce://project/us-central1-a/node", "", "other-provider"),
        ("azure:///subscriptions/x", "x", "other-provider"),
        ("", "fargate-ip-10-0-0-1", "fargate"),
        ("vol-1", "s.i-0123", "snow"),
    ] {
        let NodeIdentity::Foreign(reason) = node("i-0123456789abcdef0", provider, csi) else {
            panic!("{provider:?} is foreign")
        };
        assert_eq!(reason.code, code);
        let text = if code == "snow" || provider.is_empty() { csi } else { provider };
        assert!(reason.message.contains(&format!("{text:?}")), "{}", reason.message);
    }
}

#[test]
fn d_3_nothing_given_is_unknown_and_never_gone() {
    for (given, subject, text, rule) in [
        (["", "", ""], "node", "", "nothing-given"),
        (["ip-10-0-0-1.ec2.internal", "", ""], "metadata.name", "ip-10-0-0-1.ec2.internal", "node-name-no-instance"),
        (["n", "", "x"], "CSI node id", "x", "csi-node-id-unreadable"),
        (["n", "i-", "x"], "spec.providerID", "i-", "provider-id-unreadable"),
    ] {
        let [name, provider, csi] = given;
        let NodeIdentity::Unresolved(problem) = node(name, provider, csi) else { panic!("{given:?} is unresolved") };
        assert_eq!((problem.subject.as_str(), problem.text.as_str(), problem.rule.as_str()), (subject, text, rule));
        assert!(
            problem.message.contains(&format!("{name:?}")) && problem.message.contains("not gone"),
            "{}",
            problem.message
        );
        assert_eq!(problem.accepted, ["aws:///us-east-1a/i-0123456789abcdef0", "i-0123456789abcdef0"]);
    }
    let empty = NodeQuestion {
        node: NodeName { node_name: String::new() },
        provider_id: Some(ProviderId { provider_id: String::new() }),
        csi_node_id: Some(String::new()),
    };
    let NodeIdentity::Unresolved(problem) = identify_node(&Settings::default(), &empty) else {
        panic!("D-41: empty is skipped")
    };
    assert_eq!(problem.rule, "nothing-given");
}

proptest! {
    #[test]
    fn every_node_has_an_answer_whose_instance_was_given(name in "\\PC*", provider in "\\PC*|aws:///[a-z]/i-[0-9a-z]{1,3}", csi in "\\PC*|i-[0-9a-g]{1,2}") {
        if let NodeIdentity::Identified(found) = node(&name, &provider, &csi) {
            let instance = &found.instance.instance_id;
            prop_assert!([&name, &provider, &csi].into_iter().any(|text| text.contains(instance)));
        }
    }
}
