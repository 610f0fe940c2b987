//! Kubernetes objects as projected records, from files.
