use std::env;

fn main() {
    let is = |key: &str, value: &str| env::var(key).is_ok_and(|found| found == value);
    // With `dyn-symbols`, this target needs no libnode.dll, but napi-build requires one.
    if !(is("CARGO_CFG_TARGET_OS", "windows") && is("CARGO_CFG_TARGET_ENV", "gnu")) {
        napi_build::setup();
    }
}
