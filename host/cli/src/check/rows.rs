//! A report as tables.

use anyhow::Result;

use crate::output::{one_line, table};
use crate::report::{Attachment, Finding, NodeGroup, Pod, Report, Volume};

/// Every section as a table, then what is to be told, then the counts.
pub(super) fn text(report: &Report, wide: bool) -> Result<String> {
    let mut text = String::new();
    let mut section = |title: &str, rows: Vec<Vec<String>>| -> Result<()> {
        if rows.len() > 1 {
            text.push_str(&format!("{title}\n{}\n", table(&rows)?));
        }
        Ok(())
    };
    section("VOLUMES", rows(&volume_head(wide), &report.volumes, |volume| volume_row(volume, wide)))?;
    section("PODS", rows(&pod_head(wide), &report.pods, |pod| pod_row(pod, wide)))?;
    section("ATTACHMENTS", rows(&attachment_head(wide), &report.attachments, |pair| attachment_row(pair, wide)))?;
    text.push_str(&problems(report));
    text.push_str(&summary(report));
    Ok(text)
}

fn rows<T>(head: &[&str], objects: &[T], row: impl Fn(&T) -> Vec<String>) -> Vec<Vec<String>> {
    let head = head.iter().map(|title| (*title).to_owned()).collect();
    std::iter::once(head).chain(objects.iter().map(row)).collect()
}

fn or_none(text: Option<&str>) -> String {
    text.unwrap_or("-").to_owned()
}

fn volume_head(wide: bool) -> Vec<&'static str> {
    let mut head = vec!["PERSISTENTVOLUME", "VOLUME", "ZONE"];
    if wide {
        head.extend(["REGION", "STATE", "BASIS", "KUBERNETES VOLUME ID"]);
    }
    head.push("FINDINGS");
    head
}

fn volume_row(volume: &Volume, wide: bool) -> Vec<String> {
    let mut row = vec![
        volume.persistent_volume.clone(),
        or_none(volume.aws_volume_id.as_deref()),
        or_none(volume.zone.as_deref()),
    ];
    if wide {
        row.push(or_none(volume.region.as_deref()));
        row.push(or_none(volume.state.as_deref()));
        row.push(volume.basis.clone());
        row.push(or_none(volume.kubernetes_volume_id.as_deref()));
    }
    let mut told: Vec<String> = volume
        .findings
        .iter()
        .filter(|finding| wide || finding.tells())
        .map(|finding| sentence(finding, wide))
        .collect();
    told.extend(volume.proposed.labels.iter().map(|(key, value)| format!("set label {key}={value}")));
    if volume.proposed.affinity.is_some() {
        told.push("set node affinity".to_owned());
    }
    row.push(if told.is_empty() { "-".to_owned() } else { told.join("; ") });
    row
}

fn sentence(finding: &Finding, wide: bool) -> String {
    if wide { format!("{}: {}", finding.code, finding.message) } else { finding.code.clone() }
}

fn pod_head(wide: bool) -> Vec<&'static str> {
    let mut head = vec!["NAMESPACE", "POD", "NODE", "FITS"];
    if wide {
        head.extend(["ON", "NOT ON"]);
    }
    head.push("FINDINGS");
    head
}

fn pod_row(pod: &Pod, wide: bool) -> Vec<String> {
    let count = |groups: &[NodeGroup]| groups.iter().map(|group| group.node_count).sum::<usize>();
    let fits = count(&pod.feasible);
    let mut row = vec![
        pod.namespace.clone(),
        pod.name.clone(),
        or_none(pod.node.as_deref()),
        format!("{fits} of {} nodes", fits + count(&pod.refused)),
    ];
    if wide {
        row.push(groups(&pod.feasible, false));
        row.push(groups(&pod.refused, true));
    }
    let told: Vec<String> = pod.findings.iter().map(|finding| sentence(finding, wide)).collect();
    row.push(if told.is_empty() { "-".to_owned() } else { told.join("; ") });
    row
}

fn groups(groups: &[NodeGroup], why: bool) -> String {
    let one = |group: &NodeGroup| {
        let more = group.node_count - group.nodes.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let reasons: Vec<&str> = group.reasons.iter().map(|reason| reason.code.as_str()).collect();
        let why = if why { format!(" ({})", reasons.join(", ")) } else { String::new() };
        format!("{}{more}{why}", group.nodes.join(" "))
    };
    if groups.is_empty() { "-".to_owned() } else { groups.iter().map(one).collect::<Vec<_>>().join("; ") }
}

fn attachment_head(wide: bool) -> Vec<&'static str> {
    let mut head = vec!["VOLUME", "NODE", "VERDICT", "REMEDY"];
    if wide {
        head.extend(["ESCALATION", "VOLUMEATTACHMENT", "PERSISTENTVOLUME", "INSTANCE", "WHY"]);
    } else {
        head.push("CODE");
    }
    head
}

fn attachment_row(pair: &Attachment, wide: bool) -> Vec<String> {
    let mut row = vec![
        or_none(pair.aws_volume_id.as_deref()),
        or_none(pair.node.as_deref()),
        pair.drift.clone().unwrap_or_else(|| pair.verdict.clone()),
        pair.remedy.clone(),
    ];
    if wide {
        row.push(or_none(pair.escalation.as_deref()));
        row.push(or_none(pair.volume_attachment.as_deref()));
        row.push(or_none(pair.persistent_volume.as_deref()));
        row.push(or_none(pair.instance.as_deref()));
        row.push(pair.reason.clone());
    } else {
        row.push(pair.code.clone());
    }
    row
}

fn problems(report: &Report) -> String {
    let line = |problem: &crate::report::Problem| format!("{}: {}\n", problem.severity, one_line(&problem.message));
    let lines: String = report.problems.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("NOT READ OR NOT KNOWN\n{lines}\n") }
}

fn summary(report: &Report) -> String {
    let summary = &report.summary;
    let part = |count: usize, one: &str, findings: usize| format!("{}, {findings} with findings", counted(count, one));
    format!(
        "{}; {}; {}; {} (policy {} {}, sha256:{})\n",
        part(summary.volumes, "volume", summary.volumes_with_findings),
        part(summary.pods, "pod", summary.pods_with_findings),
        part(summary.attachments, "attachment", summary.attachments_with_findings),
        counted(summary.problems, "problem"),
        report.policy.name,
        report.policy.version,
        report.policy.digest.get(..12).unwrap_or(&report.policy.digest),
    )
}

/// `1 volume`, and `2 volumes` or `0 volumes`.
fn counted(count: usize, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_not_told_as_several() {
        let told = [0, 1, 2].map(|count| counted(count, "problem"));
        assert_eq!(told, ["0 problems", "1 problem", "2 problems"]);
    }
}
