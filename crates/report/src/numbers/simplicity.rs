//! Which of two equally fast cases is the simpler one to write, to run and to keep right.

use writebench_model::CaseRecord;

/// How much a case asks of whoever writes the program: the sum of what its method and the values on its axes ask.
/// The table is a judgement and no measurement; `docs/advise.md` shows it.
pub(crate) fn effort(case: &CaseRecord) -> u32 {
    let method = case.case.method();
    of_method(method) + case.case.axes().iter().map(|(axis, value)| of_axis(method, axis, value)).sum::<u32>()
}

fn of_method(method: &str) -> u32 {
    match method {
        // One call in a loop.
        "write" | "pwrite" | "fwrite" | "read-write" => 0,
        // One call with a structure, or only for some kinds of files.
        "writev" | "pwritev" | "sendfile" | "copy-file-range" => 2,
        // A length beforehand; SIGBUS in place of an error.
        "mmap" | "mmap-write" | "splice" => 4,
        // A ring, completions, and kernels that forbid it.
        _ => 8,
    }
}

fn of_axis(method: &str, axis: &str, value: &str) -> u32 {
    match (axis, value) {
        ("prepare", "create") => 0,
        ("prepare", "set-len") if method == "mmap" => 0,
        ("prepare", "zero-fill") => 3,
        ("prepare", _) => 1,
        // Aligned memory, lengths and offsets; refused by some filesystems.
        ("cache", "direct") => 3,
        ("cache", "dontcache") => 1,
        ("threads", "1") => 0,
        ("threads", _) => 6,
        ("registered", "none") => 0,
        ("registered", _) => 1,
        ("advice", "sequential") => 1,
        // More memory than a buffer should take.
        ("chunk", value) => u32::from(value == "whole" || value.ends_with("GiB") || is_over_a_mebibyte(value)),
        _ => 0,
    }
}

fn is_over_a_mebibyte(chunk: &str) -> bool {
    chunk.parse::<writebench_model::Bytes>().is_ok_and(|bytes| bytes.0 > 1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_testkit::example_case;

    fn of(name: &str) -> u32 {
        effort(&example_case("test", name, Vec::new()))
    }

    #[test]
    fn each_is_simpler_than_the_next() {
        let order = [
            "write,chunk=64KiB,prepare=create",
            "write,chunk=16MiB,prepare=create",
            "write,chunk=16MiB,prepare=fallocate",
            "writev,chunk=64KiB,prepare=fallocate",
            "mmap,chunk=64KiB,prepare=set-len",
            "pwrite,chunk=64KiB,prepare=create,threads=4",
            "uring,chunk=64KiB,prepare=create",
            "uring,chunk=64KiB,prepare=create,cache=direct,registered=buffers",
        ];
        assert!(order.is_sorted_by(|a, b| of(a) < of(b)), "{:?}", order.map(of));
    }
}
