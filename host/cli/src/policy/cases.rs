//! Declarative cases: what a file of them holds, and how it is read.
//!
//! ```yaml
//! settings:            # of all cases, beside those of --settings; optional
//!   volume-ids: strict
//! cases:
//!   - name: an id with a trailing space is refused
//!     function: identity.identify-volumes     # typed input: a function of the contract and its arguments
//!     arguments:
//!       volumes: [{source: {AwsElasticBlockStore: {kubernetes_volume_id: "vol-1 "}}}]
//!     expect:
//!       ok: [{Rejected: {rule: whitespace}}]
//!   - name: the database's pod fits no node
//!     world: ../demo                          # a world: a folder beside this file, and one object of it
//!     pod: default/db-0
//!     expect: {feasible: []}
//! ```

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::read;

/// A file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Settings of all cases.
    #[serde(default)]
    pub(super) settings: Map<String, Value>,
    /// The cases.
    pub(super) cases: Vec<Case>,
}

/// One case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What it shows.
    pub(super) name: String,
    /// Settings of this case alone.
    #[serde(default)]
    pub(super) settings: Map<String, Value>,
    /// A function of the contract.
    pub(super) function: Option<String>,
    /// The function's arguments but for the settings.
    #[serde(default)]
    pub(super) arguments: Map<String, Value>,
    /// A folder with a world, relative to the file.
    pub(super) world: Option<PathBuf>,
    /// A pod of the world, as namespace/name.
    pub(super) pod: Option<String>,
    /// A PersistentVolume of the world.
    pub(super) volume: Option<String>,
    /// A VolumeAttachment of the world.
    pub(super) attachment: Option<String>,
    /// What the answer has to hold.
    pub(super) expect: Value,
}

/// What a case asks.
pub(super) enum Question<'a> {
    /// A function of the contract.
    Function(&'a str),
    /// An object of a world: the section of `check`'s answer, and what it is called there.
    World { folder: &'a Path, section: Section, name: &'a str },
}

/// A section of `check`'s answer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Section {
    Pods,
    Volumes,
    Attachments,
}

impl Case {
    /// What the case asks, where it asks one thing.
    pub(super) fn question(&self) -> Result<Question<'_>> {
        let named = [
            (Section::Pods, self.pod.as_deref()),
            (Section::Volumes, self.volume.as_deref()),
            (Section::Attachments, self.attachment.as_deref()),
        ];
        let mut objects = named.iter().filter_map(|(section, name)| name.map(|name| (*section, name)));
        match (&self.function, &self.world, objects.next(), objects.next()) {
            (Some(function), None, None, None) => Ok(Question::Function(function)),
            (None, Some(folder), Some((section, name)), None) => Ok(Question::World { folder, section, name }),
            _ => bail!("give either function and arguments, or world and one of pod, volume, attachment"),
        }
    }
}

/// Reads one file, or every `.yaml`, `.yml` and `.json` of a folder in the order of their names.
pub(super) fn load(path: &Path) -> Result<Vec<(PathBuf, File)>> {
    let mut files = Vec::new();
    if path.is_dir() {
        for entry in std::fs::read_dir(path).with_context(|| format!("{} can't be listed", path.display()))? {
            let path = entry?.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_file() && matches!(extension, Some("yaml" | "yml" | "json")) {
                files.push(path);
            }
        }
        files.sort();
    } else {
        files.push(path.to_owned());
    }
    files
        .into_iter()
        .map(|path| {
            let value = read::structured(&path)?;
            let file = File::deserialize(value).with_context(|| format!("{}: no file of cases", path.display()))?;
            for case in &file.cases {
                let place = || format!("{}: {}", path.display(), case.name);
                case.question().with_context(place)?;
                if case.expect.as_object().is_some_and(Map::is_empty) {
                    bail!("{}: expect is empty, which every answer would fit", place());
                }
            }
            Ok((path, file))
        })
        .collect()
}
