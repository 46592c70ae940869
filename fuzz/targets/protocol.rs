#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_model::protocol::{LimitRequest, Request, SampleRequest, WorkerRequest};

fn read_response<R: Request>(line: &str) {
    if let Ok(response) = serde_json::from_str::<R::Response>(line) {
        let _ = serde_json::to_string(&response).unwrap();
    }
}

fuzz_target!(|line: &str| {
    if let Ok(request) = serde_json::from_str::<WorkerRequest>(line) {
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<WorkerRequest>(&written).unwrap(), request);
    }
    read_response::<SampleRequest>(line);
    read_response::<LimitRequest>(line);
});
