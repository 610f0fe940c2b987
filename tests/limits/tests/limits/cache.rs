//! Compiled code that is kept, and damaged.

use std::fs;
use std::path::{Path, PathBuf};

use zonewarden_engine::{Engine, Options};
use zonewarden_limits_tests::Guest;

use crate::small_limits;

fn cached(directory: &Path) -> Engine {
    let options = Options { limits: small_limits(), cache: Some(directory.to_owned()) };
    Engine::new(&options).expect("the engine can be set up")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() { found.extend(files(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}

/// The files that hold compiled code.
fn code(directory: &Path) -> Vec<PathBuf> {
    files(&directory.join("code")).into_iter().filter(|file| file.extension().is_none()).collect()
}

fn assert_works(engine: &Engine) {
    let policy = engine.load(&Guest::harmless().component()).expect("it keeps the contract");
    assert_eq!(policy.evaluate("{}").expect("it answers"), Ok("{}".to_owned()));
}

#[test]
fn compiled_code_is_kept_and_used_again() {
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    let engine = cached(directory.path());
    assert!(engine.has_cache());
    assert_works(&engine);
    let kept = code(directory.path());
    assert_eq!(kept.len(), 1, "{kept:?}");
    let written = fs::metadata(&kept[0]).and_then(|data| data.modified()).expect("it has a time");
    assert_works(&cached(directory.path()));
    assert_eq!(code(directory.path()), kept);
    let still = fs::metadata(&kept[0]).and_then(|data| data.modified()).expect("it has a time");
    assert_eq!(written, still, "it was compiled anew");
}

/// Damages every file of a cache. wasmtime's own thread may just be tidying: but for the code itself, a file may be gone.
fn damage_all(directory: &Path, damage: impl Fn(Vec<u8>) -> Vec<u8>) {
    let code = code(directory);
    for file in files(directory) {
        let damaged = fs::read(&file).map(&damage).and_then(|bytes| fs::write(&file, bytes));
        assert!(damaged.is_ok() || !code.contains(&file), "{} can't be damaged: {damaged:?}", file.display());
    }
}

/// Damages a cache in one way, and loads again, with the same engine and with a new one.
#[track_caller]
fn survives(damage: impl Fn(Vec<u8>) -> Vec<u8>) {
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    let engine = cached(directory.path());
    assert_works(&engine);
    let read = || fs::read(&code(directory.path())[0]).expect("the code can be read");
    let whole = read();
    for _ in 0..2 {
        damage_all(directory.path(), &damage);
        assert_ne!(read(), whole);
        assert_works(&engine);
        assert_eq!(read(), whole, "it was not rebuilt");
        damage_all(directory.path(), &damage);
        assert_works(&cached(directory.path()));
        assert_eq!(read(), whole, "it was not rebuilt");
    }
}

#[test]
fn a_cache_full_of_rubbish_is_rebuilt() {
    survives(|_| b"rubbish".to_vec());
}

#[test]
fn an_empty_cache_file_is_rebuilt() {
    survives(|_| Vec::new());
}

#[test]
fn a_truncated_cache_file_is_rebuilt() {
    survives(|bytes| bytes[..bytes.len() / 2].to_vec());
}

#[test]
fn a_single_bit_that_flipped_is_found() {
    survives(|mut bytes| {
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 1;
        }
        bytes
    });
}

#[test]
fn a_cache_that_vanishes_is_made_again() {
    let directory = tempfile::tempdir().expect("a temporary folder can be made");
    let cache = directory.path().join("cache");
    let engine = cached(&cache);
    assert_works(&engine);
    // In one step, since wasmtime's own thread may be writing there.
    fs::rename(&cache, directory.path().join("gone")).expect("the folder can be moved");
    assert_works(&engine);
    assert_works(&cached(&cache));
    assert_eq!(code(&cache).len(), 1);
}

#[test]
fn a_cache_that_can_not_be_there_is_done_without() {
    let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
    let engine = cached(&file.path().join("cache"));
    assert!(!engine.has_cache());
    assert_works(&engine);
}
