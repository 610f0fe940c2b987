//! The zonewarden program.
