//! `ec2-double`: the double on a port, for trying things by hand.
//!
//! ```text
//! ec2-double --port 4566 --volumes 20 --instances 4
//! aws ec2 describe-volumes --endpoint-url http://127.0.0.1:4566
//! ```

use std::error::Error;
use std::io::{Write, stdout};
use std::net::{Ipv4Addr, SocketAddr};

use zonewarden_ec2_double::{Double, Instance, Options, Volume, World};

const USAGE: &str = "usage: ec2-double [--port PORT] [--volumes COUNT] [--instances COUNT]

Serves an EC2 that begins with COUNT volumes and instances in three zones. Every other volume is attached.
  --port PORT        the port on the loopback; a free one unless given
  --volumes COUNT    10 unless given
  --instances COUNT  3 unless given
";

const ZONES: [&str; 3] = ["us-east-1a", "us-east-1b", "us-east-1c"];

#[derive(Debug)]
struct Flags {
    port: u16,
    volumes: u32,
    instances: u32,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let Some(flags) = flags(std::env::args().skip(1))? else {
        return Ok(write!(stdout(), "{USAGE}")?);
    };
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, flags.port));
    let ec2 = Double::start_with(Options { address, ..Options::default() }).await?;
    ec2.with(|world| fill(world, &flags));
    writeln!(stdout(), "{}", ec2.endpoint())?;
    tokio::signal::ctrl_c().await?;
    Ok(())
}

/// `None` where help is asked for.
fn flags(mut arguments: impl Iterator<Item = String>) -> Result<Option<Flags>, Box<dyn Error>> {
    let mut flags = Flags { port: 0, volumes: 10, instances: 3 };
    while let Some(flag) = arguments.next() {
        if matches!(flag.as_str(), "-h" | "--help") {
            return Ok(None);
        }
        let value = arguments.next().ok_or_else(|| format!("{flag} wants a value\n{USAGE}"))?;
        let wrong = |error| format!("{flag} {value}: {error}");
        match flag.as_str() {
            "--port" => flags.port = value.parse().map_err(wrong)?,
            "--volumes" => flags.volumes = value.parse().map_err(wrong)?,
            "--instances" => flags.instances = value.parse().map_err(wrong)?,
            _ => return Err(format!("{flag} is no flag\n{USAGE}").into()),
        }
    }
    Ok(Some(flags))
}

fn fill(world: &mut World, flags: &Flags) {
    let zone = |number: u32| ZONES[number as usize % ZONES.len()];
    let instance_id = |number: u32| format!("i-{number:017x}");
    for number in 0..flags.instances {
        let name = format!("ip-10-0-{}-{}.ec2.internal", number / 250, number % 250 + 1);
        world.add_instance(Instance::new(instance_id(number), zone(number), name));
    }
    for number in 0..flags.volumes {
        let id = format!("vol-{number:017x}");
        world.add_volume(Volume::new(id.as_str(), zone(number)));
        let holder = number % flags.instances.max(1);
        if number % 2 == 0 && holder < flags.instances && zone(holder) == zone(number) {
            world.put_attached(&id, &instance_id(holder), &device(number));
        }
    }
}

/// A name that differs for any 26 volumes in a row.
fn device(number: u32) -> String {
    let letter = char::from_digit(10 + number % 26, 36).unwrap_or('z');
    format!("/dev/xvda{letter}")
}
