//! A CSI controller over the EC2 double, for the real csi-attacher to talk to.
//!
//! It attaches and detaches as the EBS CSI driver's controller does: the same order of calls, the same waits, the same codes
//! for the same errors. Everything else that a driver may offer is unimplemented, as ListVolumes is there.
//!
//! ```text
//! csi-attacher -> unix socket -> Identity, Controller (here) -> disks (attach, detach, wait) -> EC2 double
//! ```

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use zonewarden_ec2_double::Double;

use self::disks::Disks;
use self::proto::controller_server::{Controller as ControllerService, ControllerServer};
use self::proto::controller_service_capability::{Rpc, Type as ControllerCapability, rpc};
use self::proto::identity_server::{Identity, IdentityServer};
use self::proto::plugin_capability::{Service, Type as PluginCapabilityType, service};
use self::proto::{
    ControllerGetCapabilitiesRequest, ControllerGetCapabilitiesResponse, ControllerPublishVolumeRequest,
    ControllerPublishVolumeResponse, ControllerServiceCapability, ControllerUnpublishVolumeRequest,
    ControllerUnpublishVolumeResponse, GetPluginCapabilitiesRequest, GetPluginCapabilitiesResponse,
    GetPluginInfoRequest, GetPluginInfoResponse, PluginCapability, ProbeRequest, ProbeResponse,
};

mod devices;
mod disks;

#[allow(
    dead_code,
    missing_docs,
    rust_2018_idioms,
    unreachable_pub,
    clippy::all,
    clippy::allow_attributes_without_reason,
    clippy::match_wildcard_for_single_variants,
    clippy::needless_pass_by_value,
    clippy::use_self,
    reason = "generated"
)]
mod proto {
    tonic::include_proto!("csi.v1");
}

/// The name of the EBS CSI driver.
pub const DRIVER_NAME: &str = "ebs.csi.aws.com";

/// The wait before the second look at a volume that is on its way.
const FIRST_WAIT: Duration = Duration::from_secs(1);

/// Where the node side reads which device a volume became.
const DEVICE_PATH: &str = "devicePath";

/// A CSI controller at work. It stops, and its socket goes, when this is dropped.
#[derive(Debug)]
pub struct Controller {
    task: JoinHandle<()>,
    socket: PathBuf,
}

impl Controller {
    /// Serves under the name of the EBS CSI driver.
    ///
    /// # Errors
    /// Where the socket cannot be made.
    pub async fn start(ec2: Double, socket: &Path) -> io::Result<Self> {
        serve(socket, ec2, DRIVER_NAME).await
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        self.task.abort();
        if let Err(error) = std::fs::remove_file(&self.socket) {
            tracing::debug!(%error, socket = %self.socket.display(), "the socket stays");
        }
    }
}

/// Serves a CSI controller on a Unix socket.
///
/// # Errors
/// Where the socket cannot be made.
pub async fn serve(socket: &Path, ec2: Double, driver_name: &str) -> io::Result<Controller> {
    let listener = UnixListener::bind(socket)?;
    let plugin = Plugin { name: driver_name.to_owned(), disks: Disks::new(ec2, FIRST_WAIT), in_flight: Arc::default() };
    let serving = Server::builder()
        .add_service(IdentityServer::new(plugin.clone()))
        .add_service(ControllerServer::new(plugin))
        .serve_with_incoming(UnixListenerStream::new(listener));
    let task = tokio::spawn(async move {
        if let Err(error) = serving.await {
            tracing::error!(%error, "the CSI controller stopped");
        }
    });
    Ok(Controller { task, socket: socket.to_owned() })
}

/// Both services.
#[derive(Clone, Debug)]
struct Plugin {
    name: String,
    disks: Disks,
    /// The pairs of volume and node that are being worked on.
    in_flight: Arc<Mutex<BTreeSet<(String, String)>>>,
}

/// Holds a pair until the work on it ends, also where the caller gave up.
struct InFlight {
    pairs: Arc<Mutex<BTreeSet<(String, String)>>>,
    pair: (String, String),
}

