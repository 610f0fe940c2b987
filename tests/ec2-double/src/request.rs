//! A question as it comes over the wire: a form with an action and numbered lists.

use std::collections::BTreeMap;

use crate::error::Ec2Error;

/// An action that the double knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Reads volumes.
    DescribeVolumes,
    /// Reads instances.
    DescribeInstances,
    /// Attaches a volume.
    AttachVolume,
    /// Detaches a volume.
    DetachVolume,
    /// Deletes a volume.
    DeleteVolume,
    /// Ends instances.
    TerminateInstances,
    /// Stops instances.
    StopInstances,
    /// Starts stopped instances.
    StartInstances,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::DescribeVolumes,
        Self::DescribeInstances,
        Self::AttachVolume,
        Self::DetachVolume,
        Self::DeleteVolume,
        Self::TerminateInstances,
        Self::StopInstances,
        Self::StartInstances,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DescribeVolumes => "DescribeVolumes",
            Self::DescribeInstances => "DescribeInstances",
            Self::AttachVolume => "AttachVolume",
            Self::DetachVolume => "DetachVolume",
            Self::DeleteVolume => "DeleteVolume",
            Self::TerminateInstances => "TerminateInstances",
            Self::StopInstances => "StopInstances",
            Self::StartInstances => "StartInstances",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// The parameters of a call, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameters(pub Vec<(String, String)>);

/// `Filter.N.Name` with its `Filter.N.Value.M`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Such as `volume-id` or `tag:Name`.
    pub name: String,
    /// One of them must match; `*` and `?` stand for any text and any character.
    pub values: Vec<String>,
}

impl Parameters {
    pub(crate) fn parse(form: &[u8]) -> Self {
        Self(form_urlencoded::parse(form).map(|(key, value)| (key.into_owned(), value.into_owned())).collect())
    }

    /// The value of a parameter.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The values of a numbered list (`VolumeId.1`, `VolumeId.2`, …) by their numbers.
    pub fn list(&self, name: &str) -> Vec<String> {
        let numbered = |(key, value): &(String, String)| {
            let number: usize = key.strip_prefix(name)?.strip_prefix('.')?.parse().ok()?;
            Some((number, value.clone()))
        };
        let sorted: BTreeMap<usize, String> = self.0.iter().filter_map(numbered).collect();
        sorted.into_values().collect()
    }

    /// The filters by their numbers.
    pub fn filters(&self) -> Vec<Filter> {
        let number = |key: &str| key.strip_prefix("Filter.")?.strip_suffix(".Name")?.parse::<usize>().ok();
        let names: BTreeMap<usize, &str> =
            self.0.iter().filter_map(|(key, value)| Some((number(key)?, value.as_str()))).collect();
        let filter = |(number, name): (usize, &str)| Filter {
            name: name.to_owned(),
            values: self.list(&format!("Filter.{number}.Value")),
        };
        names.into_iter().map(filter).collect()
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    pub(crate) fn required(&self, name: &str) -> Result<&str, Ec2Error> {
        self.get(name).ok_or_else(|| Ec2Error::missing_parameter(name))
    }

    /// What tells one question from another, but for the page that is asked for.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hash = Fnv::default();
        for (key, value) in self.0.iter().filter(|(key, _)| key != "NextToken") {
            hash.eat(key.as_bytes());
            hash.eat(b"=");
            hash.eat(value.as_bytes());
            hash.eat(b"&");
        }
        hash.0
    }
}

/// FNV-1a: a hash that is the same in every run.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn eat(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
