//! Whatever a policy does, it fails in a way that has a name, and the next call works.
//!
//! One engine serves all of these tests at once, as in a host: what one hostile component breaks would show in another test.

use std::sync::OnceLock;
use std::time::Duration;

use zonewarden_contract::identity::{VolumeIdentity, VolumeQuestion};
use zonewarden_contract::types::{KubernetesVolumeId, VolumeSource};
use zonewarden_engine::{Blame, ConfiguredPolicy, Engine, Error, Limits, Options};
use zonewarden_limits_tests::Guest;

mod limits {
    mod answers;
    mod cache;
    mod calls;
    mod isolation;
    mod load;
}

/// Small enough to be reached quickly, and long enough for a good call on a busy machine.
fn small_limits() -> Limits {
    Limits {
        deadline: Duration::from_secs(1),
        memory_bytes: 16 << 20,
        answer_bytes: 1 << 20,
        component_bytes: 4 << 20,
        concurrency: 32,
    }
}

/// The engine that all tests share.
fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| {
        Engine::new(&Options { limits: small_limits(), cache: None }).expect("the engine can be set up")
    })
}

/// The default policy, on the shared engine.
fn good_policy() -> &'static ConfiguredPolicy {
    static POLICY: OnceLock<ConfiguredPolicy> = OnceLock::new();
    POLICY.get_or_init(|| {
        let policy = engine().load(zonewarden_artifacts::EBS_COMPONENT).expect("the default policy can be loaded");
        policy.with_settings(vec![]).expect("the default policy needs no settings")
    })
}

/// A question about one volume by this id.
fn volume(id: &str) -> VolumeQuestion {
    let id = KubernetesVolumeId { kubernetes_volume_id: id.to_owned() };
    VolumeQuestion { source: VolumeSource::AwsElasticBlockStore(id), ec2_zone: None }
}

/// Asserts that the default policy still answers, and rightly.
fn assert_next_call_works() {
    let text = "aws://us-east-1a/vol-0123456789abcdef0";
    let answer = good_policy().identify_volumes(&[volume(text)]).expect("a good policy answers after a hostile one");
    let [VolumeIdentity::Identified(found)] = answer.as_slice() else { panic!("{answer:?}") };
    assert_eq!(found.volume.aws_volume_id, "vol-0123456789abcdef0");
}

/// A hostile policy that at least accepts its settings.
fn configured(guest: &Guest) -> ConfiguredPolicy {
    let policy = engine().load(&guest.component()).expect("it keeps the contract as far as types go");
    policy.with_settings(vec![]).expect("it describes itself")
}

/// Asserts how a call failed, and that a good policy still answers.
#[track_caller]
fn assert_fails<T: std::fmt::Debug>(result: Result<T, Error>, kind: &str) -> Error {
    let error = result.expect_err("a hostile component has to fail");
    assert_eq!(error.kind(), kind, "{error}: {:?}", std::error::Error::source(&error).map(ToString::to_string));
    assert_eq!(error.blame(), Blame::Guest, "{error}");
    assert_next_call_works();
    error
}
