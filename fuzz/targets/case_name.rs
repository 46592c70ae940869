//! A written name parses to the same case.
#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_model::Case;

fuzz_target!(|text: &str| {
    if let Ok(case) = Case::parse(text) {
        assert_eq!(Case::parse(&case.to_string()).as_ref(), Ok(&case));
        let _ = (
            case.workload(),
            case.bytes_written(),
            case.source_bytes(),
            case.file_count(),
        );
    }
});
