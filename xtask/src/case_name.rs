//! Names of cases.

use writebench_model::{Axes, Bytes, Prepare};

/// The case with files of that size, as writebench names it: a size other than the default follows the method.
pub(crate) fn of_size(case: &str, size: Bytes) -> String {
    let (method, axes) = case.split_at(case.find(',').unwrap_or(case.len()));
    let is_usual = size.0 == Axes::defaults(Prepare::Create).size_bytes;
    if is_usual { case.to_owned() } else { format!("{method},size={size}{axes}") }
}

/// The case without its size, for a table whose head tells it.
pub(crate) fn without_size(case: &str) -> String {
    let parts = case.split(',').filter(|part| !part.starts_with("size="));
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_in_the_name_where_writebench_puts_it() {
        assert_eq!(of_size("write,chunk=64KiB", Bytes(1 << 20)), "write,size=1MiB,chunk=64KiB");
        assert_eq!(of_size("write", Bytes(5 << 20)), "write,size=5MiB");
        assert_eq!(of_size("write", Bytes(1 << 30)), "write");
        assert_eq!(without_size("write,size=1MiB,chunk=64KiB"), "write,chunk=64KiB");
    }
}
