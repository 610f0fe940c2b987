//! What each part of the control plane is started with. Everything that decides how fast a recovery is stays at its default.

use std::path::Path;
use std::process::Command;

use super::certificates::KeyFiles;
use super::{Keys, Ports};

/// The controllers that pods with volumes need, and those that bear on a recovery. The others would only add noise.
const CONTROLLERS: &[&str] = &[
    "deployment-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "persistentvolume-attach-detach-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "statefulset-controller",
    "taint-eviction-controller",
];

/// Who did what, in one line each. Reads of the control plane's own parts and of the doubles are left out; what the program
/// under test asks is told whole, with what it wrote.
pub(super) const AUDIT_POLICY: &str = r"
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  users: [zonewarden]
- level: None
  verbs: [get, list, watch]
- level: None
  resources:
  - group: ''
    resources: [events]
  - group: events.k8s.io
  - group: coordination.k8s.io
  - group: authorization.k8s.io
- level: Metadata
";

pub(super) fn etcd(program: &Path, folder: &Path, ports: &Ports) -> Command {
    let clients = format!("http://127.0.0.1:{}", ports.etcd);
    let peers = format!("http://127.0.0.1:{}", ports.etcd_peers);
    let mut command = Command::new(program);
    command.arg(flag("data-dir", folder.join("etcd").display()));
    command.args(["--unsafe-no-fsync".to_owned(), "--name=test".to_owned()]);
    command.args([flag("listen-client-urls", &clients), flag("advertise-client-urls", &clients)]);
    command.args([flag("listen-peer-urls", &peers), flag("initial-advertise-peer-urls", &peers)]);
    command.arg(flag("initial-cluster", format!("test={peers}")));
    command
}

pub(super) fn api_server(program: &Path, folder: &Path, ports: &Ports, keys: &Keys) -> Command {
    let mut command = Command::new(program);
    command.args([
        flag("etcd-servers", format!("http://127.0.0.1:{}", ports.etcd)),
        flag("secure-port", ports.api_server),
        "--bind-address=127.0.0.1".to_owned(),
        // A loopback address is refused as an endpoint of the Service `kubernetes`.
        "--endpoint-reconciler-type=none".to_owned(),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        flag("tls-cert-file", keys.serving.certificate.display()),
        flag("tls-private-key-file", keys.serving.key.display()),
        flag("client-ca-file", keys.clients_ca.display()),
        flag("service-account-issuer", "https://kubernetes.default.svc"),
        flag("service-account-key-file", keys.service_accounts.certificate.display()),
        flag("service-account-signing-key-file", keys.service_accounts.key.display()),
        // Without these the other programs complain and exit.
        flag("requestheader-client-ca-file", keys.front_proxy_ca.display()),
        "--requestheader-allowed-names=front-proxy-client".to_owned(),
        "--requestheader-username-headers=X-Remote-User".to_owned(),
        "--requestheader-group-headers=X-Remote-Group".to_owned(),
        "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
    ]);
    front_proxy(&mut command, &keys.front_proxy);
    command.arg(flag("audit-policy-file", folder.join("audit-policy.yaml").display()));
    command.arg(flag("audit-log-path", folder.join("audit.log").display()));
    command
}

fn front_proxy(command: &mut Command, files: &KeyFiles) {
    command.arg(flag("proxy-client-cert-file", files.certificate.display()));
    command.arg(flag("proxy-client-key-file", files.key.display()));
}

pub(super) fn controller_manager(program: &Path, kubeconfig: &Path, keys: &Keys) -> Command {
    let mut command = Command::new(program);
    command.args([
        flag("kubeconfig", kubeconfig.display()),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        "--use-service-account-credentials=true".to_owned(),
        flag("service-account-private-key-file", keys.service_accounts.key.display()),
        flag("controllers", CONTROLLERS.join(",")),
        "--v=2".to_owned(),
    ]);
    command
}

pub(super) fn scheduler(program: &Path, kubeconfig: &Path) -> Command {
    let mut command = Command::new(program);
    command.args([
        flag("kubeconfig", kubeconfig.display()),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
    ]);
    command
}

/// The pace to the API server and the number of workers are those of the EBS CSI driver's chart.
pub(super) fn attacher(program: &Path, kubeconfig: &Path, socket: &Path) -> Command {
    let mut command = Command::new(program);
    command.args([
        flag("kubeconfig", kubeconfig.display()),
        flag("csi-address", socket.display()),
        "--timeout=6m".to_owned(),
        "--worker-threads=100".to_owned(),
        "--kube-api-qps=20".to_owned(),
        "--kube-api-burst=100".to_owned(),
        "--v=4".to_owned(),
    ]);
    command
}

fn flag(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}
