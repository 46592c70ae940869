//! Tests of the rules of this layer on recorded noise.

mod recorded_noise;
