//! EC2's files while somebody edits them.

use std::fs;

use super::*;

const VOLUME: &str = r#"{"Volumes":[{"VolumeId":"vol-1","State":"available"}]}"#;
const INSTANCE: &str = r#"{"Reservations":[{"Instances":[{"InstanceId":"i-1","State":{"Name":"running"}}]}]}"#;

/// A folder with these files, and what reads `volumes.json` and `instances.json` in it.
fn files(contents: &[(&str, &str)]) -> (tempfile::TempDir, LiveFiles) {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in contents {
        fs::write(folder.path().join(name), text).expect("the file is written");
    }
    let paths = ["volumes.json", "instances.json"].map(|name| folder.path().join(name));
    (folder, LiveFiles::new(paths.to_vec()))
}

/// The ids of the volumes and the instances after a look.
fn found(files: &LiveFiles) -> (Vec<String>, Vec<String>) {
    files.look();
    let loaded = &files.files.read().expect("nobody panicked").loaded;
    (loaded.volumes.keys().cloned().collect(), loaded.instances.keys().cloned().collect())
}

fn ids(volumes: &[&str], instances: &[&str]) -> (Vec<String>, Vec<String>) {
    let owned = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect();
    (owned(volumes), owned(instances))
}

#[test]
fn what_cant_be_read_costs_itself_only() {
    let volumes = r#"{"Volumes":[{"VolumeId":5},{"VolumeId":"vol-1","State":"available"}]}"#;
    let (_folder, files) = files(&[("volumes.json", volumes), ("instances.json", INSTANCE)]);
    assert_eq!(found(&files), ids(&["vol-1"], &["i-1"]));
}

#[test]
fn a_file_that_was_never_there_keeps_no_other_from_being_read_again() {
    let (folder, files) = files(&[("volumes.json", VOLUME)]);
    assert_eq!(found(&files), ids(&["vol-1"], &[]));
    let two = r#"{"Volumes":[{"VolumeId":"vol-1","State":"available"},{"VolumeId":"vol-2","State":"available"}]}"#;
    fs::write(folder.path().join("volumes.json"), two).expect("the file is written");
    assert_eq!(found(&files), ids(&["vol-1", "vol-2"], &[]));
}

#[test]
fn a_file_that_is_broken_empty_or_away_for_a_moment_keeps_what_it_gave() {
    let (folder, files) = files(&[("volumes.json", VOLUME), ("instances.json", INSTANCE)]);
    let both = ids(&["vol-1"], &["i-1"]);
    assert_eq!(found(&files), both);
    let path = folder.path().join("instances.json");
    for text in [&INSTANCE[..40], ""] {
        fs::write(&path, text).expect("the file is written");
        assert_eq!(found(&files), both, "{text}");
    }
    fs::write(&path, INSTANCE).expect("the file is written");
    assert_eq!(found(&files), both);
    fs::remove_file(&path).expect("the file is there");
    assert_eq!(found(&files), both);
    fs::write(&path, INSTANCE.replace("i-1", "i-20")).expect("the file is written");
    assert_eq!(found(&files), ids(&["vol-1"], &["i-20"]));
}
