//! Linker settings of an addon: symbols that the loading node provides, and code that stays loaded.

use std::env;

fn main() {
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    // napi-build requires libnode.dll for this target, but feature `dyn-symbols` links nothing with it.
    if !(is("CARGO_CFG_TARGET_OS", "windows") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        napi_build::setup();
    }
}
