//! The metrics that a sweep leaves behind.

use std::time::Duration;

use metrics_exporter_prometheus::PrometheusBuilder;
use zonewarden_ec2::{Ec2, Options};
use zonewarden_ec2_double::{Action, Fault};

use crate::{about_volumes, options, volume, with_volumes};

/// All on one thread, whose recorder is our own.
#[tokio::test]
async fn a_sweep_with_a_bad_id_and_a_throttle() {
    let (double, _) = with_volumes(20).await;
    double.with(|world| world.remove_volume(&volume(7)));
    double.fault_next(Action::DescribeVolumes, [Fault::Throttle, Fault::Hang]);
    let recorder = PrometheusBuilder::new().build_recorder();
    let page = recorder.handle();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let patient = Options { attempts: 4, attempt_timeout: Duration::from_millis(500), ..options(double.endpoint()) };
    let ec2 = Ec2::connect(&patient).await.unwrap();
    ec2.sweep(&about_volumes((0..20).map(volume))).await;
    let page = page.render();
    let lines: Vec<_> = page.lines().filter(|line| !line.starts_with('#') && !line.contains("duration")).collect();
    let mut lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    let expected = [
        r#"zonewarden_batch_splits_total{reason="named"} 1"#,
        r#"zonewarden_ec2_requests_total{operation="DescribeVolumes",code="InvalidVolume.NotFound"} 1"#,
        r#"zonewarden_ec2_requests_total{operation="DescribeVolumes",code="RequestLimitExceeded"} 1"#,
        r#"zonewarden_ec2_requests_total{operation="DescribeVolumes",code="ok"} 2"#,
        r#"zonewarden_ec2_requests_total{operation="DescribeVolumes",code="timeout"} 1"#,
        r#"zonewarden_ec2_throttles_total{operation="DescribeVolumes"} 1"#,
        r#"zonewarden_parked_ids{operation="DescribeInstances"} 0"#,
        r#"zonewarden_parked_ids{operation="DescribeVolumes"} 1"#,
    ];
    assert_eq!(lines, expected);
    let durations = r#"zonewarden_ec2_request_duration_seconds_count{operation="DescribeVolumes"} 5"#;
    assert!(page.contains(durations), "{page}");
}
