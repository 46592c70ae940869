#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_model::protocol::{AgentRequest, InsufficientSpace, MeasuredLimits, RankSample};

fuzz_target!(|line: &str| {
    if let Ok(request) = serde_json::from_str::<AgentRequest>(line) {
        let written = serde_json::to_string(&request).unwrap();
        assert_eq!(
            serde_json::from_str::<AgentRequest>(&written).unwrap(),
            request
        );
    }
    if let Ok(answer) = serde_json::from_str::<Result<RankSample, InsufficientSpace>>(line) {
        let _ = serde_json::to_string(&answer).unwrap();
    }
    if let Ok(limits) = serde_json::from_str::<MeasuredLimits>(line) {
        let _ = serde_json::to_string(&limits).unwrap();
    }
});
