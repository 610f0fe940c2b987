//! Zonewarden's default policy for EBS volumes.
