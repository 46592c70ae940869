//! Requests to a worker and its replies, each a line of JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_model::protocol::{Reply, Request};

fuzz_target!(|line: &str| {
    if let Ok(request) = serde_json::from_str::<Request>(line) {
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&written).unwrap(), request);
    }
    if let Ok(reply) = serde_json::from_str::<Reply>(line) {
        let _ = serde_json::to_string(&reply).unwrap();
    }
});
