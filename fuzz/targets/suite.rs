#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_model::Suite;

fuzz_target!(|text: &str| {
    if let Ok(suite) = Suite::parse(text) {
        let _ = suite.rows(&[], 4096);
    }
});
