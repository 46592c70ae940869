#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_report::formats::terminal::Detail;
use writebench_report::{Report, formats};

fuzz_target!(|text: &str| {
    if let Ok(run) = writebench_report::run_of_export(text) {
        assert_eq!(run.check_size(), Ok(()), "what is larger is refused");
        let report = Report::from_run(None, run);
        for detail in [Detail::Usual, Detail::All] {
            let _ = formats::terminal::report(&report, detail, Some(80));
        }
    }
});
