//! A JSON document or JSON Lines. `seeds` has one of each.
#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_report::formats::terminal::Detail;
use writebench_report::{Report, formats};

fuzz_target!(|text: &str| {
    if let Ok(exported) = writebench_report::run_of_export(text) {
        assert_eq!(
            exported.run.check_size(),
            Ok(()),
            "what is larger is refused"
        );
        let report = Report::from_run(None, exported.run);
        let lines = formats::jsonl::render(&report);
        let again = writebench_report::run_of_export(&lines);
        assert_eq!(again.err(), None, "each run has lines");
        for detail in [Detail::Usual, Detail::All] {
            let _ = formats::terminal::report(&report, detail, Some(80));
        }
    }
});
