#![no_main]

use libfuzzer_sys::fuzz_target;
use writebench_model::{Bytes, Reserve};

fuzz_target!(|text: &str| {
    if let Ok(size) = text.parse::<Bytes>() {
        assert_eq!(size.to_string().parse(), Ok(size));
        let _ = size.approximate();
    }
    if let Ok(reserve) = text.parse::<Reserve>() {
        assert_eq!(reserve.to_string().parse(), Ok(reserve));
        let _ = (reserve.of_bytes(u64::MAX), reserve.of_inodes(u64::MAX));
    }
});
