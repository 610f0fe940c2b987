//! The standard AWS environment: variables, profiles, IRSA, EKS Pod Identity, or nothing at all.
//!
//! What a process is given can't be changed in safety while it runs, so each test runs this binary once more, with an
//! environment of its own and one test: [`asks_in_its_own_environment`].

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;

use zonewarden_ec2::{Ec2, Options};
use zonewarden_ec2_double::{Double, Volume};

use super::scripted::Server;
use crate::{ZONE, about_volumes, codes, verdicts, volume};

/// The file that the answer is written to, if this is the process that asks.
pub(super) const ANSWER: &str = "ZONEWARDEN_TEST_ANSWER";
/// The profile that is chosen by an option.
const PROFILE: &str = "ZONEWARDEN_TEST_PROFILE";

/// Not a test of its own: what the others run in a process of its own.
#[tokio::test]
async fn asks_in_its_own_environment() {
    let Some(path) = std::env::var_os(ANSWER) else { return };
    let options = Options { profile: std::env::var(PROFILE).ok(), attempts: 1, ..Options::default() };
    let answer = match Ec2::connect(&options).await {
        Ok(ec2) => {
            let sweep = ec2.sweep(&about_volumes([volume(0)])).await;
            format!("{} {} {}", ec2.region(), verdicts(&sweep.volumes)[0], codes(&sweep).concat())
        }
        Err(error) => error.to_string(),
    };
    fs::write(path, answer.trim_end()).unwrap();
}

/// What the answer is in this environment, and the keys that the requests to EC2 were signed with.
async fn ask(environment: &[(&str, &str)], folder: &Path) -> (String, Vec<String>) {
    let double = Double::start().await;
    double.with(|world| world.add_volume(Volume::new(volume(0), ZONE)));
    let ec2 = Server::retelling(double.address(), |_, answer| answer).await;
    let answer = folder.join("answer");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "live::environment::asks_in_its_own_environment"]).env_clear();
    command.env(ANSWER, &answer).env("AWS_ENDPOINT_URL_EC2", ec2.endpoint()).env("AWS_EC2_METADATA_DISABLED", "true");
    command.envs(environment.iter().map(|(key, value)| (OsString::from(key), OsString::from(value))));
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let keys = ec2.asked().into_iter().map(|asked| {
        let (_, rest) = asked.head.split_once("Credential=").unwrap();
        rest.split('/').next().unwrap().to_owned()
    });
    (fs::read_to_string(answer).unwrap(), keys.collect())
}

fn signed_with(key: &str, answer: &str) -> (String, Vec<String>) {
    (answer.to_owned(), vec![key.to_owned()])
}

#[tokio::test]
async fn keys_in_variables() {
    let folder = tempfile::tempdir().unwrap();
    let environment =
        [("AWS_ACCESS_KEY_ID", "AKIDVARIABLE"), ("AWS_SECRET_ACCESS_KEY", "secret"), ("AWS_REGION", "eu-west-1")];
    assert_eq!(ask(&environment, folder.path()).await, signed_with("AKIDVARIABLE", "eu-west-1 found"));
}

#[tokio::test]
async fn a_profile_that_an_option_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let [config, credentials] = ["config", "credentials"].map(|name| folder.path().join(name));
    fs::write(&config, "[default]\nregion = us-west-2\n[profile prod]\nregion = eu-central-1\n").unwrap();
    let keys = "[default]\naws_access_key_id = AKIDDEFAULT\naws_secret_access_key = secret\n\
                [prod]\naws_access_key_id = AKIDPROD\naws_secret_access_key = secret\n";
    fs::write(&credentials, keys).unwrap();
    let files =
        [("AWS_CONFIG_FILE", config.to_str().unwrap()), ("AWS_SHARED_CREDENTIALS_FILE", credentials.to_str().unwrap())];
    assert_eq!(ask(&files, folder.path()).await, signed_with("AKIDDEFAULT", "us-west-2 found"));
    let chosen = [files[0], files[1], (PROFILE, "prod")];
    assert_eq!(ask(&chosen, folder.path()).await, signed_with("AKIDPROD", "eu-central-1 found"));
}

#[tokio::test]
async fn irsa() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    fs::write(&token, "the-pod's-token").unwrap();
    let sts = Server::saying(
        "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
         <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AKIDIRSA</AccessKeyId>\
         <SecretAccessKey>secret</SecretAccessKey><SessionToken>session</SessionToken>\
         <Expiration>2199-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
         </AssumeRoleWithWebIdentityResponse>",
    )
    .await;
    let endpoint = sts.endpoint();
    let environment = [
        ("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/zonewarden"),
        ("AWS_WEB_IDENTITY_TOKEN_FILE", token.to_str().unwrap()),
        ("AWS_ENDPOINT_URL_STS", &endpoint),
        ("AWS_REGION", "eu-west-1"),
    ];
    assert_eq!(ask(&environment, folder.path()).await, signed_with("AKIDIRSA", "eu-west-1 found"));
    assert!(sts.asked()[0].body.contains("Action=AssumeRoleWithWebIdentity"), "{:?}", sts.asked());
}

#[tokio::test]
async fn pod_identity() {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    fs::write(&token, "the-pod's-token").unwrap();
    let agent = Server::saying(
        r#"{"AccessKeyId":"AKIDPOD","SecretAccessKey":"secret","Token":"session","Expiration":"2199-01-01T00:00:00Z"}"#,
    )
    .await;
    let endpoint = format!("{}/v1/credentials", agent.endpoint());
    let environment = [
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", &*endpoint),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.to_str().unwrap()),
        ("AWS_REGION", "eu-west-1"),
    ];
    assert_eq!(ask(&environment, folder.path()).await, signed_with("AKIDPOD", "eu-west-1 found"));
    assert!(agent.asked()[0].head.to_lowercase().contains("authorization: the-pod's-token"), "{:?}", agent.asked());
}

#[tokio::test]
async fn d_27_no_credentials_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let answer = ask(&[("AWS_REGION", "eu-west-1")], folder.path()).await;
    assert_eq!(answer, ("eu-west-1 unknown: denied denied".to_owned(), vec![]));
}

#[tokio::test]
async fn no_region_is_an_error_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (answer, keys) = ask(&[], folder.path()).await;
    let expected =
        "no AWS region: nothing given names one, nor does AWS_REGION, the profile or the instance's metadata";
    assert_eq!((&*answer, keys), (expected, vec![]));
}
