//! A StorageClass of the in-tree EBS plugin, as its CSI driver reads it (B-12, F-22).
//!
//! We differ from the translation library in three things, each of which is a bug there: a zone in a list is trimmed, and an
//! empty one is an error (F-22); a class that names its zones twice is an error, while the library takes whichever of the two
//! it comes upon last; and a parameter that the class sets itself is never overwritten. Parameters come out in one order.

use crate::answer::problem;
use crate::{keys, zones};
use std::collections::BTreeSet;
use zonewarden_bindings::placement::{TopologyRequirement, TopologyTerm};
use zonewarden_bindings::types::{Label, Problem};

/// The CSI driver's parameter for the file system.
const CSI_FS_TYPE: &str = "csi.storage.k8s.io/fstype";
/// What the in-tree plugin did by itself: raise the I/O rate of a small volume to the least that EC2 takes.
const ALLOW_INCREASE: &str = "allowautoiopspergbincrease";

/// What a StorageClass says of the volumes that are made by it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassParameters {
    /// `parameters`.
    pub parameters: Vec<Label>,
    /// `allowedTopologies`.
    pub allowed_topologies: Vec<TopologyTerm>,
}

/// What the CSI driver makes of a class that was written for the in-tree plugin.
///
/// # Errors
/// A class that names its zones in two ways, or in a list with an empty part.
pub fn to_csi(class: &ClassParameters) -> Result<ClassParameters, Problem> {
    let zones = zones_of(&class.parameters)?;
    let allowed_topologies = match zones {
        None => class.allowed_topologies.iter().map(translate).collect(),
        Some(_) if !class.allowed_topologies.is_empty() => {
            let message = "the parameters zone and zones can't be combined with allowedTopologies: keep one of them";
            return Err(problem("allowedTopologies", "", "zones-and-topologies", message, &["allowedTopologies"]));
        }
        Some(zones) => vec![TopologyTerm {
            requirements: vec![TopologyRequirement {
                key: keys::ZONE_EBS_CSI.to_owned(),
                values: zones.into_iter().collect(),
            }],
        }],
    };
    Ok(ClassParameters { parameters: parameters(&class.parameters), allowed_topologies })
}

/// The zones that the parameters `zone` and `zones` name, whatever the case of their keys.
fn zones_of(parameters: &[Label]) -> Result<Option<BTreeSet<String>>, Problem> {
    let mut found: Option<(&str, BTreeSet<String>)> = None;
    for parameter in parameters {
        let is_list = parameter.key.eq_ignore_ascii_case("zones");
        if !is_list && !parameter.key.eq_ignore_ascii_case("zone") {
            continue;
        }
        let subject = format!("parameters.{}", parameter.key);
        if let Some((first, _)) = found {
            let message = format!("the zones are named by {first} already: keep one of the two");
            return Err(problem(&subject, &parameter.value, "zones-twice", message, &["one of zone and zones"]));
        }
        let value = parameter.value.trim();
        let zones = if is_list {
            zones::parse_comma_separated(value)
        } else {
            (!value.is_empty()).then(|| BTreeSet::from([value.to_owned()]))
        };
        let Some(zones) = zones else {
            let message = format!("{:?} names an empty zone", parameter.value);
            return Err(problem(
                &subject,
                &parameter.value,
                "empty-zone",
                message,
                &["us-east-1a", "us-east-1a,us-east-1b"],
            ));
        };
        found = Some((&parameter.key, zones));
    }
    Ok(found.map(|(_, zones)| zones))
}

fn parameters(given: &[Label]) -> Vec<Label> {
    let mut translated: Vec<Label> = Vec::with_capacity(given.len() + 1);
    let mut set = |key: &str, value: &str| match translated.iter_mut().find(|parameter| parameter.key == key) {
        Some(parameter) => value.clone_into(&mut parameter.value),
        None => translated.push(Label { key: key.to_owned(), value: value.to_owned() }),
    };
    for Label { key, value } in given {
        match key.to_ascii_lowercase().as_str() {
            "zone" | "zones" => {}
            "fstype" => set(CSI_FS_TYPE, value),
            _ => set(key, value),
        }
    }
    let has = |wanted: &str| given.iter().any(|parameter| parameter.key.eq_ignore_ascii_case(wanted));
    // What the class says itself wins; in the library it depends on the order in which a map is walked.
    if has("iopspergb") && !has(ALLOW_INCREASE) {
        set(ALLOW_INCREASE, "true");
    }
    translated.sort_by(|a, b| a.key.cmp(&b.key));
    translated
}

