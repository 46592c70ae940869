//! The rules of this floor, tried on noise that was recorded.

mod recorded_noise;
