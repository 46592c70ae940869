//! People choose mount points and sources.
#![no_main]

use libfuzzer_sys::fuzz_target;

// The module is private to its crate.
#[allow(dead_code)]
#[path = "../../crates/probe/src/device_number.rs"]
mod device_number;
#[allow(dead_code)]
#[path = "../../crates/probe/src/mountinfo.rs"]
mod parser;

fuzz_target!(|text: &str| {
    for mount in parser::parse(text) {
        let _ = mount.all_options();
    }
});
