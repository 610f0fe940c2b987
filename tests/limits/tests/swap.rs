//! A policy takes another one's place only where it is as good, and nobody who asks meanwhile notices more than the answer.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use zonewarden_artifacts::{EBS_COMPONENT, EBS_CORE, EBS_STRICT_COMPONENT};
use zonewarden_contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::{KubernetesVolumeId, Setting, VolumeSource};
use zonewarden_engine::{ConfiguredPolicy, Engine, Error, Limits, Options, PolicySlot, SwapError, Swapped, digest};
use zonewarden_limits_tests::{Guest, LOOP, verdict};

/// An engine whose calls have time enough on a busy machine, with a cache of its own.
fn engine() -> (tempfile::TempDir, Engine) {
    let cache = tempfile::tempdir().expect("a temporary folder can be made");
    let limits = Limits { deadline: Duration::from_secs(10), ..Limits::default() };
    let options = Options { limits, cache: Some(cache.path().to_owned()) };
    (cache, Engine::new(&options).expect("the engine can be set up"))
}

fn slot(engine: &Engine) -> PolicySlot {
    let policy = engine.load(EBS_COMPONENT).expect("the default policy can be loaded");
    PolicySlot::new(policy.with_settings(vec![]).expect("the default policy needs no settings"))
}

fn setting(key: &str, value: &str) -> Setting {
    Setting { key: key.to_owned(), value: value.to_owned() }
}

/// Which of the two policies decides, told by a decision: `vol-1` is too short for EC2, which only the stricter one minds.
fn decision(policy: &ConfiguredPolicy) -> Result<&'static str, Error> {
    let id = KubernetesVolumeId { kubernetes_volume_id: "vol-1".to_owned() };
    let question = VolumeQuestion { source: VolumeSource::AwsElasticBlockStore(id), ec2_zone: None };
    match policy.identify_volumes(&[question])?.as_slice() {
        [VolumeIdentity::Identified(found)] if found.volume.aws_volume_id == "vol-1" => Ok("ebs"),
        [VolumeIdentity::Rejected(_)] => Ok("ebs-strict"),
        _ => Ok("neither"),
    }
}

fn decider(policy: &ConfiguredPolicy) -> &'static str {
    decision(policy).expect("a good policy answers")
}

/// Answers one element, of zeros. Every list of the contract can hold such an element.
const ONE: &str = "
    (i32.store (i32.const 1028) (i32.const 2048))
    (i32.store (i32.const 1032) (i32.const 1))
    (i32.const 1024)";

/// The functions that answer a list with a list.
const LISTS: [&str; 5] = [
    "identity.identify-volumes",
    "identity.identify-nodes",
    "labelling.label-volumes",
    "placement.score",
    "attachment.judge",
];

/// A policy that knows nothing and gives every answer its right length.
fn dull() -> Guest {
    let lists = LISTS.iter().fold(Guest::harmless(), |guest, function| guest.function(function, ONE));
    lists.function("placement.filter", &verdict(&[0]))
}

#[test]
fn a_swap_changes_who_decides_and_tells_everybody_in_order() {
    let (_cache, engine) = engine();
    let slot = slot(&engine);
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    slot.subscribe(move |policy| heard.lock().expect("nobody panics").push(policy.fingerprint().to_owned()));
    let first = slot.current();
    assert_eq!((decider(&first), slot.generation()), ("ebs", 0));

    let strict = slot.try_swap(&engine, EBS_STRICT_COMPONENT, vec![]).expect("it is a good policy");
    assert_eq!(strict, Swapped::Replaced(1));
    let second = slot.current();
    assert_eq!((decider(&second), second.info().name.as_str()), ("ebs-strict", "ebs-strict"));
    assert_eq!(second.digest(), digest(EBS_STRICT_COMPONENT));
    assert_eq!((decider(&first), first.digest()), ("ebs", &*digest(EBS_COMPONENT)), "who holds a policy keeps it");

    // The settings are a part of what decides.
    let settings = vec![setting("volume-ids", "strict")];
    assert_eq!(slot.try_swap(&engine, EBS_COMPONENT, settings.clone()).expect("it is good"), Swapped::Replaced(2));
    let third = slot.current();
    assert_eq!((third.digest(), third.settings()), (first.digest(), &*settings));
    assert_ne!(third.fingerprint(), first.fingerprint());
    assert_eq!(slot.try_swap(&engine, EBS_COMPONENT, settings).expect("it is good"), Swapped::Unchanged);
    assert_eq!(slot.generation(), 2);
    assert_eq!(*told.lock().expect("nobody panics"), [second.fingerprint(), third.fingerprint()]);
}

/// A component with its settings, and what keeps it out.
type Bad = (Vec<u8>, Vec<Setting>, &'static str, &'static str);

fn bad() -> Vec<Bad> {
    let guest = |guest: Guest, kind, text| (guest.component(), Vec::new(), kind, text);
    let whole = Guest::harmless().component();
    vec![
        (Vec::new(), vec![], "load", "it is not WebAssembly"),
        (EBS_CORE.to_vec(), vec![], "load", "it is a core module"),
        (whole[..whole.len() / 2].to_vec(), vec![], "load", "it is no valid component"),
        guest(Guest::harmless().contract("  export types;\n", ""), "import", "zonewarden:policy/types@0.1.0"),
        guest(Guest::harmless().contract("policy@0.1.0", "policy@0.2.0"), "version", "zonewarden:policy@0.2.0"),
        guest(Guest::harmless().contract("  export json;\n", ""), "contract", "policy/json@0.1.0"),
        guest(Guest::harmless().pages(1000), "memory", "instantiation"),
        (EBS_COMPONENT.to_vec(), vec![setting("volume-ids", "loose")], "settings", "loose"),
        guest(Guest::harmless().function("info.validate-settings", "(unreachable)"), "trap", "info.validate-settings"),
        guest(Guest::harmless().function("info.describe", "(unreachable)"), "trap", "info.describe"),
        guest(Guest::harmless().start("(unreachable)"), "trap", "info.validate-settings"),
        // It keeps the contract as far as types go, and answers nothing to everything.
        guest(Guest::harmless(), "smoke", "answers 0 elements to 1"),
    ]
}

