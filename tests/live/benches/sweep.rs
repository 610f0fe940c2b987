//! What a sweep costs: calls against the bar, and time against the bare SDK that reads the same pages.
//!
//! `cargo bench -p zonewarden-live-tests`; an optimised AWS SDK takes long to compile, and `--profile dev` shows the same
//! ratio. Both sides ask one double, in this process, in turns; a row is the median of its rounds.

use std::time::{Duration, Instant};

use aws_sdk_ec2::Client;
use aws_sdk_ec2::config::retry::RetryConfig;
use aws_sdk_ec2::config::{BehaviorVersion, Credentials, Region};
use aws_sdk_ec2::types::Filter;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use zonewarden_contract::types::AwsVolumeId;
use zonewarden_ec2::{Ec2, Evidence, Question};
use zonewarden_ec2_double::{Action, Call, Double, Volume};
use zonewarden_live_tests::unpaced;

const ROUNDS: usize = 11;
/// At most that many times the bare SDK's time.
const BAR: f64 = 1.2;

#[tokio::main]
async fn main() {
    tell(format!(
        "{:>8} {:>4} {:>7} {:>6} {:>6} {:>10} {:>10} {:>6}",
        "volumes", "bad", "sweep", "calls", "bar", "sweep ms", "bare ms", "ratio"
    ));
    for volumes in [1000, 10_000] {
        for bad in [0, 1, 50] {
            measure(volumes, bad).await;
        }
    }
    tell(format!("bar for the ratio: {BAR}"));
}

#[allow(clippy::print_stdout, reason = "a benchmark tells its figures here")]
fn tell(line: impl AsRef<str>) {
    println!("{}", line.as_ref());
}

/// What was measured of one kind of sweep.
#[derive(Default)]
struct Figures {
    sweeps: Vec<Duration>,
    replays: Vec<Duration>,
    /// What the sweep asked.
    calls: Vec<Call>,
}

/// The first sweep, in which bad ids come to light, and the second, in which they are known.
async fn measure(volumes: usize, bad: usize) {
    let double = Double::start().await;
    double.with(|world| (0..volumes).for_each(|number| world.add_volume(Volume::new(id(number), "us-east-1a"))));
    double.with(|world| (0..bad).for_each(|number| assert!(world.remove_volume(&id(number * (volumes / bad))))));
    let question = Question {
        volumes: (0..volumes).map(|number| AwsVolumeId { aws_volume_id: id(number) }).collect(),
        ..Question::default()
    };
    let bare = bare_client(&double);
    let mut figures = [Figures::default(), Figures::default()];
    for round in 0..ROUNDS {
        let ec2 = connect(&double).await;
        for Figures { sweeps, replays, calls } in &mut figures {
            // In turns, so that neither side always finds the memory that the other has warmed.
            let is_bare_first = round % 2 == 1;
            if is_bare_first {
                replays.push(replay(&bare, calls, volumes - bad).await);
            }
            double.clear_calls();
            let start = Instant::now();
            let sweep = ec2.sweep(&question).await;
            sweeps.push(start.elapsed());
            let found = sweep.volumes.iter().filter(|evidence| matches!(evidence, Evidence::Found { .. })).count();
            assert_eq!(found, volumes - bad);
            *calls = double.calls_of(Action::DescribeVolumes);
            if !is_bare_first {
                replays.push(replay(&bare, calls, volumes - bad).await);
            }
        }
    }
    let batches = volumes.div_ceil(500);
    for ((name, bar), Figures { sweeps, replays, calls }) in
        [("first", batches + bad + 1), ("second", batches + 1)].into_iter().zip(figures)
    {
        let (calls, sweep, bare) = (calls.len(), median(sweeps), median(replays));
        tell(format!(
            "{volumes:>8} {bad:>4} {name:>7} {calls:>6} {bar:>6} {:>10.1} {:>10.1} {:>6.2}",
            milliseconds(sweep),
            milliseconds(bare),
            sweep.as_secs_f64() / bare.as_secs_f64()
        ));
    }
}

fn id(number: usize) -> String {
    format!("vol-{number:017x}")
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A new one for each round, whose connection is there already.
async fn connect(double: &Double) -> Ec2 {
    let ec2 = Ec2::connect(&unpaced(double.endpoint())).await.expect("a region is given");
    ec2.sweep(&Question { volumes: vec![AwsVolumeId { aws_volume_id: id(1) }], ..Question::default() }).await;
    ec2
}

fn bare_client(double: &Double) -> Client {
    let http = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    let config = aws_sdk_ec2::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("AKIDEXAMPLE", "secret", None, None, "bench"))
        .retry_config(RetryConfig::disabled())
        .endpoint_url(double.endpoint())
        .http_client(http);
    Client::from_conf(config.build())
}

/// A call that was made, ready to be made again.
enum Asked {
    Ids(Vec<String>),
    Filters(Vec<Filter>),
}

impl Asked {
    fn again(call: &Call) -> Self {
        let filters = call.parameters.filters().into_iter();
        let filters: Vec<_> =
            filters.map(|filter| Filter::builder().name(filter.name).set_values(Some(filter.values)).build()).collect();
        if filters.is_empty() { Self::Ids(call.ids()) } else { Self::Filters(filters) }
    }
}

/// Asks what was asked, with nothing around the SDK. The time that it takes.
async fn replay(client: &Client, calls: &[Call], expected: usize) -> Duration {
    let calls: Vec<_> = calls.iter().map(Asked::again).collect();
    let start = Instant::now();
    let mut count = 0;
    for call in calls {
        let asking = client.describe_volumes().include_managed_resources(true);
        let asking = match call {
            Asked::Ids(ids) => asking.set_volume_ids(Some(ids)),
            Asked::Filters(filters) => asking.set_filters(Some(filters)).max_results(1000),
        };
        count += asking.send().await.map_or(0, |answer| answer.volumes().len());
    }
    let time = start.elapsed();
    assert_eq!(count, expected);
    time
}
