//! `fuse:KIND` does what the filesystem below does.

use testkit::Trials;

pub fn add(_: &mut Trials) {}
