//! The account of the program under test: a user who may do exactly what `deploy/rbac.yaml` grants.

use anyhow::{Context as _, Result};
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::{Api, Client};
use serde_json::{Value, json};

/// The user's name, in the audit log too.
pub const USER: &str = "zonewarden";
/// Where the program keeps its Lease.
pub const NAMESPACE: &str = "zonewarden";

const MANIFEST: &str = include_str!("../../../deploy/rbac.yaml");

/// Applies the manifest. Its bindings name a service account; here they name the user of the client certificate instead.
///
/// # Errors
/// Where the API server refuses an object.
pub async fn apply(client: &Client) -> Result<()> {
    for document in MANIFEST.split("\n---\n") {
        let mut object: Value = serde_saphyr::from_str(document).context("deploy/rbac.yaml is YAML")?;
        if object.get("subjects").is_some() {
            object["subjects"] = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USER}]);
        }
        apply_object(client, object).await?;
    }
    Ok(())
}

/// Applies one object of any kind.
///
/// # Errors
/// Where the API server refuses it.
pub async fn apply_object(client: &Client, object: Value) -> Result<()> {
    let object: DynamicObject = serde_json::from_value(object).context("an object has a kind and a name")?;
    let types = object.types.as_ref().context("an object has a kind")?;
    let resource = ApiResource::from_gvk(&GroupVersionKind::try_from(types)?);
    let name = object.metadata.name.clone().context("an object has a name")?;
    let api: Api<DynamicObject> = match &object.metadata.namespace {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &resource),
        None => Api::all_with(client.clone(), &resource),
    };
    let what = format!("{} {name}", types.kind);
    api.patch(&name, &PatchParams::apply("test").force(), &Patch::Apply(&object)).await.context(what)?;
    Ok(())
}
