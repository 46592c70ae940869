//! How an addon is linked: symbols that the node which loads it has, and code that stays once it is loaded.

use std::env;

fn main() {
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    // napi-build wants libnode.dll for this target. Nothing is linked with it: feature `dyn-symbols`.
    if !(is("CARGO_CFG_TARGET_OS", "windows") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        napi_build::setup();
    }
}
