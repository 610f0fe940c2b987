//! The programs of a control plane: where they are found, and how they are built where they are not.
//!
//! Looked for one by one: in the folder that `KUBEBUILDER_ASSETS` names (whoever sets it chose that version), on `PATH` (only
//! one that tells the pinned version), in the cache folder. Where none is, it is built from its pinned module, which takes
//! about nine minutes for all on two cores, once for a version.

use std::env;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use anyhow::{Context as _, Result, ensure};

/// The programs of a control plane.
#[derive(Debug, Clone)]
pub struct Binaries {
    /// etcd.
    pub etcd: PathBuf,
    /// kube-apiserver.
    pub api_server: PathBuf,
    /// kube-controller-manager.
    pub controller_manager: PathBuf,
    /// kube-scheduler.
    pub scheduler: PathBuf,
    /// csi-attacher.
    pub attacher: PathBuf,
}

/// A Go module that pins programs.
struct Module {
    /// Its folder under `controlplane`.
    folder: &'static str,
    manifest: &'static str,
    /// The module whose version is that of the programs.
    upstream: &'static str,
}

const KUBERNETES: Module = Module {
    folder: "kubernetes",
    manifest: include_str!("../controlplane/kubernetes/go.mod"),
    upstream: "k8s.io/kubernetes",
};
const ETCD: Module = Module {
    folder: "etcd",
    manifest: include_str!("../controlplane/etcd/go.mod"),
    upstream: "go.etcd.io/etcd/server/v3",
};
const ATTACHER: Module = Module {
    folder: "csi-attacher",
    manifest: include_str!("../controlplane/csi-attacher/go.mod"),
    upstream: "github.com/kubernetes-csi/external-attacher/v4",
};

/// A program and the package that it is built from.
struct Program {
    name: &'static str,
    module: Module,
    package: &'static str,
    /// Where the version is put in; without it `/version` says nonsense and clients misbehave.
    version_variables: &'static [(&'static str, VersionPart)],
}

#[derive(Clone, Copy)]
enum VersionPart {
    Whole,
    Major,
    Minor,
}

const KUBERNETES_VERSION: &[(&str, VersionPart)] = &[
    ("k8s.io/component-base/version.gitVersion", VersionPart::Whole),
    ("k8s.io/component-base/version.gitMajor", VersionPart::Major),
    ("k8s.io/component-base/version.gitMinor", VersionPart::Minor),
];

impl Binaries {
    /// Finds or builds the programs, once for this process. `None` where a program is missing and there is no Go to build it:
    /// that is told on standard error, with the command that brings Go and what is skipped for the lack of it.
    ///
    /// # Panics
    /// Where they are missing and the environment says `CI=true`: there, nothing is skipped. Where a build fails.
    #[must_use]
    pub fn find(skipped: &str) -> Option<Self> {
        static FOUND: OnceLock<Option<Binaries>> = OnceLock::new();
        let found = FOUND.get_or_init(|| Self::look().unwrap_or_else(|error| panic!("the control plane: {error:#}")));
        if found.is_none() {
            let message = format!(
                "neither a control plane nor Go to build one: apt-get install golang-go, or name a folder in \
                 KUBEBUILDER_ASSETS; left out: {skipped}"
            );
            let in_ci = env::var("CI").is_ok_and(|value| value == "true");
            assert!(!in_ci, "{message}");
            tell(&format!("skipped: {message}"));
        }
        found.clone()
    }

    fn look() -> Result<Option<Self>> {
        let kubernetes =
            |name, package| find(&Program { name, module: KUBERNETES, package, version_variables: KUBERNETES_VERSION });
        let etcd = Program { name: "etcd", module: ETCD, package: ETCD.upstream, version_variables: &[] };
        let attacher = Program {
            name: "csi-attacher",
            module: ATTACHER,
            package: "github.com/kubernetes-csi/external-attacher/v4/cmd/csi-attacher",
            version_variables: &[("main.version", VersionPart::Whole)],
        };
        let found = (
            find(&etcd)?,
            kubernetes("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver")?,
            kubernetes("kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager")?,
            kubernetes("kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler")?,
            find(&attacher)?,
        );
        let (Some(etcd), Some(api_server), Some(controller_manager), Some(scheduler), Some(attacher)) = found else {
            return Ok(None);
        };
        Ok(Some(Self { etcd, api_server, controller_manager, scheduler, attacher }))
    }
}

