//! Writes policies by hand, in WebAssembly's text format, so that they can be as hostile as no compiler would make them.
//!
//! A [`Guest`] starts out harmless: it exports all of the contract, `json.evaluate` answers with its question, and every other
//! function answers with zeros, which reads as success with nothing in it. A test then replaces the one body that it is about.

use std::collections::BTreeMap;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{
    Function, LiftLowerAbi, ManglingAndAbi, Resolve, WasmExport, WasmExportKind, WorldId, WorldItem, WorldKey,
};

/// The contract, file by file.
const CONTRACT: &[&str] = &[
    include_str!("../../../wit/types.wit"),
    include_str!("../../../wit/info.wit"),
    include_str!("../../../wit/identity.wit"),
    include_str!("../../../wit/labelling.wit"),
    include_str!("../../../wit/placement.wit"),
    include_str!("../../../wit/attachment.wit"),
    include_str!("../../../wit/admission.wit"),
    include_str!("../../../wit/json.wit"),
    include_str!("../../../wit/world.wit"),
];

/// The line that each of these files starts with.
const PACKAGE: &str = "package zonewarden:policy@0.1.0;\n";

/// Where a body may put its answer. These bytes are zero when a call starts.
pub const ANSWER: u32 = 1024;

/// Answers with zeros: a success with nothing in it.
const NOTHING: &str = "(i32.const 1024)";

/// Answers a text with itself, as a success.
const ECHO: &str = "
    (i32.store (i32.const 1028) (local.get $p0))
    (i32.store (i32.const 1032) (local.get $p1))
    (i32.const 1024)";

/// Takes the next bytes behind what was taken, and never frees any.
const BUMP: &str = "
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $free) (i32.const 7)) (i32.const -8)))
    (global.set $free (i32.add (local.get $at) (local.get $p3)))
    (local.get $at)";

/// Never ends.
pub const LOOP: &str = "(loop $again (br $again)) (unreachable)";

/// A body of `placement.filter`: one reason of empty texts, and one verdict, which names the reasons at these positions.
pub fn verdict(positions: &[u32]) -> String {
    let mut body = format!(
        "(i32.store (i32.const 1028) (i32.const 2048))
        (i32.store (i32.const 1032) (i32.const 1))
        (i32.store (i32.const 1036) (i32.const 3072))
        (i32.store (i32.const 1040) (i32.const 1))
        (i32.store (i32.const 3076) (i32.const 4096))
        (i32.store (i32.const 3080) (i32.const {}))",
        positions.len()
    );
    for (at, position) in (4096..).step_by(4).zip(positions) {
        body.push_str(&format!("(i32.store (i32.const {at}) (i32.const {position}))"));
    }
    body + NOTHING
}

/// The mangling of names that every toolchain understands.
const MANGLING: ManglingAndAbi = ManglingAndAbi::Legacy(LiftLowerAbi::Sync);

/// A policy that is written by hand.
#[derive(Debug, Clone)]
pub struct Guest {
    contract: String,
    functions: BTreeMap<String, String>,
    clean_ups: BTreeMap<String, String>,
    allocator: String,
    items: String,
    pages: u32,
}

impl Guest {
    /// A harmless one.
    pub fn harmless() -> Self {
        let mut contract = PACKAGE.to_owned();
        for file in CONTRACT {
            contract.push_str(file.strip_prefix(PACKAGE).expect("every file of the contract names the package"));
        }
        Self {
            contract,
            functions: BTreeMap::from([("json.evaluate".to_owned(), ECHO.to_owned())]),
            clean_ups: BTreeMap::new(),
            allocator: BUMP.to_owned(),
            items: "(global $free (mut i32) (i32.const 8192))".to_owned(),
            pages: 16,
        }
    }

    /// Replaces text of the contract that it is made for.
    pub fn contract(mut self, old: &str, new: &str) -> Self {
        assert!(self.contract.contains(old), "the contract does not say {old}");
        self.contract = self.contract.replace(old, new);
        self
    }

