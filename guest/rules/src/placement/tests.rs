//! Every row of the tables F1b, F1c and H that speaks of placement, by its id.

mod groups;
mod inject;
mod limits;
mod nodes;
mod ours;
mod places;
mod properties;
mod rating;
mod volume_binding;
mod volume_zone;
mod volumes;
mod waiting;
mod world;
