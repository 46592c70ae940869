//! Requests to a worker and its answers, each a line of JSON.
#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_model::protocol::{LimitRequest, Question, Request, SampleRequest};

fn answer<Q: Question>(line: &str) {
    if let Ok(answer) = serde_json::from_str::<Q::Answer>(line) {
        let _ = serde_json::to_string(&answer).unwrap();
    }
}

fuzz_target!(|line: &str| {
    if let Ok(request) = serde_json::from_str::<Request>(line) {
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<Request>(&written).unwrap(), request);
    }
    answer::<SampleRequest>(line);
    answer::<LimitRequest>(line);
});
