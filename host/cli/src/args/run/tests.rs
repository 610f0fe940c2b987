//! The flags of the host, as they are typed, stand in the environment's place, or in the configuration file.

use std::ffi::OsString;
use std::io::Write as _;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use super::*;
use crate::config;

#[derive(Debug, Parser)]
#[command(name = "zonewarden")]
struct Probe {
    #[command(flatten)]
    run: RunArgs,
}

fn parsed(args: &[&str]) -> Result<RunArgs, String> {
    let args = ["zonewarden"].iter().chain(args);
    Probe::try_parse_from(args).map(|probe| probe.run).map_err(|error| error.to_string())
}

/// The flags with a configuration file.
fn with_file(content: &str, args: &[&str]) -> Result<RunArgs, String> {
    let mut file = tempfile::Builder::new().suffix(".yaml").tempfile().expect("a file can be made");
    file.write_all(content.as_bytes()).expect("a file can be written");
    let args: Vec<OsString> = ["zonewarden"].iter().chain(args).map(OsString::from).collect();
    let command = config::applied(Probe::command(), Some(file.path()), &args).map_err(|error| format!("{error:#}"))?;
    let matches = command.try_get_matches_from(args).map_err(|error| error.to_string())?;
    Probe::from_arg_matches(&matches).map(|probe| probe.run).map_err(|error| error.to_string())
}

#[test]
fn nothing_given_observes_at_the_usual_pace() {
    let run = parsed(&[]).expect("no flag is needed");
    assert_eq!([run.modes.label(), run.modes.reconcile()], [Mode::Observe; 2]);
    assert_eq!((run.modes.delete_pods, run.modes.delete_leaked_attachments), (false, false));
    let PollingArgs { volume_interval, instance_interval, suspect_interval } = run.polling;
    assert_eq!([volume_interval, instance_interval, suspect_interval].map(|interval| interval.as_secs()), [60, 15, 1]);
    assert_eq!(run.policy_poll_interval, Duration::from_secs(2));
    assert_eq!(run.listen.to_string(), "0.0.0.0:8080");
    assert_eq!(run.stuck_volume_series, 50);
    assert_eq!((run.lease.lease_name.as_str(), run.lease.lease_namespace), ("zonewarden", None));
    assert_eq!((run.log.log_format, run.log.log_level), (LogFormat::Auto, None));
    assert!(!run.world.live.is_named());
}

#[test]
fn a_job_s_own_mode_wins_over_that_of_all() {
    let modes = |args: &[&str]| {
        let modes = parsed(args).expect("the flags are good").modes;
        [modes.label(), modes.reconcile()]
    };
    use Mode::{Enforce, Observe};
    assert_eq!(modes(&["--mode", "enforce"]), [Enforce; 2]);
    assert_eq!(modes(&["--mode", "enforce", "--reconcile-mode", "observe"]), [Enforce, Observe]);
    assert_eq!(modes(&["--label-mode=enforce"]), [Enforce, Observe]);
}

#[test]
fn what_is_wrong_with_a_value_is_told_by_flag_text_and_accepted_forms() {
    let duration = "a number with its unit is meant, as 500ms, 15s, 2m or 1h30m";
    for (args, named) in [
        (&["--volume-interval", "60"][..], &["'60'", "--volume-interval", duration][..]),
        (&["--instance-interval", "soon"], &["'soon'", "--instance-interval", duration]),
        (&["--suspect-interval", "1ms"], &["'1ms'", "--suspect-interval", "between 100ms and 24h is meant"]),
        (&["--policy-poll-interval=-2s"], &["'-2s'", "--policy-poll-interval", duration]),
        (&["--listen", "8080"], &["'8080'", "--listen", "127.0.0.1:9090"]),
        (&["--mode", "force"], &["'force'", "--mode", "observe, enforce"]),
        (&["--log-format", "xml"], &["'xml'", "--log-format", "auto, text, json"]),
        (&["--world", "w", "--region", "eu-west-1"], &["--world", "--region", "cannot be used with"]),
        (&["--cluster", "f", "--kubeconfig", "k"], &["--cluster", "--kubeconfig", "cannot be used with"]),
    ] {
        let error = parsed(args).expect_err("the value is wrong");
        for text in named {
            assert!(error.contains(text), "{text:?} is not in {error}");
        }
    }
}

#[test]
fn every_flag_has_an_environment_variable_of_its_name() {
    let command = Probe::command();
    let flags = command.get_arguments().filter(|arg| !["help", "version"].contains(&arg.get_id().as_str()));
    let mut count = 0;
    for flag in flags {
        let long = flag.get_long().expect("every flag has a long name");
        let variable = format!("ZONEWARDEN_{}", long.to_uppercase().replace('-', "_"));
        assert_eq!(flag.get_env().and_then(|env| env.to_str()), Some(variable.as_str()));
        count += 1;
    }
    assert_eq!(count, 28);
}

#[test]
fn the_configuration_file_takes_every_kind_of_flag() {
    let content = "mode: enforce\nreconcile-mode: observe\ndelete-pods: true\nvolume-interval: 2m\nlisten: 127.0.0.1:9\n\
                   log-level: debug\nkubeconfig: k\n";
    let run = with_file(content, &["--volume-interval", "30s"]).expect("the file is good");
    assert_eq!([run.modes.label(), run.modes.reconcile()], [Mode::Enforce, Mode::Observe]);
    assert!(run.modes.delete_pods && !run.modes.delete_leaked_attachments);
    assert_eq!(run.polling.volume_interval, Duration::from_secs(30), "a flag wins");
    assert_eq!((run.listen.port(), run.log.log_level.as_deref()), (9, Some("debug")));
    assert!(run.world.live.is_named());
}

#[test]
fn a_wrong_value_in_the_file_is_told_by_file_flag_text_and_accepted_forms() {
    for (content, named) in [
        ("volume-interval: 60", &["volume-interval", "\"60\"", "a number with its unit is meant, as 500ms"][..]),
        ("listen: here", &["listen", "\"here\"", "an address and a port are meant"]),
        ("mode: force", &["mode", "\"force\"", "observe, enforce"]),
        ("delete-pods: maybe", &["delete-pods", "\"maybe\"", "true, false"]),
    ] {
        let error = with_file(content, &[]).expect_err("the value is wrong");
        for text in [&[".yaml"], named].concat() {
            assert!(error.contains(text), "{text:?} is not in {error}");
        }
    }
}

/// Whoever names a world on the command line means that one, whatever a weaker source names.
#[test]
fn a_world_named_by_a_flag_puts_one_of_the_file_out_of_force() {
    let run = with_file("kubeconfig: k\nregion: eu-west-1\n", &["--world", "w"]).expect("the flag wins");
    assert!(run.world.world.is_some() && !run.world.live.is_named());
    let run = with_file("world: w\n", &["--context", "c"]).expect("the flag wins");
    assert!(run.world.world.is_none() && run.world.live.is_named());
    let run = with_file("cluster: f\n", &["--profile=p"]).expect("the flag wins");
    assert!(run.world.cluster.is_empty() && run.world.live.is_named());
}
