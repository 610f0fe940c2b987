//! What a Zonewarden policy is written with: a trait with the standard answers and one export macro.
