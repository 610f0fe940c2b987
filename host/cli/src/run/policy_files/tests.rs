//! Files that change, as editors, copies and mounted ConfigMaps change them.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::OnceLock;

use metrics_exporter_prometheus::PrometheusRecorder;
use tempfile::TempDir;
use zonewarden_artifacts::{EBS_COMPONENT, EBS_CORE, EBS_STRICT_COMPONENT};
use zonewarden_engine::{Options, digest};

use super::*;
use crate::run::health::Health;
use crate::run::{metrics as program_metrics, shutdown};

/// One engine with one cache, so that each policy is compiled once.
fn engine() -> Engine {
    static ENGINE: OnceLock<(TempDir, Engine)> = OnceLock::new();
    let (_, engine) = ENGINE.get_or_init(|| {
        let cache = tempfile::tempdir().expect("a folder can be made");
        let options = Options { cache: Some(cache.path().to_owned()), ..Options::default() };
        (cache, Engine::new(&options).expect("the engine starts"))
    });
    engine.clone()
}

/// A folder with files that are watched, what decides, and what was told.
struct Watched {
    folder: TempDir,
    slot: Arc<PolicySlot>,
    health: Health,
    recorder: PrometheusRecorder,
    notices: Arc<Mutex<Vec<Notice>>>,
    files: PolicyFiles,
}

impl Watched {
    /// Watches `policy.wasm` and, where it is asked for, `settings.yaml`, while the default policy decides.
    fn new(has_settings: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let args = DeciderArgs {
            policy: Some(folder.path().join("policy.wasm")),
            settings: has_settings.then(|| folder.path().join("settings.yaml")),
            cache_dir: None,
        };
        let policy = engine().load(EBS_COMPONENT).expect("it is a policy").with_settings(vec![]);
        let slot = Arc::new(PolicySlot::new(policy.expect("it needs no settings")));
        let (health, notices) = (Health::default(), Arc::new(Mutex::new(Vec::new())));
        let told = Arc::clone(&notices);
        let notify = Box::new(move |notice| told.lock().expect("nobody panics").push(notice));
        let recorder = program_metrics::recorder().expect("the buckets are good");
        let files = metrics::with_local_recorder(&recorder, || {
            PolicyFiles::of(&args, engine(), Arc::clone(&slot), health.part("policy"), notify)
        });
        let files = files.expect("the flags are good").expect("there is something to watch");
        Self { folder, slot, health, recorder, notices, files }
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.folder.path().join(name), bytes).expect("a file can be written");
    }

    /// Looks once and says who decides.
    fn look(&self) -> &'static str {
        metrics::with_local_recorder(&self.recorder, || self.files.look());
        let current = self.slot.current();
        match current.digest() {
            found if found == digest(EBS_COMPONENT) => "ebs",
            found if found == digest(EBS_STRICT_COMPONENT) => "ebs-strict",
            other => panic!("nobody swapped {other} in"),
        }
    }

    /// How often a result was counted.
    fn count(&self, result: &str) -> u64 {
        let line = format!("zonewarden_policy_swaps_total{{result=\"{result}\"}} ");
        let text = self.recorder.handle().render();
        text.lines().find_map(|found| found.strip_prefix(&line)?.parse().ok()).unwrap_or(0)
    }

    /// The event of the last look; the others are gone.
    fn notice(&self) -> Notice {
        let mut notices = self.notices.lock().expect("nobody panics");
        let last = notices.pop().expect("somebody is told");
        assert!(notices.is_empty(), "{notices:?}");
        last
    }

    /// The look refused the file for this reason, and all who should know do.
    #[track_caller]
    fn refused(&self, file: &str, result: &str, why: &str) {
        assert_eq!(self.count(result), 1, "{result}");
        let Notice { is_warning, reason, note } = self.notice();
        assert_eq!((is_warning, reason), (true, "PolicyRefused"));
        let start = format!("{}: refused: ", self.folder.path().join(file).display());
        let end = format!("; the one with digest sha256:{} still decides", &self.slot.current().digest()[..12]);
        assert!(note.starts_with(&start) && note.contains(why) && note.ends_with(&end), "{note}");
        let ready = self.health.ready();
        assert_eq!((ready.is_good, ready.text), (true, format!("[+]policy ok: {note}\n")));
    }

    fn is_quiet(&self) -> bool {
        self.notices.lock().expect("nobody panics").is_empty() && self.health.ready().text == "[+]policy ok\n"
    }
}