/// The zone labels become the driver's key; every other key stays.
fn translate(term: &TopologyTerm) -> TopologyTerm {
    let key = |key: &str| if matches!(key, keys::ZONE | keys::ZONE_BETA) { keys::ZONE_EBS_CSI } else { key }.to_owned();
    let requirement = |requirement: &TopologyRequirement| TopologyRequirement {
        key: key(&requirement.key),
        values: requirement.values.clone(),
    };
    TopologyTerm { requirements: term.requirements.iter().map(requirement).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Vec<Label> {
        pairs.iter().map(|(key, value)| Label { key: (*key).to_owned(), value: (*value).to_owned() }).collect()
    }

    fn topologies(terms: &[(&str, &[&str])]) -> Vec<TopologyTerm> {
        let requirement = |(key, values): &(&str, &[&str])| TopologyRequirement {
            key: (*key).to_owned(),
            values: values.iter().map(|value| (*value).to_owned()).collect(),
        };
        terms.iter().map(|term| TopologyTerm { requirements: vec![requirement(term)] }).collect()
    }

    type Pairs<'a> = &'a [(&'a str, &'a str)];
    type Terms<'a> = &'a [(&'a str, &'a [&'a str])];

    #[test]
    fn b_12_what_a_class_becomes() {
        const CSI: &str = "topology.ebs.csi.aws.com/zone";
        let rows: [(Pairs<'_>, Terms<'_>, Pairs<'_>, Terms<'_>); 11] = [
            (&[], &[], &[], &[]),
            (&[("fsType", "xfs")], &[], &[("csi.storage.k8s.io/fstype", "xfs")], &[]),
            (&[("FSTYPE", "xfs")], &[], &[("csi.storage.k8s.io/fstype", "xfs")], &[]),
            (&[("zone", "us-east-1a")], &[], &[], &[(CSI, &["us-east-1a"])]),
            (&[("Zone", " us-east-1a ")], &[], &[], &[(CSI, &["us-east-1a"])]),
            // A zone is one zone, with its comma.
            (&[("zone", "a,b")], &[], &[], &[(CSI, &["a,b"])]),
            (&[("Zones", "us-east-1b, us-east-1a")], &[], &[], &[(CSI, &["us-east-1a", "us-east-1b"])]),
            (&[("iopsPerGB", "10")], &[], &[("allowautoiopspergbincrease", "true"), ("iopsPerGB", "10")], &[]),
            (
                &[("allowAutoIOPSPerGBIncrease", "false"), ("iopsPerGB", "10")],
                &[],
                &[("allowAutoIOPSPerGBIncrease", "false"), ("iopsPerGB", "10")],
                &[],
            ),
            (&[("type", "gp3"), ("Encrypted", "true")], &[], &[("Encrypted", "true"), ("type", "gp3")], &[]),
            (
                &[],
                &[
                    ("topology.kubernetes.io/zone", &["b", "a"]),
                    ("failure-domain.beta.kubernetes.io/zone", &["c"]),
                    ("topology.kubernetes.io/region", &["r"]),
                    (CSI, &["d"]),
                ],
                &[],
                &[(CSI, &["b", "a"]), (CSI, &["c"]), ("topology.kubernetes.io/region", &["r"]), (CSI, &["d"])],
            ),
        ];
        for (parameters, terms, wanted, wanted_terms) in rows {
            let class = ClassParameters { parameters: labels(parameters), allowed_topologies: topologies(terms) };
            let wanted = ClassParameters { parameters: labels(wanted), allowed_topologies: topologies(wanted_terms) };
            assert_eq!(to_csi(&class), Ok(wanted), "{parameters:?} {terms:?}");
        }
    }

    #[test]
    fn b_12_f_22_what_is_wrong_with_a_class() {
        let rows: [(Pairs<'_>, Terms<'_>, &str, &str, &str); 7] = [
            (&[("zone", "a")], &[("k", &["v"])], "allowedTopologies", "", "zones-and-topologies"),
            (&[("zones", "a")], &[("k", &["v"])], "allowedTopologies", "", "zones-and-topologies"),
            (&[("zone", "a"), ("zones", "a,b")], &[], "parameters.zones", "a,b", "zones-twice"),
            (&[("zone", "a"), ("ZONE", "b")], &[], "parameters.ZONE", "b", "zones-twice"),
            (&[("zones", "a,,b")], &[], "parameters.zones", "a,,b", "empty-zone"),
            (&[("zones", "")], &[], "parameters.zones", "", "empty-zone"),
            (&[("zone", " ")], &[], "parameters.zone", " ", "empty-zone"),
        ];
        for (parameters, terms, subject, text, rule) in rows {
            let class = ClassParameters { parameters: labels(parameters), allowed_topologies: topologies(terms) };
            let problem = to_csi(&class).expect_err(rule);
            assert_eq!((problem.subject.as_str(), problem.text.as_str(), problem.rule.as_str()), (subject, text, rule));
            assert!(!problem.accepted.is_empty());
        }
        let twice =
            ClassParameters { parameters: labels(&[("zone", "a"), ("zones", "b")]), allowed_topologies: Vec::new() };
        assert!(to_csi(&twice).expect_err("twice").message.contains("by zone already"));
        let empty = ClassParameters { parameters: labels(&[("zones", "a,")]), allowed_topologies: Vec::new() };
        assert!(to_csi(&empty).expect_err("empty").message.contains("\"a,\""));
    }
}