impl Drop for InFlight {
    fn drop(&mut self) {
        locked(&self.pairs).remove(&self.pair);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Plugin {
    fn begin(&self, volume: &str, node: &str) -> Result<InFlight, Status> {
        let pair = (volume.to_owned(), node.to_owned());
        if !locked(&self.in_flight).insert(pair.clone()) {
            let text = format!("An operation with the given volume={volume:?} is already in progress");
            return Err(Status::aborted(text));
        }
        Ok(InFlight { pairs: Arc::clone(&self.in_flight), pair })
    }
}

#[tonic::async_trait]
impl Identity for Plugin {
    async fn get_plugin_info(
        &self,
        _: Request<GetPluginInfoRequest>,
    ) -> Result<Response<GetPluginInfoResponse>, Status> {
        Ok(Response::new(GetPluginInfoResponse {
            name: self.name.clone(),
            vendor_version: env!("CARGO_PKG_VERSION").to_owned(),
            manifest: HashMap::new(),
        }))
    }

    async fn get_plugin_capabilities(
        &self,
        _: Request<GetPluginCapabilitiesRequest>,
    ) -> Result<Response<GetPluginCapabilitiesResponse>, Status> {
        let offered = [service::Type::ControllerService, service::Type::VolumeAccessibilityConstraints];
        let capability = |offered: service::Type| PluginCapability {
            r#type: Some(PluginCapabilityType::Service(Service { r#type: offered.into() })),
        };
        Ok(Response::new(GetPluginCapabilitiesResponse { capabilities: offered.map(capability).to_vec() }))
    }

    async fn probe(&self, _: Request<ProbeRequest>) -> Result<Response<ProbeResponse>, Status> {
        Ok(Response::new(ProbeResponse { ready: Some(true) }))
    }
}

#[tonic::async_trait]
impl ControllerService for Plugin {
    async fn controller_get_capabilities(
        &self,
        _: Request<ControllerGetCapabilitiesRequest>,
    ) -> Result<Response<ControllerGetCapabilitiesResponse>, Status> {
        let publish = Rpc { r#type: rpc::Type::PublishUnpublishVolume.into() };
        let capability = ControllerServiceCapability { r#type: Some(ControllerCapability::Rpc(publish)) };
        Ok(Response::new(ControllerGetCapabilitiesResponse { capabilities: vec![capability] }))
    }

    async fn controller_publish_volume(
        &self,
        request: Request<ControllerPublishVolumeRequest>,
    ) -> Result<Response<ControllerPublishVolumeResponse>, Status> {
        let request = request.into_inner();
        let (volume, node) = (&request.volume_id, &request.node_id);
        given(volume, "Volume ID")?;
        given(node, "Node ID")?;
        if request.volume_capability.is_none() {
            return Err(Status::invalid_argument("Volume capability not provided"));
        }
        let _in_flight = self.begin(volume, node)?;
        let device = self.disks.attach(volume, node).await.map_err(|failure| match failure {
            disks::Failure::NoInstance => Status::not_found(format!("Volume {volume:?} not found")),
            other => Status::internal(format!("Could not attach volume {volume:?} to node {node:?}: {other}")),
        })?;
        tracing::info!(volume, node, device, "attached");
        let publish_context = HashMap::from([(DEVICE_PATH.to_owned(), device)]);
        Ok(Response::new(ControllerPublishVolumeResponse { publish_context }))
    }

    async fn controller_unpublish_volume(
        &self,
        request: Request<ControllerUnpublishVolumeRequest>,
    ) -> Result<Response<ControllerUnpublishVolumeResponse>, Status> {
        let request = request.into_inner();
        let (volume, node) = (&request.volume_id, &request.node_id);
        given(volume, "Volume ID")?;
        given(node, "Node ID")?;
        let _in_flight = self.begin(volume, node)?;
        self.disks.detach(volume, node).await.map_err(|failure| {
            Status::internal(format!("Could not detach volume {volume:?} from node {node:?}: {failure}"))
        })?;
        tracing::info!(volume, node, "detached");
        Ok(Response::new(ControllerUnpublishVolumeResponse {}))
    }
}

fn given(text: &str, what: &str) -> Result<(), Status> {
    if text.is_empty() {
        return Err(Status::invalid_argument(format!("{what} not provided")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
