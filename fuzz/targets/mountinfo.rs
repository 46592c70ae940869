//! `/proc/self/mountinfo`, whose mount points and sources people name.
#![no_main]

use libfuzzer_sys::fuzz_target;

// Private in its crate, and nobody's interface.
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
