//! Holds the house against its own rules; everything is in `tests/`.
