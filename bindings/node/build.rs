use std::env;

fn main() {
    // With `dyn-symbols`, Windows with GNU's tools needs no libnode.dll, but napi-build requires one.
    if !(target_has("OS", "windows") && target_has("ENV", "gnu")) {
        napi_build::setup();
    }
}

fn target_has(fact: &str, value: &str) -> bool {
    env::var(format!("CARGO_CFG_TARGET_{fact}")).is_ok_and(|found| found == value)
}
