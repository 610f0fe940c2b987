//! Compiled code kept on disk, by wasmtime's own cache, and never trusted blindly.
//!
//! wasmtime runs what it finds in its cache without a check of its own: a bit that flipped on the disk would be a machine
//! instruction. So each entry gets a seal beside it, the digest of the file as it was written, and an entry whose seal does
//! not fit is removed before wasmtime can see it; the component is then compiled again. A seal is no protection from somebody
//! who can write to the directory: such a person can write seals too.
//!
//! ```text
//! DIR/code/    wasmtime's own, which it tidies by itself and where it deletes what it does not know
//! DIR/seals/   one small file an entry
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use wasmtime::component::Component;

use crate::load::digest;

/// Entries that are kept. A host runs a policy or two and tries a few others.
const MAX_ENTRIES: u64 = 64;
/// Bytes that the entries may have together; every one is read at every load.
const MAX_BYTES: u64 = 64 << 20;
/// How many uses of an entry make wasmtime pack it better: never, since the file would no longer fit its seal.
const NEVER: u64 = u64::MAX;

/// The cache of one engine.
#[derive(Debug)]
pub(crate) struct Cache {
    wasmtime: wasmtime::Cache,
    code: PathBuf,
    seals: PathBuf,
    /// Held while an entry is checked, used and sealed.
    busy: Mutex<()>,
}

impl Cache {
    /// Opens the cache in a directory, which is made where it is missing. `None` where nothing can be written there: then
    /// damage could not be cleared away either.
    pub(crate) fn open(directory: &Path) -> Option<Self> {
        let directory = std::path::absolute(directory).ok()?;
        let (code, seals) = (directory.join("code"), directory.join("seals"));
        for folder in [&code, &seals] {
            fs::create_dir_all(folder).ok()?;
            let probe = folder.join(format!(".probe-{}", std::process::id()));
            fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).ok()?;
        }
        let mut config = wasmtime::CacheConfig::new();
        config
            .with_directory(&code)
            .with_file_count_soft_limit(MAX_ENTRIES)
            .with_files_total_size_soft_limit(MAX_BYTES)
            .with_optimized_compression_usage_counter_threshold(NEVER);
        let wasmtime = wasmtime::Cache::new(config).ok()?;
        Some(Self { wasmtime, code, seals, busy: Mutex::new(()) })
    }

    /// wasmtime's handle, for the engine's configuration.
    pub(crate) fn wasmtime(&self) -> wasmtime::Cache {
        self.wasmtime.clone()
    }

    /// Compiles with no entry in place but those that are as they were written, and seals what is new.
    pub(crate) fn with_sound_entries(
        &self,
        compile: impl FnOnce() -> wasmtime::Result<Component>,
    ) -> wasmtime::Result<Component> {
        let _busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        self.clear_unsound()?;
        let component = compile()?;
        self.seal_new();
        Ok(component)
    }

    /// Removes every entry whose seal is missing or does not fit.
    fn clear_unsound(&self) -> io::Result<()> {
        for entry in entries(&self.code) {
            let sound = match (fs::read(&entry), fs::read_to_string(self.seal_of(&entry))) {
                (Ok(bytes), Ok(seal)) => seal == digest(&bytes),
                _ => false,
            };
            if !sound {
                remove(&self.seal_of(&entry))?;
                remove(&entry)?;
            }
        }
        Ok(())
    }

    /// Seals the entries that have no seal yet. One that can't be sealed is compiled again next time, which costs only time.
    fn seal_new(&self) {
        let _ = fs::create_dir_all(&self.seals);
        for entry in entries(&self.code) {
            let seal = self.seal_of(&entry);
            if let (false, Ok(bytes)) = (seal.exists(), fs::read(&entry)) {
                let _ = fs::write(seal, digest(&bytes));
            }
        }
    }

    /// Where an entry's seal is: by its path below the folder of the code, since each version of the compiler has a folder.
    fn seal_of(&self, entry: &Path) -> PathBuf {
        let below = entry.strip_prefix(&self.code).unwrap_or(entry);
        self.seals.join(digest(below.as_os_str().as_encoded_bytes()))
    }
}

/// Removes a file; one that is not there is as good as removed.
fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The files below a folder that wasmtime takes for compiled code: those without an extension.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) if entry.path().extension().is_none() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened() -> (tempfile::TempDir, Cache) {
        let directory = tempfile::tempdir().expect("a temporary folder can be made");
        let cache = Cache::open(directory.path()).expect("the folder can be written");
        (directory, cache)
    }

    /// Writes an entry as wasmtime does: two folders down.
    fn write(cache: &Cache, name: &str, bytes: &[u8]) -> PathBuf {
        let folder = cache.code.join("modules").join("compiler-1");
        fs::create_dir_all(&folder).expect("the folder can be made");
        let entry = folder.join(name);
        fs::write(&entry, bytes).expect("the entry can be written");
        entry
    }

    #[test]
    fn an_entry_stays_while_it_fits_its_seal() {
        let (_directory, cache) = opened();
        let entry = write(&cache, "abc", b"code");
        cache.seal_new();
        cache.clear_unsound().expect("the entries can be read");
        assert!(entry.exists());
        fs::write(&entry, b"cade").expect("the entry can be written");
        cache.clear_unsound().expect("the entries can be read");
        assert!(!entry.exists());
    }

    #[test]
    fn an_entry_that_was_written_anew_gets_a_new_seal() {
        let (_directory, cache) = opened();
        let entry = write(&cache, "abc", b"code");
        cache.seal_new();
        fs::write(&entry, b"cade").expect("the entry can be written");
        cache.clear_unsound().expect("the entries can be read");
        write(&cache, "abc", b"other code");
        cache.seal_new();
        cache.clear_unsound().expect("the entries can be read");
        assert!(entry.exists());
    }

    #[test]
    fn an_entry_without_a_seal_is_removed_and_what_is_no_entry_stays() {
        let (_directory, cache) = opened();
        let (entry, stats) = (write(&cache, "abc", b"code"), write(&cache, "abc.stats", b"1"));
        cache.clear_unsound().expect("the entries can be read");
        assert_eq!((entry.exists(), stats.exists()), (false, true));
    }

    #[test]
    fn a_seal_is_of_one_compiler_only() {
        let (_directory, cache) = opened();
        let (one, other) = (cache.code.join("modules/a/x"), cache.code.join("modules/b/x"));
        assert_ne!(cache.seal_of(&one), cache.seal_of(&other));
    }

    #[test]
    fn a_file_where_the_folder_should_be_means_no_cache() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file can be made");
        assert!(Cache::open(file.path()).is_none());
        assert!(Cache::open(&file.path().join("below")).is_none());
    }
}