fn find(program: &Program) -> Result<Option<PathBuf>> {
    let version = program.module.version()?;
    let chosen = env::var_os("KUBEBUILDER_ASSETS").map(|folder| Path::new(&folder).join(program.name));
    if let Some(chosen) = chosen.filter(|path| path.is_file()) {
        return Ok(Some(chosen));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut on_path = env::split_paths(&path).map(|folder| folder.join(program.name)).filter(|path| path.is_file());
    if let Some(there) = on_path.find(|path| tells_version(path, version)) {
        return Ok(Some(there));
    }
    let folder = cache().join(version);
    let cached = folder.join(program.name);
    if cached.is_file() {
        return Ok(Some(cached));
    }
    if !answers(Command::new("go").arg("version")) {
        return Ok(None);
    }
    build(program, version, &folder).with_context(|| format!("building {}", program.name))?;
    Ok(Some(cached))
}

/// Builds beside the place where it is looked for, and moves it there when it is whole. Of several test processes one builds.
fn build(program: &Program, version: &str, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("{} can't be made", folder.display()))?;
    let lock = File::create(folder.join("lock")).context("the cache folder can't be written to")?;
    lock.lock().context("a lock is waited for")?;
    let cached = folder.join(program.name);
    if cached.is_file() {
        return Ok(());
    }
    tell(&format!(
        "building {} {version}, once; all programs together take some nine minutes on two cores",
        program.name
    ));
    let unfinished = folder.join(format!("{}.unfinished", program.name));
    let output = Command::new("go")
        .args(["build", "-mod=readonly", "-trimpath", "-ldflags", &linker_flags(program, version), "-o"])
        .arg(&unfinished)
        .arg(program.package)
        .current_dir(package_folder().join("controlplane").join(program.module.folder))
        .stdin(Stdio::null())
        .output()
        .context("go runs")?;
    ensure!(output.status.success(), "{}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    fs::rename(&unfinished, &cached).context("the program can be moved within its folder")
}

fn linker_flags(program: &Program, version: &str) -> String {
    let mut numbers = version.trim_start_matches('v').split('.');
    let (major, minor) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let mut flags = String::from("-s -w");
    for (variable, part) in program.version_variables {
        let value = match part {
            VersionPart::Whole => version,
            VersionPart::Major => major,
            VersionPart::Minor => minor,
        };
        flags.push_str(&format!(" -X {variable}={value}"));
    }
    flags
}

impl Module {
    /// The version that its manifest pins.
    fn version(&self) -> Result<&'static str> {
        let mut words = self.manifest.lines().map(|line| line.split_whitespace());
        words
            .find_map(|mut line| (line.next() == Some(self.upstream)).then(|| line.next()).flatten())
            .with_context(|| format!("controlplane/{}/go.mod does not pin {}", self.folder, self.upstream))
    }
}

fn tells_version(program: &Path, version: &str) -> bool {
    let output = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    output.is_ok_and(|output| {
        let told = [output.stdout, output.stderr].concat();
        names_version(&String::from_utf8_lossy(&told), version)
    })
}

fn names_version(told: &str, version: &str) -> bool {
    let mut words = told.split_whitespace().map(|word| word.trim_start_matches('v'));
    words.any(|word| word == version.trim_start_matches('v'))
}

fn answers(command: &mut Command) -> bool {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

/// This package's folder, in the checkout under test.
fn package_folder() -> PathBuf {
    env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()).into()
}

/// Where what is built once stays.
fn cache() -> PathBuf {
    let folder = |variable: &str| env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.unwrap_or_else(env::temp_dir).join("zonewarden/controlplane")
}

/// Not by `eprintln!`, which a test that passes swallows.
fn tell(line: &str) {
    writeln!(io::stderr(), "{line}").expect("standard error takes a line");
}

#[cfg(test)]
mod tests {
    use super::{ATTACHER, ETCD, KUBERNETES, KUBERNETES_VERSION, Program, linker_flags, names_version};

    #[test]
    fn the_versions_are_those_of_the_manifests() {
        let versions =
            [KUBERNETES, ETCD, ATTACHER].map(|module| module.version().expect("a manifest pins its program"));
        assert_eq!(versions, ["v1.37.2", "v3.7.3", "v4.13.0"]);
    }

    #[test]
    fn a_program_on_the_path_has_to_tell_the_pinned_version() {
        assert!(names_version("Kubernetes v1.37.2\n", "v1.37.2"));
        assert!(names_version("etcd Version: 3.7.3\nGit SHA: Not provided\n", "v3.7.3"));
        assert!(!names_version("Kubernetes v1.37.20\n", "v1.37.2"));
        assert!(!names_version("", "v1.37.2"));
    }

    #[test]
    fn the_version_is_linked_in() {
        let package = "k8s.io/kubernetes/cmd/kube-apiserver";
        let program =
            Program { name: "kube-apiserver", module: KUBERNETES, package, version_variables: KUBERNETES_VERSION };
        assert_eq!(
            linker_flags(&program, "v1.37.2"),
            "-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 \
             -X k8s.io/component-base/version.gitMinor=37"
        );
    }
}