#[test]
fn a_new_file_decides_and_is_told_of_once() {
    let watched = Watched::new(false);
    watched.write("policy.wasm", EBS_COMPONENT);
    assert_eq!(watched.look(), "ebs");
    assert!(watched.is_quiet(), "what decides already is no news");
    watched.write("policy.wasm", EBS_STRICT_COMPONENT);
    assert_eq!(watched.look(), "ebs-strict");
    let strict = digest(EBS_STRICT_COMPONENT);
    let version = watched.slot.current().info().version.clone();
    let note = format!("the policy ebs-strict {version} (sha256:{}) decides now, with 0 settings", &strict[..12]);
    assert_eq!(watched.notice(), Notice { is_warning: false, reason: "PolicySwapped", note });
    let text = watched.recorder.handle().render();
    for (digest, name, value) in [(strict, "ebs-strict", 1), (digest(EBS_COMPONENT), "ebs", 0)] {
        let labels = format!("{{digest=\"{digest}\",name=\"{name}\",version=\"{version}\"}}");
        let line = format!("zonewarden_policy_info{labels} {value}");
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert_eq!(watched.look(), "ebs-strict");
    assert!(watched.is_quiet());
    assert_eq!((watched.count("ok"), watched.slot.generation()), (1, 1));
}

/// The kubelet writes a new folder and moves a symlink to it into the old one's place; the paths of the files never change.
#[test]
fn the_symlink_swap_of_a_mounted_config_map_counts() {
    let watched = Watched::new(true);
    let root = watched.folder.path();
    let mount = |version: &str, policy: &[u8], settings: &str| {
        fs::create_dir(root.join(version)).expect("a folder can be made");
        watched.write(&format!("{version}/policy.wasm"), policy);
        watched.write(&format!("{version}/settings.yaml"), settings.as_bytes());
        symlink(version, root.join("..data_tmp")).expect("a symlink can be made");
        fs::rename(root.join("..data_tmp"), root.join("..data")).expect("a symlink can be replaced");
    };
    mount("..2026_01", EBS_COMPONENT, "{}");
    symlink("..data/policy.wasm", root.join("policy.wasm")).expect("a symlink can be made");
    symlink("..data/settings.yaml", root.join("settings.yaml")).expect("a symlink can be made");
    assert_eq!(watched.look(), "ebs");
    assert!(watched.is_quiet());

    mount("..2026_02", EBS_STRICT_COMPONENT, "zone-hints: ignore");
    fs::remove_dir_all(root.join("..2026_01")).expect("the old folder can be removed");
    watched.look();
    watched.refused("settings.yaml", "settings", "zone-hints");

    mount("..2026_03", EBS_STRICT_COMPONENT, "volume-ids: lenient");
    assert_eq!(watched.look(), "ebs-strict");
    assert_eq!(watched.slot.current().settings().len(), 1);
    assert_eq!(watched.notice().reason, "PolicySwapped");

    // Other settings alone are another decider too.
    mount("..2026_04", EBS_STRICT_COMPONENT, "volume-ids: strict");
    watched.look();
    assert_eq!(watched.slot.current().settings()[0].value, "strict");
    assert_eq!((watched.notice().reason, watched.slot.generation(), watched.count("ok")), ("PolicySwapped", 2, 2));
    assert!(watched.is_quiet());
}

#[test]
fn a_half_written_file_is_refused_and_tried_again_when_it_is_whole() {
    let watched = Watched::new(false);
    watched.write("policy.wasm", &EBS_STRICT_COMPONENT[..EBS_STRICT_COMPONENT.len() / 2]);
    assert_eq!(watched.look(), "ebs");
    watched.refused("policy.wasm", "load", "it is no valid component");
    // The same content is not tried again, and nobody told twice.
    assert_eq!(watched.look(), "ebs");
    assert_eq!(watched.count("load"), 1);
    assert!(watched.notices.lock().expect("nobody panics").is_empty());
    watched.write("policy.wasm", EBS_STRICT_COMPONENT);
    assert_eq!(watched.look(), "ebs-strict");
    assert_eq!(watched.notice().reason, "PolicySwapped");
    assert!(watched.is_quiet());
}

#[test]
fn the_old_file_back_in_its_place_clears_the_trouble() {
    let watched = Watched::new(false);
    watched.look();
    watched.refused("policy.wasm", "read", "can't be read: No such file or directory");
    watched.write("policy.wasm", EBS_CORE);
    watched.look();
    watched.refused("policy.wasm", "load", "it is a core module, not a component");
    watched.write("policy.wasm", EBS_COMPONENT);
    assert_eq!(watched.look(), "ebs");
    assert!(watched.is_quiet());
    assert_eq!((watched.count("ok"), watched.slot.generation()), (0, 0));
}

#[test]
fn a_folder_and_a_file_without_end_are_no_policies() {
    let watched = Watched::new(false);
    fs::create_dir(watched.folder.path().join("policy.wasm")).expect("a folder can be made");
    watched.look();
    watched.refused("policy.wasm", "read", "it is no file");
    fs::remove_dir(watched.folder.path().join("policy.wasm")).expect("a folder can be removed");
    let file = fs::File::create(watched.folder.path().join("policy.wasm")).expect("a file can be made");
    file.set_len(1 << 30).expect("a file may have holes");
    watched.look();
    watched.refused("policy.wasm", "load", "a component may have 16777216");
}

#[test]
fn settings_that_are_not_good_keep_the_old_ones() {
    for (settings, why) in [
        ("volume-ids: [\n", "the settings can't be read"),
        ("- volume-ids\n", "a map of settings"),
        ("volume-ids: [strict]\n", "one text, number, true or false"),
        ("volume-ids: loose\n", "\"loose\""),
        ("", "there is nothing in it"),
    ] {
        let watched = Watched::new(true);
        watched.write("policy.wasm", EBS_COMPONENT);
        watched.write("settings.yaml", settings.as_bytes());
        assert_eq!(watched.look(), "ebs");
        watched.refused("settings.yaml", "settings", why);
        assert_eq!(watched.slot.current().settings(), []);
        watched.write("settings.yaml", b"volume-ids: strict\n");
        watched.look();
        assert_eq!(watched.slot.current().settings().len(), 1);
    }
}

#[test]
fn nothing_named_is_nothing_to_watch_and_standard_input_can_not_be() {
    let watched = Watched::new(false);
    let of = |settings: Option<&str>| {
        let args = DeciderArgs { policy: None, settings: settings.map(PathBuf::from), cache_dir: None };
        let part = watched.health.part("another");
        PolicyFiles::of(&args, engine(), Arc::clone(&watched.slot), part, Box::new(|_| ()))
    };
    assert!(of(None).expect("no file is good").is_none());
    assert_eq!(watched.health.ready().text, "[+]another ok\n[+]policy ok\n");
    let error = of(Some("-")).err().expect("standard input is refused");
    assert_eq!(error.to_string(), "--settings -: standard input can't be watched; give a file");
    assert!(of(Some("settings.yaml")).expect("a file is good").is_some());
}

#[test]
fn a_note_fits_an_event_whatever_the_policy_is_called() {
    assert_eq!(cut("abc", 2), "ab");
    assert_eq!(cut("aé", 2), "a");
    assert_eq!(cut("abc", 9), "abc");
    assert_eq!(label(&"\n".repeat(100)).len(), 64);
}

/// The loop as it runs: on a thread pool, until the end is asked for.
#[tokio::test]
async fn the_watch_swaps_by_itself_and_ends_when_it_is_asked_to() {
    let Watched { folder, slot, health, notices, files, .. } = Watched::new(false);
    fs::write(folder.path().join("policy.wasm"), EBS_STRICT_COMPONENT).expect("a file can be written");
    let (stop, shutdown) = shutdown::channel();
    let beat = health.heartbeat("policy", Duration::from_secs(60));
    let (swapped, heard) = tokio::sync::oneshot::channel();
    let swapped = Mutex::new(Some(swapped));
    slot.subscribe(move |policy| {
        let swapped = swapped.lock().expect("nobody panics").take().expect("one file is one swap");
        swapped.send(policy.digest().to_owned()).expect("the test waits");
    });
    let watching = tokio::spawn(watch(files, Duration::from_millis(5), beat, shutdown));
    let limit = Duration::from_secs(60);
    let heard = tokio::time::timeout(limit, heard).await.expect("it is swapped in").expect("it is told");
    assert_eq!(heard, digest(EBS_STRICT_COMPONENT));
    stop.now();
    tokio::time::timeout(limit, watching).await.expect("it ends").expect("it does not panic");
    assert!(notices.lock().expect("nobody panics").len() <= 1);
}