    /// Replaces the body of a function (`placement.filter`). Its flat parameters are `$p0`, `$p1` and so on.
    pub fn function(mut self, name: &str, body: &str) -> Self {
        self.functions.insert(name.to_owned(), body.to_owned());
        self
    }

    /// Gives a function a clean-up, which runs after its answer was read.
    pub fn clean_up(mut self, name: &str, body: &str) -> Self {
        self.clean_ups.insert(name.to_owned(), body.to_owned());
        self
    }

    /// Replaces the body of the allocator, `cabi_realloc`, for every wish but the one for nothing, which an empty list makes.
    pub fn allocator(mut self, body: &str) -> Self {
        self.allocator = format!("(if (i32.eqz (local.get $p3)) (then (return (i32.const 8)))) {body}");
        self
    }

    /// Gives it a start function, which runs when it is instantiated.
    pub fn start(self, body: &str) -> Self {
        self.item(&format!("(func $start {body}) (start $start)"))
    }

    /// Adds anything that a module can hold.
    pub fn item(mut self, item: &str) -> Self {
        self.items.push_str(item);
        self
    }

    /// The pages of 64 KiB that its memory starts with.
    pub fn pages(mut self, pages: u32) -> Self {
        self.pages = pages;
        self
    }

    /// The core module.
    pub fn module(&self) -> Vec<u8> {
        let (resolve, world) = self.resolve();
        let text = self.text(&resolve, world);
        let mut module = wat::parse_str(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8, false)
            .expect("the contract can be written into the module");
        module
    }

    /// The component.
    pub fn component(&self) -> Vec<u8> {
        ComponentEncoder::default()
            .validate(true)
            .module(&self.module())
            .and_then(|encoder| encoder.encode())
            .unwrap_or_else(|error| panic!("it can't be encoded: {error:?}"))
    }

    fn resolve(&self) -> (Resolve, WorldId) {
        let mut resolve = Resolve::default();
        let package = resolve
            .push_str("policy.wit", &self.contract)
            .unwrap_or_else(|error| panic!("the contract can't be read: {error:?}"));
        let world = resolve.select_world(&[package], None).expect("the contract has one world");
        (resolve, world)
    }

    fn text(&self, resolve: &Resolve, world: WorldId) -> String {
        let mut text = format!("(module (memory (export \"memory\") {})\n{}\n", self.pages, self.items);
        let allocator = "(param $p0 i32) (param $p1 i32) (param $p2 i32) (param $p3 i32) (result i32)";
        text.push_str(&format!("(func (export \"cabi_realloc\") {allocator} {})\n", self.allocator));
        for (key, item) in &resolve.worlds[world].exports {
            let WorldItem::Interface { id, .. } = item else { continue };
            let interface = resolve.interfaces[*id].name.as_deref().unwrap_or_default();
            for function in resolve.interfaces[*id].functions.values() {
                text.push_str(&self.function_text(resolve, key, function, &format!("{interface}.{}", function.name)));
            }
        }
        text + ")"
    }

    fn function_text(&self, resolve: &Resolve, key: &WorldKey, function: &Function, name: &str) -> String {
        let export =
            |kind| resolve.wasm_export_name(MANGLING, WasmExport::Func { interface: Some(key), func: function, kind });
        let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
        let mut text = format!("(func (export \"{}\")", export(WasmExportKind::Normal));
        for (index, param) in signature.params.iter().enumerate() {
            text.push_str(&format!(" (param $p{index} {})", flat(*param)));
        }
        assert_eq!(signature.results.len(), 1, "{name} answers by a pointer");
        let body = self.functions.get(name).map_or(NOTHING, String::as_str);
        text.push_str(&format!(" (result i32) {body})\n"));
        if let Some(body) = self.clean_ups.get(name) {
            text.push_str(&format!("(func (export \"{}\") (param i32) {body})\n", export(WasmExportKind::PostReturn)));
        }
        text
    }
}

/// The core type behind a flat parameter.
fn flat(ty: WasmType) -> &'static str {
    match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
    }
}
