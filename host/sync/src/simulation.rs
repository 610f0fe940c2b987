//! The rails under every weather: a simulated cluster, its machines and EC2, with the real policies in the real engine.
//!
//! The simulation knows what really happens, which machine lives and which container runs where. Whatever the host is shown, it
//! must not taint a living machine's Node, delete a pod or an attachment that a living machine's container uses; and it must
//! do what is right, or a host that does nothing would pass.

mod each_rail;
mod ec2;
mod host;
mod machines;
mod rows;
mod runs;
mod through_host;
mod weather;
mod world;
mod writes;
