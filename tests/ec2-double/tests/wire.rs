//! The double over the wire: raw HTTP in, XML out, held against answers written by hand.

mod wire {
    mod client;
    mod documents;
    mod faults;
    mod life;
    mod questions;
    mod reads;
    mod rows;
}
