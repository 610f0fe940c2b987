//! Logs: lines on standard error, text for people, JSON for programs.

use std::io::{self, IsTerminal as _};

use anyhow::{Context as _, Result, bail};
use tracing::Subscriber;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::args::run::{LogArgs, LogFormat};

/// What is written where nobody says otherwise.
const DEFAULT_LEVEL: &str = "info";

/// Writes the logs of the whole program from now on. Once a process.
pub(crate) fn install(args: &LogArgs) -> Result<()> {
    let is_text = match args.log_format {
        LogFormat::Auto => io::stderr().is_terminal(),
        LogFormat::Text => true,
        LogFormat::Json => false,
    };
    let filter = filter(args.log_level.as_deref(), std::env::var("RUST_LOG").ok().as_deref())?;
    let subscriber = subscriber(is_text, io::stderr().is_terminal(), filter, io::stderr);
    tracing::subscriber::set_global_default(subscriber).context("logs are written already")
}

/// The level of `--log-level`, else of `RUST_LOG`, else the default.
fn filter(flag: Option<&str>, environment: Option<&str>) -> Result<EnvFilter> {
    let given = |text: &&str| !text.trim().is_empty();
    if let Some(text) = flag {
        return strict(text).with_context(|| format!("--log-level {text:?}"));
    }
    let text = environment.filter(given).unwrap_or(DEFAULT_LEVEL);
    EnvFilter::try_new(text).with_context(|| format!("RUST_LOG {text:?}"))
}

/// A single word has to be a level: taken as the name of a module, as RUST_LOG takes it, `inof` would silence everything.
fn strict(text: &str) -> Result<EnvFilter> {
    for directive in text.split(',').map(str::trim) {
        let is_word = !directive.contains(['=', '[']);
        if is_word && (directive.is_empty() || directive.parse::<LevelFilter>().is_err()) {
            bail!(
                "{directive:?} is none of off, error, warn, info, debug, trace, and no module with its level, as zonewarden_sync=debug"
            );
        }
    }
    EnvFilter::try_new(text).context("a level is meant, or modules with their levels, as info,zonewarden_sync=debug")
}

fn subscriber<W>(is_text: bool, in_color: bool, filter: EnvFilter, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    if is_text {
        Box::new(builder.with_ansi(in_color).finish())
    } else {
        Box::new(builder.with_ansi(false).json().flatten_event(true).with_current_span(false).finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Debug, Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("nobody panics").extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is written of three lines of different levels.
    fn written(is_text: bool, filter: EnvFilter) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = subscriber(is_text, false, filter, move || writer.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(policy = "abc", code = "zone-mismatch", "the policy \u{1b}[31m is refused");
            tracing::info!("info is written");
            tracing::debug!("debug is written");
        });
        let bytes = lines.0.lock().expect("nobody panics").clone();
        String::from_utf8(bytes).expect("logs are UTF-8")
    }

    #[test]
    fn json_is_one_object_a_line_with_the_fields_on_top() {
        let text = written(false, filter(None, None).expect("the default is good"));
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert_eq!(lines.len(), 2, "{text}");
        let told = ["level", "policy", "code", "message"].map(|key| lines[0][key].as_str().unwrap_or_default());
        assert_eq!(told, ["WARN", "abc", "zone-mismatch", "the policy \u{1b}[31m is refused"]);
        assert_eq!(lines[0]["target"], "zonewarden_cli::run::logging::tests");
        assert!(lines[0]["timestamp"].as_str().is_some_and(|time| time.ends_with('Z')));
    }

    #[test]
    fn text_is_for_people_and_no_line_of_it_reaches_the_terminal_s_controls() {
        let text = written(true, filter(None, None).expect("the default is good"));
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("WARN") && text.contains("policy=\"abc\""), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn the_flag_wins_over_rust_log_and_that_over_the_default() {
        let count =
            |flag, environment| written(false, filter(flag, environment).expect("the levels are good")).lines().count();
        assert_eq!(count(None, None), 2);
        assert_eq!(count(None, Some("")), 2);
        assert_eq!(count(None, Some("warn")), 1);
        assert_eq!(count(Some("debug"), Some("warn")), 3);
        assert_eq!(count(Some("off,zonewarden_cli=warn"), None), 1);
        assert_eq!(count(Some("WARN"), None), 1);
    }

    #[test]
    fn a_level_that_is_none_is_told_by_flag_text_and_accepted_forms() {
        for (text, named) in [
            ("inof", "\"inof\" is none of off, error, warn, info, debug, trace"),
            ("", "\"\" is none of"),
            ("info,zonewarden_sync", "\"zonewarden_sync\" is none of"),
            ("zonewarden_sync=loud", "as info,zonewarden_sync=debug"),
        ] {
            let error = filter(Some(text), None).expect_err("it is no level");
            let error = format!("{error:#}");
            assert!(error.contains(&format!("--log-level {text:?}")) && error.contains(named), "{error}");
        }
    }
}
