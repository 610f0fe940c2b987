//! The policies of the workspace, built from source by this crate's build script.

/// The default policy, as a component.
pub const EBS_COMPONENT: &[u8] = include_bytes!(env!("EBS_COMPONENT"));
/// The default policy, as a core module.
pub const EBS_CORE: &[u8] = include_bytes!(env!("EBS_CORE"));
/// The stricter policy, as a component.
pub const EBS_STRICT_COMPONENT: &[u8] = include_bytes!(env!("EBS_STRICT_COMPONENT"));
/// A policy that proposes the worst, as a component.
pub const WORST_COMPONENT: &[u8] = include_bytes!(env!("WORST_COMPONENT"));
/// A policy that lies about nodes, as a component.
pub const LIAR_COMPONENT: &[u8] = include_bytes!(env!("LIAR_COMPONENT"));
/// A policy that announces no remedy and proposes them, as a component.
pub const MODEST_COMPONENT: &[u8] = include_bytes!(env!("MODEST_COMPONENT"));
/// A policy that breaks down when it is asked about a dead instance, as a component.
pub const FRAGILE_COMPONENT: &[u8] = include_bytes!(env!("FRAGILE_COMPONENT"));
/// Where the default policy's component lies, for programs that take a file.
pub const EBS_COMPONENT_PATH: &str = env!("EBS_COMPONENT");
/// Where the default policy's core module lies, for programs that take a file.
pub const EBS_CORE_PATH: &str = env!("EBS_CORE");
/// Where the stricter policy's component lies, for programs that take a file.
pub const EBS_STRICT_COMPONENT_PATH: &str = env!("EBS_STRICT_COMPONENT");
