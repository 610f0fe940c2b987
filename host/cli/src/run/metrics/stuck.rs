//! The series of the volumes that are stuck, one each.
//!
//! They are written here, and not by the recorder: it keeps a series for as long as the program runs, and these have to go away
//! when the volume is well again.

use std::fmt::Write as _;

use zonewarden_sync::StuckVolume;

use super::registry::{METRICS, STUCK};

/// The series in Prometheus' text format; nothing where no volume is stuck.
pub(crate) fn render(stuck: &[StuckVolume]) -> String {
    let mut text = String::new();
    if stuck.is_empty() {
        return text;
    }
    let meaning = METRICS.iter().find(|metric| metric.name == STUCK).map_or("", |metric| metric.meaning);
    let _ = write!(text, "# HELP {STUCK} {meaning}\n# TYPE {STUCK} gauge\n");
    for StuckVolume { volume, instance, persistent_volume, state, seconds } in stuck {
        let volume = escaped(&volume.aws_volume_id);
        let instance = escaped(instance.as_ref().map_or("", |instance| &instance.instance_id));
        let persistent_volume = escaped(persistent_volume.as_deref().unwrap_or_default());
        let _ = writeln!(
            text,
            "{STUCK}{{volume_id=\"{volume}\",instance_id=\"{instance}\",state=\"{state}\",\
             persistentvolume=\"{persistent_volume}\"}} {seconds}"
        );
    }
    text
}

/// A label's value: what a policy made of an object's text can hold anything.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use zonewarden_contract::types::{AwsVolumeId, InstanceId};

    use super::*;

    #[test]
    fn a_series_for_each_stuck_volume_and_nothing_where_none_is() {
        let detaching = StuckVolume {
            volume: AwsVolumeId { aws_volume_id: "vol-0a".to_owned() },
            instance: Some(InstanceId { instance_id: "i-01".to_owned() }),
            persistent_volume: Some("data".to_owned()),
            state: "detaching",
            seconds: 301,
        };
        let odd = StuckVolume {
            volume: AwsVolumeId { aws_volume_id: "a\"b\\c\nd".to_owned() },
            instance: None,
            persistent_volume: None,
            state: "none",
            seconds: 95,
        };
        let page = "\
# HELP zonewarden_stuck_volume_seconds For how long a volume is stuck on its way; the longest stuck ones only, and only while they are
# TYPE zonewarden_stuck_volume_seconds gauge
zonewarden_stuck_volume_seconds{volume_id=\"vol-0a\",instance_id=\"i-01\",state=\"detaching\",persistentvolume=\"data\"} 301
zonewarden_stuck_volume_seconds{volume_id=\"a\\\"b\\\\c\\nd\",instance_id=\"\",state=\"none\",persistentvolume=\"\"} 95
";
        assert_eq!(render(&[detaching, odd]), page);
        assert_eq!(render(&[]), "");
    }
}
