//! Exported JSON, and its report.
#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_report::{Report, formats};

fuzz_target!(|text: &str| {
    if let Ok(run) = writebench_report::run_of_export(text, &writebench_engine::method_infos()) {
        assert_eq!(run.check_size(), Ok(()), "what is larger is refused");
        let report = Report::of(None, run);
        let _ = formats::terminal::head(None, &report.run, Some(80));
        let _ = formats::terminal::body(&report, Some(80));
    }
});
