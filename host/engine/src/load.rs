//! From bytes to a component that keeps the contract, or the reason why not.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ComponentExportIndex, InstancePre, Linker};
use zonewarden_contract::{CONTRACT_VERSION, PACKAGE, SUPPORTED_VERSIONS};

use crate::call::Loaded;
use crate::error::Error;
use crate::functions::{self, ForEach, Function};
use crate::limits::Guard;
use crate::runtime::Runtime;

/// The bytes of a page of linear memory.
const PAGE_BYTES: u64 = 65_536;

/// What a component says about itself before any of its code runs.
pub(crate) struct Outline {
    /// The names of its exports.
    pub(crate) exports: Vec<String>,
    /// The names of its imports.
    pub(crate) imports: Vec<String>,
}

impl Outline {
    pub(crate) fn of(component: &Component) -> Self {
        let engine = component.engine();
        let ty = component.component_type();
        Self {
            exports: ty.exports(engine).map(|(name, _)| name.to_owned()).collect(),
            imports: ty.imports(engine).map(|(name, _)| name.to_owned()).collect(),
        }
    }

    /// The versions of the contract that it exports, each once, in the order in which they come. An interface that names
    /// none has the empty version.
    pub(crate) fn versions(&self) -> Vec<String> {
        let mut versions: Vec<String> = Vec::new();
        for export in &self.exports {
            let Some(interface) = export.strip_prefix(PACKAGE).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            let version = interface.split_once('@').map_or("", |(_, version)| version);
            if !versions.iter().any(|known| known == version) {
                versions.push(version.to_owned());
            }
        }
        versions
    }

    /// Whether it imports nothing and is made for a version that this host runs. One that exports other versions too, for
    /// newer hosts, is made for this one as well.
    fn check(&self) -> Result<(), Error> {
        if !self.imports.is_empty() {
            return Err(Error::Import { imports: self.imports.clone() });
        }
        let versions = self.versions();
        if versions.is_empty() {
            let what = format!("it exports no interface of {PACKAGE}, so it is no policy");
            return Err(Error::Contract { what, source: None });
        }
        if !versions.iter().any(|version| SUPPORTED_VERSIONS.contains(&version.as_str())) {
            let runs = SUPPORTED_VERSIONS.iter().map(|version| format!("{PACKAGE}@{version}")).collect();
            let found = versions
                .into_iter()
                .map(|version| if version.is_empty() { PACKAGE.to_owned() } else { format!("{PACKAGE}@{version}") })
                .collect();
            return Err(Error::Version { found, runs });
        }
        Ok(())
    }
}

/// The SHA-256 of bytes in hexadecimal: what names a policy in logs and records.
pub fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Compiles a component, or takes it from the cache.
pub(crate) fn compile(runtime: &Runtime, bytes: &[u8]) -> Result<Component, Error> {
    check_form(bytes, runtime.limits.component_bytes)?;
    let new = || Component::new(&runtime.engine, bytes);
    let component = match &runtime.cache {
        Some(cache) => cache.with_sound_entries(new),
        None => new(),
    };
    component.map_err(|error| Error::Load {
        what: "it is no valid component, or uses more of WebAssembly than a policy may".to_owned(),
        source: Some(error.into()),
    })
}

/// Checks what can be told without a compiler, in words that say what to do.
fn check_form(bytes: &[u8], limit: usize) -> Result<(), Error> {
    const MAGIC: &[u8] = b"\0asm";
    const MODULE: &[u8] = &[1, 0, 0, 0];
    const COMPONENT: &[u8] = &[13, 0, 1, 0];
    let refuse = |what: String| Err(Error::Load { what, source: None });
    if bytes.len() > limit {
        return refuse(format!("it has {} bytes, and a component may have {limit}", bytes.len()));
    }
    match bytes.strip_prefix(MAGIC).map(|rest| rest.get(..4)) {
        None => refuse("it is not WebAssembly".to_owned()),
        Some(None) => refuse("it is cut off within the first eight bytes".to_owned()),
        Some(Some(MODULE)) => {
            refuse("it is a core module, not a component: encode it with wit-component first".to_owned())
        }
        Some(Some(COMPONENT)) => Ok(()),
        Some(Some(other)) => refuse(format!("it is of a WebAssembly version that is not known: {other:?}")),
    }
}

/// Checks a compiled component and makes it ready to be called.
pub(crate) fn prepare(runtime: &Arc<Runtime>, component: &Component, digest: String) -> Result<Loaded, Error> {
    Outline::of(component).check()?;
    check_memory(component, runtime.limits.memory_bytes)?;
    // Nothing is ever put into the linker: a policy is given nothing.
    let instance = Linker::new(&runtime.engine).instantiate_pre(component).map_err(|error| Error::Load {
        what: "it can't be linked without imports".to_owned(),
        source: Some(error.into()),
    })?;
    let exports = Functions::check(component, &instance)?;
    Ok(Loaded { runtime: Arc::clone(runtime), instance, exports, digest })
}

/// A component that starts with more memory than it may have could never be called.
fn check_memory(component: &Component, limit: usize) -> Result<(), Error> {
    let pages = component.resources_required().and_then(|resources| resources.max_initial_memory_size).unwrap_or(0);
    let bytes = pages.saturating_mul(PAGE_BYTES);
    if usize::try_from(bytes).is_ok_and(|bytes| bytes <= limit) {
        return Ok(());
    }
    let source = format!("it starts with a memory of {bytes} bytes").into();
    Err(Error::Memory { function: "instantiation", limit, source })
}

