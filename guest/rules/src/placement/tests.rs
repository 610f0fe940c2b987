//! Every row of the tables F1b, F1c and H that speaks of placement, by its id.

mod inject;
mod limits;
mod ours;
mod places;
mod properties;
mod rating;
mod volume_binding;
mod volume_zone;
mod waiting;
mod world;
