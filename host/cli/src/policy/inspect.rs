//! `zonewarden policy inspect`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use schemars::JsonSchema;
use serde::Serialize;
use zonewarden_contract::info::PolicyInfo;

use crate::args::{DeciderArgs, Output};
use crate::output::{self, print, table};
use crate::{config, decider};

/// What a component is, and what it says of itself.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Inspected {
    /// The SHA-256 of the file.
    digest: String,
    /// The file's size in bytes.
    bytes: usize,
    /// The versions of the contract that it exports.
    contract: Vec<String>,
    /// What it imports. A policy imports nothing.
    imports: Vec<String>,
    /// What it exports.
    exports: Vec<String>,
    /// Why the host refuses it, where it does.
    refused: Option<String>,
    /// The policy's name.
    name: Option<String>,
    /// The policy's own version.
    version: Option<String>,
    /// The CSI drivers whose volumes it handles.
    csi_drivers: Vec<String>,
    /// The in-tree plugins whose volumes it handles.
    in_tree_plugins: Vec<String>,
    /// The node label keys that it reads.
    node_label_keys: Vec<String>,
    /// The annotation keys that it reads.
    annotation_keys: Vec<String>,
    /// The attributes of volumes, as EC2 tells them, that it reads.
    volume_attribute_keys: Vec<String>,
    /// The remedies that it may propose.
    remedies: Vec<String>,
    /// The JSON Schema of its settings.
    settings_schema: Option<serde_json::Value>,
}

/// Prints what the component is.
pub(super) fn run(file: &Path, args: &DeciderArgs, output: Output) -> Result<ExitCode> {
    let bytes = std::fs::read(file).with_context(|| format!("{} can't be read", file.display()))?;
    let engine = decider::engine(args)?;
    let inspection = engine.inspect(&bytes).with_context(|| file.display().to_string())?;
    let settings = config::settings(args.settings.as_deref())?;
    let described = engine.load(&bytes).and_then(|policy| policy.with_settings(settings));
    let (info, refused) = match &described {
        Ok(policy) => (Some(policy.info()), None),
        Err(error) => (None, Some(output::chain(error))),
    };
    let inspected = inspected(inspection, info, refused);
    match output {
        Output::Json => print(&format!("{}\n", serde_json::to_string_pretty(&inspected)?)),
        Output::Yaml => print(&output::yaml(&inspected)?),
        Output::Table | Output::Wide => print(&table(&rows(&inspected, output))?),
    }
    Ok(ExitCode::from(u8::from(inspected.refused.is_some())))
}

fn inspected(
    inspection: zonewarden_engine::Inspection,
    info: Option<&PolicyInfo>,
    refused: Option<String>,
) -> Inspected {
    let listed = |list: fn(&PolicyInfo) -> &Vec<String>| info.map(|info| list(info).clone()).unwrap_or_default();
    Inspected {
        digest: inspection.digest,
        bytes: inspection.size,
        contract: inspection.contract_versions,
        imports: inspection.imports,
        exports: inspection.exports,
        refused,
        name: info.map(|info| info.name.clone()),
        version: info.map(|info| info.version.clone()),
        csi_drivers: listed(|info| &info.csi_drivers),
        in_tree_plugins: listed(|info| &info.in_tree_plugins),
        node_label_keys: listed(|info| &info.node_label_keys),
        annotation_keys: listed(|info| &info.annotation_keys),
        volume_attribute_keys: listed(|info| &info.volume_attribute_keys),
        remedies: info.into_iter().flat_map(|info| &info.remedies).map(output::kebab).collect(),
        settings_schema: info.and_then(|info| serde_json::from_str(&info.settings_schema).ok()),
    }
}

fn rows(inspected: &Inspected, output: Output) -> Vec<Vec<String>> {
    let none = || "(none)".to_owned();
    let list = |list: &[String]| if list.is_empty() { none() } else { list.join(", ") };
    let text = |text: &Option<String>| text.clone().unwrap_or_else(none);
    let mut rows = vec![
        vec!["Name".to_owned(), text(&inspected.name)],
        vec!["Version".to_owned(), text(&inspected.version)],
        vec!["Contract".to_owned(), list(&inspected.contract)],
        vec!["Imports".to_owned(), list(&inspected.imports)],
        vec!["Exports".to_owned(), list(&inspected.exports)],
        vec!["CSI drivers".to_owned(), list(&inspected.csi_drivers)],
        vec!["In-tree plugins".to_owned(), list(&inspected.in_tree_plugins)],
        vec!["Node labels read".to_owned(), list(&inspected.node_label_keys)],
        vec!["Annotations read".to_owned(), list(&inspected.annotation_keys)],
        vec!["Volume attributes read".to_owned(), list(&inspected.volume_attribute_keys)],
        vec!["Remedies".to_owned(), list(&inspected.remedies)],
        vec!["Size".to_owned(), format!("{} bytes", inspected.bytes)],
        vec!["Digest".to_owned(), format!("sha256:{}", inspected.digest)],
    ];
    if let Some(refused) = &inspected.refused {
        rows.push(vec!["Refused".to_owned(), refused.clone()]);
    }
    if let Some(properties) = inspected.settings_schema.as_ref().and_then(|schema| schema["properties"].as_object()) {
        for (key, property) in properties {
            let about = property["description"].as_str().unwrap_or_default();
            let default = property["default"].as_str().unwrap_or_default();
            let row = if output == Output::Wide {
                format!("{key} = {default}: {about}")
            } else {
                format!("{key} = {default}")
            };
            rows.push(vec!["Setting".to_owned(), row]);
        }
    }
    rows
}
