//! Suites in TOML, and the rows that they come to.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::Suite;

fuzz_target!(|text: &str| {
    if let Ok(suite) = Suite::parse(text) {
        let _ = suite.rows(&engine::method_infos(), &[], 4096);
    }
});
