//! Loads, limits, calls and swaps Zonewarden policy components.