/// The error with its cause.
fn text(error: &SwapError) -> String {
    let cause = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    format!("{error}: {cause}")
}

#[test]
fn whatever_is_wrong_with_the_new_policy_the_old_one_goes_on() {
    let (_cache, engine) = engine();
    let slot = slot(&engine);
    slot.subscribe(|policy| panic!("nobody is told of {policy:?}, which never decides"));
    for (bytes, settings, kind, named) in bad() {
        let error = slot.try_swap(&engine, &bytes, settings).expect_err("it has to be kept out");
        assert_eq!(error.kind(), kind, "{}", text(&error));
        assert!(text(&error).contains(named), "{named:?} is not in {:?}", text(&error));
        assert!(!error.is_transient(), "{kind}: the same bytes would fail again");
        let current = slot.current();
        assert_eq!((current.digest(), slot.generation()), (&*digest(EBS_COMPONENT), 0), "{kind}");
        assert_eq!(decider(&current), "ebs", "{kind}");
    }
}

#[test]
fn every_function_is_tried_before_a_policy_decides() {
    let (_cache, engine) = engine();
    let slot = slot(&engine);
    let others = ["placement.filter", "placement.inject", "admission.concerns", "admission.answer", "json.evaluate"];
    for function in LISTS.into_iter().chain(others) {
        let bytes = dull().function(function, "(unreachable)").component();
        let error = slot.try_swap(&engine, &bytes, vec![]).expect_err("it traps on trial");
        assert_eq!(text(&error), format!("the policy fails its trial: {function} trapped"));
        assert_eq!((error.kind(), decider(&slot.current())), ("smoke", "ebs"));
    }
    assert_eq!(slot.try_swap(&engine, &dull().component(), vec![]).expect("it answers"), Swapped::Replaced(1));
}

#[test]
fn a_policy_that_never_ends_its_trial_is_kept_out_after_its_deadline() {
    let limits = Limits { deadline: Duration::from_secs(1), ..Limits::default() };
    let engine = Engine::new(&Options { limits, cache: None }).expect("the engine can be set up");
    let slot = slot(&engine);
    let bytes = dull().function("attachment.judge", LOOP).component();
    let error = slot.try_swap(&engine, &bytes, vec![]).expect_err("it never ends");
    assert_eq!(text(&error), "the policy fails its trial: attachment.judge did not end within 1s");
    assert_eq!(decider(&slot.current()), "ebs");
}

/// What the threads that ask saw.
#[derive(Default)]
struct Seen {
    ebs: AtomicU64,
    strict: AtomicU64,
    failed: AtomicU64,
    mixed: AtomicU64,
}

impl Seen {
    fn total(&self) -> u64 {
        self.ebs.load(Ordering::Relaxed) + self.strict.load(Ordering::Relaxed)
    }

    /// Asks the policy of the moment, and holds its answer against the digest of the handle that it was asked on.
    fn ask(&self, slot: &PolicySlot) {
        let policy = slot.current();
        static EBS: LazyLock<String> = LazyLock::new(|| digest(EBS_COMPONENT));
        let expected = if policy.digest() == *EBS { "ebs" } else { "ebs-strict" };
        let counted = match decision(&policy) {
            Err(_) => &self.failed,
            Ok(answer) if answer != expected => &self.mixed,
            Ok("ebs") => &self.ebs,
            Ok(_) => &self.strict,
        };
        counted.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn ten_swaps_under_load_fail_and_mix_no_decision() {
    const ASKERS: usize = 4;
    const EACH: u64 = 25;
    let (_cache, engine) = engine();
    let slot = slot(&engine);
    let (seen, over) = (Seen::default(), AtomicBool::new(false));
    let mut generations = Vec::new();
    std::thread::scope(|scope| {
        for _ in 0..ASKERS {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    seen.ask(&slot)
                }
            });
        }
        for turn in 0..10 {
            // Questions are answered before, while and after each swap.
            let enough = seen.total() + EACH;
            while seen.total() < enough && seen.failed.load(Ordering::Relaxed) + seen.mixed.load(Ordering::Relaxed) == 0
            {
                std::thread::yield_now();
            }
            let next = if turn % 2 == 0 { EBS_STRICT_COMPONENT } else { EBS_COMPONENT };
            generations.push(slot.try_swap(&engine, next, vec![]));
        }
        over.store(true, Ordering::Relaxed);
    });
    let generations: Vec<_> = generations.into_iter().map(|swapped| swapped.expect("both are good")).collect();
    assert_eq!(generations, (1..=10).map(Swapped::Replaced).collect::<Vec<_>>());
    assert_eq!((seen.failed.into_inner(), seen.mixed.into_inner()), (0, 0));
    let (ebs, strict) = (seen.ebs.into_inner(), seen.strict.into_inner());
    assert!(ebs + strict >= 10 * EACH, "{ebs} and {strict} decisions");
    assert!(ebs > 0 && strict > 0, "{ebs} by the one, {strict} by the other");
    assert_eq!(slot.current().digest(), digest(EBS_COMPONENT), "ten swaps end where they began");
}