/// Finds every function of the contract in a component and checks its type, so that no call has to fail for that.
struct Functions<'a> {
    component: &'a Component,
    instance: &'a InstancePre<Guard>,
    found: Vec<ComponentExportIndex>,
}

impl<'a> Functions<'a> {
    fn check(component: &'a Component, instance: &'a InstancePre<Guard>) -> Result<Vec<ComponentExportIndex>, Error> {
        let mut functions = Self { component, instance, found: Vec::new() };
        functions.interface("types")?;
        functions::for_each(&mut functions)?;
        Ok(functions.found)
    }

    /// The index of an interface of the version that this host runs.
    fn interface(&self, name: &str) -> Result<ComponentExportIndex, Error> {
        let full_name = format!("{PACKAGE}/{name}@{CONTRACT_VERSION}");
        match self.component.get_export(None, full_name.as_str()) {
            Some((ComponentItem::ComponentInstance(_), index)) => Ok(index),
            _ => Err(Error::Contract { what: format!("it does not export the interface {full_name}"), source: None }),
        }
    }
}

impl ForEach for Functions<'_> {
    type Error = Error;

    fn visit<F: Function>(&mut self) -> Result<(), Error> {
        let interface = self.interface(F::INTERFACE)?;
        let Some((ComponentItem::ComponentFunc(function), index)) =
            self.component.get_export(Some(&interface), F::NAME)
        else {
            return Err(Error::Contract { what: format!("it lacks the function {}", F::FULL_NAME), source: None });
        };
        let wrong = |source| Error::Contract { what: format!("its {} is of another type", F::FULL_NAME), source };
        if function.async_() {
            return Err(wrong(None));
        }
        function
            .typecheck::<F::Params<'_>, (F::Answer,)>(&self.instance.instance_type())
            .map_err(|error| wrong(Some(error.into())))?;
        self.found.push(index);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(exports: &[&str], imports: &[&str]) -> Outline {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Outline { exports: owned(exports), imports: owned(imports) }
    }

    fn kind(outline: &Outline) -> &'static str {
        outline.check().map_or_else(|error| error.kind(), |()| "good")
    }

    #[test]
    fn the_versions_are_those_of_the_exports_of_our_package() {
        let found = outline(
            &[
                "zonewarden:policy/info@0.1.0",
                "zonewarden:policy/json@0.1.0",
                "zonewarden:policy/more@0.2.0",
                "a:b/c@7.0.0",
            ],
            &[],
        );
        assert_eq!(found.versions(), ["0.1.0", "0.2.0"]);
        assert_eq!(outline(&["zonewarden:policy/info"], &[]).versions(), [""]);
        assert_eq!(outline(&["zonewarden:policyx/info@1.0.0", "run"], &[]).versions(), Vec::<String>::new());
    }

    #[test]
    fn an_outline_is_good_or_says_what_is_wrong() {
        let good = "zonewarden:policy/info@0.1.0";
        assert_eq!(kind(&outline(&[good], &[])), "good");
        assert_eq!(kind(&outline(&["zonewarden:policy/info@0.2.0", good], &[])), "good");
        assert_eq!(kind(&outline(&["zonewarden:policy/info@0.1.1"], &[])), "version");
        assert_eq!(kind(&outline(&["zonewarden:policy/info"], &[])), "version");
        assert_eq!(kind(&outline(&["run"], &[])), "contract");
        assert_eq!(kind(&outline(&[good], &["zonewarden:policy/types@0.1.0"])), "import");
        assert_eq!(kind(&outline(&["zonewarden:policy/info@0.2.0"], &["wasi:cli/environment@0.2.0"])), "import");
    }

    #[test]
    fn a_version_that_is_not_run_is_named_beside_those_that_are() {
        let error = outline(&["zonewarden:policy/info@0.2.0"], &[]).check().expect_err("it is of another version");
        let text = "the policy is made for `zonewarden:policy@0.2.0`, and this host runs `zonewarden:policy@0.1.0`";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn the_form_is_told_without_a_compiler() {
        let text = |bytes: &[u8]| check_form(bytes, 64).map_or_else(|error| error.to_string(), |()| "good".to_owned());
        let says = |bytes: &[u8], what: &str| assert_eq!(text(bytes), format!("the policy can't be loaded: {what}"));
        says(b"", "it is not WebAssembly");
        says(b"(component)", "it is not WebAssembly");
        says(b"\0asm", "it is cut off within the first eight bytes");
        says(b"\0asm\x0d\0\x01", "it is cut off within the first eight bytes");
        says(b"\0asm\x01\0\0\0", "it is a core module, not a component: encode it with wit-component first");
        says(b"\0asm\x0c\0\x01\0", "it is of a WebAssembly version that is not known: [12, 0, 1, 0]");
        says(&[0; 65], "it has 65 bytes, and a component may have 64");
        assert_eq!(text(b"\0asm\x0d\0\x01\0"), "good");
    }

    #[test]
    fn a_digest_is_sha256_in_hexadecimal() {
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
