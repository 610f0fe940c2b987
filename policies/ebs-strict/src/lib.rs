//! A Zonewarden policy that is stricter than the default in three rules.
