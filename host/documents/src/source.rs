//! Bytes from a file or from standard input, at most [`SIZE_LIMIT`] of them.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::{Code, Place, Problem};

/// The largest file that is read, in bytes: 1 GiB, five times what a cluster of 20,000 pods prints. A file is held in memory
/// while it is read.
pub const SIZE_LIMIT: u64 = 1 << 30;

/// The path that means standard input.
pub const STANDARD_INPUT: &str = "-";

/// Reads a whole file; `-` is standard input.
///
/// # Errors
/// A problem that names the file, where it is missing, a directory, not readable or larger than [`SIZE_LIMIT`].
pub fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    let name = path.to_string_lossy();
    if path.as_os_str() == STANDARD_INPUT {
        return read_up_to(io::stdin().lock(), &name, SIZE_LIMIT);
    }
    if path.is_dir() {
        let message = "is a directory; give the files in it, or the folder of a whole world by --world";
        return Err(Problem::error(Code::FileIsDirectory, Place::file(name), message));
    }
    let file = File::open(path).map_err(|error| unreadable(&name, &error))?;
    read_up_to(file, &name, SIZE_LIMIT)
}

/// The files of a folder whose names end in one of these extensions, in the order of their names.
///
/// # Errors
/// A problem that names the folder, where it is missing or not readable.
pub fn files_in(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, Problem> {
    let name = folder.to_string_lossy();
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(&name, &error))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| unreadable(&name, &error))?.path();
        let matches = path.extension().is_some_and(|found| extensions.iter().any(|wanted| found == *wanted));
        if matches && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn unreadable(name: &str, error: &io::Error) -> Problem {
    let (code, message) = match error.kind() {
        io::ErrorKind::NotFound => (Code::FileMissing, "there is no such file".to_owned()),
        io::ErrorKind::IsADirectory => (Code::FileIsDirectory, "is a directory, not a file".to_owned()),
        _ => (Code::FileUnreadable, format!("can't be read: {error}")),
    };
    Problem::error(code, Place::file(name), message)
}

fn read_up_to(reader: impl Read, name: &str, limit: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > limit {
        let message = format!("is larger than {limit} bytes; split it, or leave out the kinds that are not needed");
        return Err(Problem::error(Code::FileTooLarge, Place::file(name), message));
    }
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that finds nothing has failed")]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_named() {
        let problem = read(Path::new("no/such/file.yaml")).unwrap_err();
        assert_eq!(
            problem,
            Problem::error(Code::FileMissing, Place::file("no/such/file.yaml"), "there is no such file")
        );
    }

    #[test]
    fn a_directory_is_named() {
        let problem = read(Path::new("src")).unwrap_err();
        assert_eq!(problem.code, Code::FileIsDirectory);
        assert!(problem.to_string().starts_with("src: is a directory"), "{problem}");
    }

    #[test]
    fn a_file_at_the_limit_is_read_and_one_above_it_is_refused() {
        assert_eq!(read_up_to(&b"abc"[..], "f", 3), Ok(b"abc".to_vec()));
        let problem = read_up_to(&b"abcd"[..], "f", 3).unwrap_err();
        assert_eq!(problem.code, Code::FileTooLarge);
        assert!(problem.to_string().starts_with("f: is larger than 3 bytes"), "{problem}");
    }

    #[test]
    fn a_reader_that_fails_is_a_problem() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("disk on fire"))
            }
        }
        let problem = read_up_to(Broken, "f", 3).unwrap_err();
        assert_eq!(problem, Problem::error(Code::FileUnreadable, Place::file("f"), "can't be read: disk on fire"));
    }

    #[test]
    fn the_files_of_a_folder_come_in_order_and_by_extension() {
        let files = files_in(Path::new("src"), &["rs"]).unwrap();
        assert!(files.windows(2).all(|pair| pair[0] < pair[1]), "{files:?}");
        assert!(files.contains(&PathBuf::from("src/source.rs")));
        assert_eq!(files_in(Path::new("src"), &["yaml"]), Ok(vec![]));
        assert_eq!(files_in(Path::new("nowhere"), &["rs"]).unwrap_err().code, Code::FileMissing);
    }
}
